//! The selection that a key and parameters make of a dataflow.

use yearbook_sdk::adapter::{Asked, ColumnType, Host, Operator, Pick, Request, Selection, Step};
use yearbook_sdmx_model::{MEASURE, OBS_VALUE, TIME_PERIOD, decode, period_days};

use crate::filter::{self, Comparison};
use crate::flow::Flow;
use crate::negotiation::Face;
use crate::problem::{bad_request, unsaid};
use crate::query::{Ids, ids};

/// Rows that are sorted, so that they come series by series.
pub(crate) const MOST_SORTED: u64 = 10_000;

/// A dataflow with what is selected of it.
pub(crate) struct Selected {
    pub(crate) flow: Flow,
    pub(crate) selection: Selection,
    /// Positions of the measures, among those of the structure.
    pub(crate) measures: Vec<usize>,
    /// Set where no row can be selected: a code that no value has.
    pub(crate) is_nothing: bool,
    pub(crate) content: Content,
    /// Set where observations do not come series by series.
    pub(crate) is_flat: bool,
}

/// Parts of an observation that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Full,
    /// Without attributes.
    DataOnly,
    /// Keys of series, without observations.
    SeriesKeys,
}

impl Selected {
    /// Reads key and parameters.
    pub(crate) fn new(face: Face, request: &Request, flow: Flow, key: &str) -> Step<Self> {
        let measures = (0..flow.structure.measures.len()).collect();
        let selection = Selection { limit: Some(0), ..Selection::new(&flow.dataset.name) };
        let mut selected = Self {
            flow,
            selection,
            measures,
            is_nothing: false,
            content: Content::Full,
            is_flat: false,
        };
        selected.read_key(face, key)?;
        for (name, value) in request.parameters() {
            selected.read(face, name, value)?;
        }
        Ok(selected)
    }

    fn read(&mut self, face: Face, name: &str, value: &str) -> Step<()> {
        if let Some(component) = filter::component(name).filter(|_| face == Face::V30) {
            return self.filter(component, value);
        }
        match (name, face) {
            ("startPeriod", _) => self.from(&days(name, value)?.0),
            ("endPeriod", _) => self.until(&days(name, value)?.1),
            ("firstNObservations", _) => self.pick(name, value, Pick::First)?,
            ("lastNObservations", _) => self.pick(name, value, Pick::Last)?,
            ("dimensionAtObservation", _) => match value {
                TIME_PERIOD => {}
                "AllDimensions" => self.is_flat = true,
                other if self.flow.structure.dimension_ids().contains(&other) => {
                    return Err(unsaid(
                        "dimensionAtObservation: TIME_PERIOD or AllDimensions here",
                    ));
                }
                other => return Err(bad_request(format!("there is no dimension '{other}'"))),
            },
            ("detail", Face::V21) => match value {
                "full" => {}
                "dataonly" => self.content = Content::DataOnly,
                "serieskeysonly" | "nodata" => self.only_keys(),
                _ => {
                    return Err(bad_request(format!(
                        "detail: '{value}' is none of the standard's"
                    )));
                }
            },
            ("attributes", Face::V30) => match value {
                "dsd" | "all" | "obs" => {}
                "none" | "msd" | "dataset" | "series" if self.content == Content::Full => {
                    self.content = Content::DataOnly;
                }
                "none" | "msd" | "dataset" | "series" => {}
                _ => return Err(unsaid("attributes: all of them or none here")),
            },
            ("measures", Face::V30) => match value {
                "all" | OBS_VALUE => {}
                "none" => self.only_keys(),
                _ => return Err(unsaid("measures: there is the one, OBS_VALUE")),
            },
            ("limit", Face::V30) => {
                self.one_measure(name)?;
                self.selection.limit = Some(number(name, value)?.into());
            }
            ("offset", Face::V30) => {
                self.one_measure(name)?;
                self.selection.skip = number(name, value)?;
            }
            ("sort", Face::V30) => self.sort(value)?,
            ("updatedAfter", _) => self.updated_after(value)?,
            ("includeHistory", _) if value == "false" => {}
            ("includeHistory" | "asOf" | "reportingYearStartDay", _) => {
                return Err(unsaid(format!("{name}: a selection here cannot say that")));
            }
            _ => return Err(bad_request(format!("'{name}' is no parameter of data"))),
        }
        Ok(())
    }

    /// Reads a key: parts by dots, any of several codes by `+`, an empty part or `*` for all.
    fn read_key(&mut self, face: Face, key: &str) -> Step<()> {
        if ids(face, key) == Ids::Any {
            return Ok(());
        }
        if face == Face::V30 && key.contains(',') {
            return Err(unsaid("one key at a time; name several codes with `c[…]=A,B`"));
        }
        let parts: Vec<&str> = key.split('.').collect();
        let dimensions = self.flow.structure.dimension_ids();
        let dimensions: Vec<String> =
            dimensions.into_iter().filter(|id| *id != TIME_PERIOD).map(str::to_owned).collect();
        let is_short = parts.len() < dimensions.len() && face == Face::V21;
        if parts.len() > dimensions.len() || is_short {
            let order = dimensions.join(".");
            let sentence = format!("the key has {} parts; its dimensions are {order}", parts.len());
            return Err(bad_request(sentence));
        }
        for (id, part) in dimensions.iter().zip(parts) {
            if !part.is_empty() && part != "*" {
                let codes = part.split('+').map(str::to_owned).collect();
                self.any_of(id, codes)?;
            }
        }
        Ok(())
    }

    /// Selects rows that have any of some codes.
    fn any_of(&mut self, id: &str, codes: Vec<String>) -> Step<()> {
        self.compare(id, Comparison { operator: Operator::Equal, values: codes })
    }

    /// Adds what `c[component]` says.
    fn filter(&mut self, component: &str, text: &str) -> Step<()> {
        for comparison in filter::comparisons(component, text)? {
            if component == TIME_PERIOD && self.flow.structure.time.is_some() {
                self.compare_time(&comparison)?;
            } else {
                self.compare(component, comparison)?;
            }
        }
        Ok(())
    }

    fn compare(&mut self, id: &str, comparison: Comparison) -> Step<()> {
        let structure = &self.flow.structure;
        if id == MEASURE && structure.is_wide {
            return self.choose_measures(&comparison);
        }
        let is_dimension = structure.dimensions.iter().any(|dimension| dimension.id == id);
        let column = match (&self.flow.sources(id)[..], &structure.measures[..]) {
            (&[column], _) => column,
            ([], [measure]) if id == OBS_VALUE => measure.column,
            ([], _) if id != OBS_VALUE => {
                return Err(bad_request(format!("there is no component '{id}'")));
            }
            _ => return Err(unsaid(format!("c[{id}]: it is several columns here"))),
        };
        let is_coded = is_dimension || self.flow.is_coded(id);
        let column = &self.flow.dataset.columns[column];
        let values = comparison.values.iter().filter_map(|value| {
            let value = if is_coded { decode(value)?.into_owned() } else { value.clone() };
            let is_value = match column.type_ {
                ColumnType::Integer => value.parse::<i64>().is_ok(),
                ColumnType::Boolean => ["true", "false"].contains(&&*value),
                _ => true,
            };
            is_value.then_some(value)
        });
        let values: Vec<String> = values.collect();
        match (values.is_empty(), comparison.operator) {
            // Every value differs from what is none.
            (true, Operator::NotEqual) => {}
            (true, _) => self.is_nothing = true,
            (false, operator) => {
                let name = column.name.clone();
                self.selection.condition(name, operator, values);
            }
        }
        Ok(())
    }

    fn choose_measures(&mut self, comparison: &Comparison) -> Step<()> {
        let measures = &self.flow.structure.measures;
        let has = |at: &usize| comparison.values.contains(&measures[*at].code);
        match comparison.operator {
            Operator::Equal => self.measures.retain(has),
            Operator::NotEqual => self.measures.retain(|at| !has(at)),
            _ => return Err(unsaid("c[MEASURE]: `eq` and `ne` alone")),
        }
        Ok(())
    }

    fn compare_time(&mut self, Comparison { operator, values }: &Comparison) -> Step<()> {
        let [period] = &values[..] else {
            return Err(unsaid("c[TIME_PERIOD]: one period, or a range by `ge:…+le:…`"));
        };
        let (first, last) = days("c[TIME_PERIOD]", period)?;
        match operator {
            Operator::Equal => {
                self.from(&first);
                self.until(&last);
            }
            Operator::Ge => self.from(&first),
            Operator::Le => self.until(&last),
            Operator::Gt => self.beside(Operator::Gt, last),
            Operator::Lt => self.beside(Operator::Lt, first),
            _ => return Err(unsaid("c[TIME_PERIOD]: `eq`, `ge`, `gt`, `le` and `lt` alone")),
        }
        Ok(())
    }

    /// Adds a condition on the dates.
    fn beside(&mut self, operator: Operator, day: String) {
        let date = self.flow.structure.time.map(|time| time.date);
        if let Some(date) = date {
            let name = self.flow.dataset.columns[date].name.clone();
            self.selection.condition(name, operator, [day]);
        }
    }

    fn from(&mut self, day: &str) {
        let start = &mut self.selection.start;
        if start.as_deref().is_none_or(|start| start < day) {
            *start = Some(day.to_owned());
        }
    }

    fn until(&mut self, day: &str) {
        let end = &mut self.selection.end;
        if end.as_deref().is_none_or(|end| end > day) {
            *end = Some(day.to_owned());
        }
    }

    fn pick(&mut self, name: &str, value: &str, pick: impl Fn(u32) -> Pick) -> Step<()> {
        if self.selection.pick != Pick::All {
            return Err(unsaid("firstNObservations and lastNObservations: one of them"));
        }
        self.selection.pick = pick(number(name, value)?);
        Ok(())
    }

    fn only_keys(&mut self) {
        self.content = Content::SeriesKeys;
        if self.flow.structure.time.is_some() && self.selection.pick == Pick::All {
            self.selection.pick = Pick::Last(1);
        }
    }

    fn one_measure(&self, name: &str) -> Step<()> {
        if self.flow.structure.is_wide {
            return Err(unsaid(format!("{name}: a row has several observations here")));
        }
        Ok(())
    }

    /// Sorts by components: `ID`, `ID:desc`, `series_key` or `*`.
    fn sort(&mut self, text: &str) -> Step<()> {
        for part in text.split('+') {
            let (id, descending) = match part.split_once(':') {
                None | Some((_, "asc")) => (part.trim_end_matches(":asc"), false),
                Some((id, "desc")) => (id, true),
                _ => return Err(bad_request("sort: `asc` or `desc` behind a colon")),
            };
            let structure = &self.flow.structure;
            let keys = structure.dimensions.iter().map(|dimension| dimension.column);
            let date = structure.time.map(|time| time.date);
            let columns: Vec<usize> = match id {
                "*" => keys.chain(date).collect(),
                "series_key" => keys.collect(),
                TIME_PERIOD => date.into_iter().collect(),
                OBS_VALUE if structure.measures.len() == 1 => vec![structure.measures[0].column],
                id => self.flow.sources(id),
            };
            if columns.is_empty() {
                return Err(bad_request(format!("sort: there is no component '{id}'")));
            }
            for column in columns {
                let name = self.flow.dataset.columns[column].name.clone();
                self.selection.sort(name, descending);
            }
        }
        self.is_flat = true;
        Ok(())
    }

    /// All of a dataflow that changed since: the standard lets a service that knows no more say so.
    fn updated_after(&mut self, value: &str) -> Step<()> {
        let newest = self.flow.dataset.editions.first();
        let published = newest.map_or("", |edition| &edition.published_at);
        let is_time = value.len() >= 10 && period_days(&value[..10]).is_some();
        if !is_time {
            return Err(bad_request("updatedAfter is a date or a time"));
        }
        self.is_nothing |= is_before(published, value);
        Ok(())
    }

    /// Number of rows, counted where there is a condition: nobody else knows it before they are
    /// sent.
    pub(crate) fn count(&self, host: &mut Host) -> Step<u64> {
        let all = self.flow.dataset.editions.first().map_or(u64::MAX, |edition| edition.rows);
        let selection = &self.selection;
        let is_part = !selection.conditions.is_empty()
            || selection.start.is_some()
            || selection.end.is_some()
            || (selection.pick != Pick::All && all > MOST_SORTED);
        if !is_part {
            return Ok(all);
        }
        let counted = Selection { limit: None, skip: 0, pick: Pick::All, ..selection.clone() };
        let counted = host.ask(Asked::count(counted))?;
        Ok(match selection.pick {
            Pick::All => counted.rows,
            Pick::First(most) | Pick::Last(most) => {
                let most = counted.series.map(|series| series.saturating_mul(most.into()));
                most.map_or(counted.rows, |most| most.min(counted.rows))
            }
        })
    }

    /// Puts rows in the order of their series.
    pub(crate) fn sort_by_series(&mut self) {
        let structure = &self.flow.structure;
        let keys = structure.dimensions.iter().map(|dimension| dimension.column);
        let date = structure.time.map(|time| time.date);
        let columns: Vec<usize> = keys.chain(date).collect();
        // More columns than a sort takes stay as they are.
        for column in columns.into_iter().take(8) {
            let name = self.flow.dataset.columns[column].name.clone();
            self.selection.sort(name, false);
        }
    }

    /// Names the columns that are sent, where they are not all.
    pub(crate) fn choose_columns(&mut self) {
        let structure = &self.flow.structure;
        let mut wanted: Vec<usize> =
            structure.dimensions.iter().map(|dimension| dimension.column).collect();
        wanted.extend(structure.time.map(|time| time.date));
        wanted.extend(structure.time.and_then(|time| time.period));
        wanted.extend(self.measures.iter().map(|at| structure.measures[*at].column));
        if self.content == Content::Full {
            let sources = structure.attributes.iter().flat_map(|attribute| &attribute.sources);
            let of_chosen = sources
                .filter(|(_, measures)| measures.iter().any(|at| self.measures.contains(at)));
            wanted.extend(of_chosen.map(|(column, _)| *column));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let names = wanted.into_iter().map(|at| self.flow.dataset.columns[at].name.clone());
        self.selection.columns = Some(names.collect());
    }
}

fn days(name: &str, value: &str) -> Step<(String, String)> {
    period_days(value)
        .ok_or_else(|| bad_request(format!("{name}: '{value}' is no period, as 2010-Q1 is one")))
}

fn number(name: &str, value: &str) -> Step<u32> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| bad_request(format!("{name} is a number from 1")))
}

/// Returns whether a time is not after another one, which may be a date or a local time.
fn is_before(published: &str, value: &str) -> bool {
    let digits = |text: &str| text.trim_end_matches('Z').chars().take(19).collect::<String>();
    digits(published) <= digits(value)
}
