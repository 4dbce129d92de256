//! Facet values of every document in an index, and their counts among the hits of a query. A count
//! ignores the choice of its own facet: it says how many hits another choice would leave.

use std::collections::BTreeSet;

use super::{Facet, FacetChoices};
use crate::document::{DatasetShape, SearchDocument};
use crate::page::{FacetCounts, FacetValue};

/// Values that are listed for one facet at most, the chosen one apart.
const MAX_LISTED_VALUES: usize = 50;

/// Facet values of documents, which are numbered from 0.
pub(crate) struct FacetTable([FacetColumn; Facet::ALL.len()]);

/// Values of one facet.
struct FacetColumn {
    /// Distinct values in byte order.
    values: Vec<String>,
    /// Positions in `values` of all documents, one document after the other.
    positions: Vec<u32>,
    /// Start of each document in `positions`, and the end of the last one.
    starts: Vec<u32>,
    /// Number of documents of each value.
    totals: Vec<usize>,
}

/// Hits that keep to every choice, and counts of all facets.
pub(crate) struct FacetedHits<T> {
    pub(crate) hits: Vec<T>,
    pub(crate) facets: Vec<FacetCounts>,
}

impl FacetTable {
    /// Creates the table of `documents`.
    pub(crate) fn new(documents: &[SearchDocument]) -> Self {
        Self(Facet::ALL.map(|facet| FacetColumn::new(facet, documents)))
    }

    /// Drops the `hits` that do not keep to `choices`, and counts values. `document` gives the
    /// number of a hit's document.
    pub(crate) fn narrow<T>(
        &self,
        hits: Vec<T>,
        choices: &FacetChoices,
        document: impl Fn(&T) -> u32,
    ) -> FacetedHits<T> {
        // None: nothing chosen. Some(None): a value that no document has.
        let chosen: Vec<Option<Option<u32>>> = Facet::ALL
            .into_iter()
            .map(|facet| choices.get(facet).map(|value| self.0[facet as usize].position(value)))
            .collect();
        if chosen.iter().all(Option::is_none) && hits.len() == self.0[0].documents() {
            // Every document is a hit.
            let counts = self.0.each_ref().map(|column| column.totals.clone());
            return FacetedHits { hits, facets: self.list(&counts, choices) };
        }
        let mut counts = self.0.each_ref().map(|column| vec![0_usize; column.values.len()]);
        let mut kept = Vec::with_capacity(hits.len());
        for hit in hits {
            let number = document(&hit);
            let missed = |index: &usize| {
                chosen[*index].is_some_and(|choice| {
                    choice.is_none_or(|value| !self.0[*index].positions_of(number).contains(&value))
                })
            };
            let mut misses = (0..Facet::ALL.len()).filter(missed);
            // A hit that misses one choice still counts for the facet of that choice.
            let counted = match (misses.next(), misses.next()) {
                (None, _) => 0..Facet::ALL.len(),
                (Some(one), None) => one..one + 1,
                _ => continue,
            };
            let keeps_to_all = counted.len() > 1;
            for index in counted {
                for value in self.0[index].positions_of(number) {
                    counts[index][*value as usize] += 1;
                }
            }
            if keeps_to_all {
                kept.push(hit);
            }
        }
        FacetedHits { hits: kept, facets: self.list(&counts, choices) }
    }

    /// Returns the values of every facet that occur, from the counts of each.
    fn list(
        &self,
        counts: &[Vec<usize>; Facet::ALL.len()],
        choices: &FacetChoices,
    ) -> Vec<FacetCounts> {
        Facet::ALL
            .into_iter()
            .map(|facet| {
                self.0[facet as usize].list(facet, &counts[facet as usize], choices.get(facet))
            })
            .collect()
    }

    /// Returns every value of `facet` with the number of its documents, by number, then value.
    pub(crate) fn all_values(&self, facet: Facet) -> Vec<FacetValue> {
        let column = &self.0[facet as usize];
        column.ranked(&column.totals, None)
    }
}

impl FacetColumn {
    fn new(facet: Facet, documents: &[SearchDocument]) -> Self {
        let distinct: BTreeSet<&str> =
            documents.iter().flat_map(|document| values_of(facet, document)).collect();
        let mut column = Self {
            values: distinct.into_iter().map(str::to_owned).collect(),
            positions: Vec::new(),
            starts: vec![0],
            totals: Vec::new(),
        };
        for document in documents {
            let own: BTreeSet<u32> = values_of(facet, document)
                .into_iter()
                .filter_map(|value| column.position(value))
                .collect();
            column.positions.extend(own);
            column.starts.push(u32::try_from(column.positions.len()).unwrap_or(u32::MAX));
        }
        column.totals = vec![0; column.values.len()];
        for position in &column.positions {
            column.totals[*position as usize] += 1;
        }
        column
    }

    /// Returns the number of documents.
    fn documents(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the values of a document.
    fn positions_of(&self, document: u32) -> &[u32] {
        let at = document as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.positions[*start as usize..*end as usize],
            _ => &[],
        }
    }

    fn position(&self, value: &str) -> Option<u32> {
        let position = self.values.binary_search_by(|known| known.as_str().cmp(value)).ok()?;
        u32::try_from(position).ok()
    }

    fn list(&self, facet: Facet, counts: &[usize], chosen: Option<&str>) -> FacetCounts {
        let ranked = self.ranked(counts, chosen);
        let found = ranked.len();
        let values: Vec<FacetValue> = ranked
            .into_iter()
            .enumerate()
            .filter(|(rank, value)| *rank < MAX_LISTED_VALUES || value.chosen)
            .map(|(_, value)| value)
            .collect();
        FacetCounts { facet, values_left_out: found - values.len(), values }
    }

    /// Returns the values that occur, and the chosen one even where it does not.
    fn ranked(&self, counts: &[usize], chosen: Option<&str>) -> Vec<FacetValue> {
        let value = |(value, count): (&String, &usize)| FacetValue {
            chosen: chosen == Some(value),
            value: value.clone(),
            count: *count,
        };
        let mut ranked: Vec<FacetValue> = self
            .values
            .iter()
            .zip(counts)
            .map(value)
            .filter(|value| value.count > 0 || value.chosen)
            .collect();
        if let Some(chosen) = chosen.filter(|chosen| self.position(chosen).is_none()) {
            ranked.push(FacetValue { value: chosen.to_owned(), count: 0, chosen: true });
        }
        ranked.sort_by(|left, right| {
            right.count.cmp(&left.count).then_with(|| left.value.cmp(&right.value))
        });
        ranked
    }
}

/// Values of a document; empty texts are none.
fn values_of(facet: Facet, document: &SearchDocument) -> Vec<&str> {
    let mut values: Vec<&str> = match facet {
        Facet::Topic => document.keywords.iter().map(String::as_str).collect(),
        Facet::Agency => vec![&document.agency],
        Facet::Licence => vec![&document.licence],
        Facet::Shape => document.shapes.iter().copied().map(DatasetShape::as_str).collect(),
        Facet::Cadence => document.cadence.as_deref().into_iter().collect(),
    };
    values.retain(|value| !value.is_empty());
    values
}
