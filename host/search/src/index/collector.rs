//! Collects every match of a query with its score. The index has one segment without deletions, so
//! document numbers are positions in the order of names.

use std::cmp::Ordering;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

/// A match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoredDocument {
    /// Number of the document.
    pub(crate) number: u32,
    /// Relevance; greater is better.
    pub(crate) score: f32,
}

impl ScoredDocument {
    /// Compares by relevance, then by name: a total order.
    pub(crate) fn compare_ranks(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.number.cmp(&other.number))
    }
}

/// The collector of all matches.
pub(crate) struct ScoredDocuments;

/// Matches of the one segment.
pub(crate) struct SegmentMatches(Vec<ScoredDocument>);

impl Collector for ScoredDocuments {
    type Fruit = Vec<ScoredDocument>;
    type Child = SegmentMatches;

    fn for_segment(
        &self,
        _segment: SegmentOrdinal,
        _reader: &SegmentReader,
    ) -> tantivy::Result<SegmentMatches> {
        Ok(SegmentMatches(Vec::new()))
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Vec<ScoredDocument>>) -> tantivy::Result<Self::Fruit> {
        Ok(segments.into_iter().flatten().collect())
    }
}

impl SegmentCollector for SegmentMatches {
    type Fruit = Vec<ScoredDocument>;

    fn collect(&mut self, number: DocId, score: Score) {
        self.0.push(ScoredDocument { number, score });
    }

    fn harvest(self) -> Self::Fruit {
        self.0
    }
}
