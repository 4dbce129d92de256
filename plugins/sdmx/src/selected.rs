//! The selection that a key and parameters make of a dataflow.

use yearbook_sdk::adapter::{
    Asked, Cited, Host, Operator, Pick, Request, Selection, Step, Version,
};
use yearbook_sdmx_model::{OBS_VALUE, TIME_PERIOD, period_days};

use crate::filter::{self, Comparison};
use crate::flow::Flow;
use crate::instant;
use crate::negotiation::Face;
use crate::problem::{bad_request, unsaid};
use crate::query::{Ids, ids};

/// Columns of an order at most.
const MOST_SORTS: usize = 8;
/// Rows that are sorted, so that they come series by series.
pub(crate) const MOST_SORTED: u64 = 10_000;

/// A dataflow with what is selected of it.
pub(crate) struct Selected {
    pub(crate) flow: Flow,
    pub(crate) selection: Selection,
    /// Time whose version is asked for.
    as_of: Option<String>,
    /// Positions of the measures, among those of the structure.
    pub(crate) measures: Vec<usize>,
    /// Comparisons of what each measure has for itself, by the id of the component.
    pub(crate) of_measures: Vec<(String, Comparison)>,
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
        let selection = Selection { limit: Some(0), ..flow.rows() };
        let mut selected = Self {
            flow,
            selection,
            as_of: None,
            measures,
            of_measures: Vec::new(),
            is_nothing: false,
            content: Content::Full,
            is_flat: false,
        };
        selected.read_key(face, key)?;
        for (name, value) in request.parameters() {
            selected.read(face, name, value)?;
        }
        if request.parameter("asOf").is_some() && request.parameter("updatedAfter").is_some() {
            return Err(unsaid("asOf and updatedAfter: one of them"));
        }
        selected.compare_measures()?;
        selected.finish();
        Ok(selected)
    }

    /// Decides what several parameters say together, in whatever order.
    fn finish(&mut self) {
        let Selection { start, end, pick, .. } = &mut self.selection;
        self.is_nothing |= start.is_some() && end.is_some() && *start > *end;
        if !self.flow.has_series() {
            // Each row is all of a series, and its first and last observation.
            *pick = Pick::All;
        } else if self.content == Content::SeriesKeys {
            *pick = Pick::Last(1);
        }
    }

    fn read(&mut self, face: Face, name: &str, value: &str) -> Step<()> {
        if let Some(component) = filter::component(name).filter(|_| face == Face::V30) {
            return self.filter(component, value);
        }
        match (name, face) {
            ("startPeriod" | "endPeriod" | "firstNObservations" | "lastNObservations", _)
                if self.flow.structure.time.is_none() =>
            {
                return Err(bad_request(format!("{name}: this dataflow has no TIME_PERIOD")));
            }
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
                "serieskeysonly" | "nodata" => self.content = Content::SeriesKeys,
                _ => {
                    return Err(bad_request(format!(
                        "detail: '{value}' is none of the standard's"
                    )));
                }
            },
            ("attributes", Face::V30) => {
                let is_all = |level: &str| matches!(level, "dsd" | "all" | "obs");
                let is_none = |level: &str| matches!(level, "none" | "msd" | "dataset" | "series");
                if !value.split(',').all(|level| is_all(level) || is_none(level)) {
                    return Err(unsaid("attributes: all of them or none here"));
                }
                if !value.split(',').any(is_all) && self.content == Content::Full {
                    self.content = Content::DataOnly;
                }
            }
            ("measures", Face::V30) => match value {
                "all" | OBS_VALUE => {}
                "none" => self.content = Content::SeriesKeys,
                _ => return Err(unsaid("measures: there is the one, OBS_VALUE")),
            },
            ("limit", Face::V30) => {
                self.one_measure(name)?;
                self.selection.limit = Some(number(name, value)?.into());
            }
            ("offset", Face::V30) => {
                let skip: u32 =
                    value.parse().map_err(|_| bad_request("offset is a number from 0"))?;
                if skip > 0 {
                    self.one_measure(name)?;
                }
                self.selection.skip = skip;
            }
            ("sort", Face::V30) => self.sort(value)?,
            ("updatedAfter", _) => self.updated_after(value)?,
            ("asOf", _) => self.at_time(value)?,
            ("includeHistory", _) if value == "false" => {}
            ("includeHistory" | "reportingYearStartDay", _) => {
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

    /// Selects rows from a day on.
    pub(crate) fn from(&mut self, day: &str) {
        let start = &mut self.selection.start;
        if start.as_deref().is_none_or(|start| start < day) {
            *start = Some(day.to_owned());
        }
    }

    /// Selects rows until a day.
    pub(crate) fn until(&mut self, day: &str) {
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
        let published = newest.and_then(|edition| instant::parse(&edition.published_at));
        let since = instant::parse(value);
        let since = since.ok_or_else(|| bad_request("updatedAfter is a date or a time"))?;
        self.is_nothing |= published.is_none_or(|published| published <= since);
        Ok(())
    }

    /// Selects the version of a time. The newest one is named here too: another may be published
    /// before the day that is asked for ends.
    fn at_time(&mut self, value: &str) -> Step<()> {
        let time = as_of(value)?;
        let newest = self.flow.dataset.editions.first();
        let published = newest.and_then(|edition| instant::last_second(&edition.published_at));
        let is_newest =
            published.is_some_and(|published| instant::last_second(value) >= Some(published));
        self.selection.version =
            if is_newest { self.flow.rows().version } else { Version::AsOf(time.clone()) };
        self.as_of = Some(time);
        Ok(())
    }

    /// The question that has the host check a time whose version is named: the host alone knows
    /// whether that is in the future.
    pub(crate) fn time_check(&self) -> Vec<Asked<Cited>> {
        let is_named = matches!(self.selection.version, Version::Snapshot(_));
        let time = self.as_of.clone().filter(|_| is_named);
        let check = time.map(|time| {
            let version = Version::AsOf(time);
            Asked::citation(Selection { version, limit: Some(1), ..self.flow.rows() })
        });
        check.into_iter().collect()
    }

    /// Returns whether every row of the current version is selected, and nothing else is said.
    pub(crate) fn is_whole(&self) -> bool {
        let whole = Selection { limit: Some(0), ..self.flow.rows() };
        self.as_of.is_none() && self.selection == whole
    }

    /// Number of rows, counted where there is a condition or a time: nobody else knows it before
    /// they are sent.
    pub(crate) fn count(&self, host: &mut Host) -> Step<u64> {
        let all = self.flow.dataset.editions.first().map_or(u64::MAX, |edition| edition.rows);
        let selection = &self.selection;
        let is_part = self.as_of.is_some()
            || !selection.conditions.is_empty()
            || selection.start.is_some()
            || selection.end.is_some()
            || (selection.pick != Pick::All && all > MOST_SORTED);
        if !is_part {
            return Ok(all);
        }
        let counted = Selection { limit: None, skip: 0, pick: Pick::All, ..selection.clone() };
        let (_, counted) = host.ask((self.time_check(), Asked::count(counted)))?;
        Ok(match selection.pick {
            Pick::All => counted.rows,
            Pick::First(most) | Pick::Last(most) => {
                let most = counted.series.map(|series| series.saturating_mul(most.into()));
                most.map_or(counted.rows, |most| most.min(counted.rows))
            }
        })
    }

    /// Puts rows in the order of their series, unless that is of more columns than an order takes.
    pub(crate) fn sort_by_series(&mut self) -> bool {
        let structure = &self.flow.structure;
        let keys = structure.dimensions.iter().map(|dimension| dimension.column);
        let date = structure.time.map(|time| time.date);
        let columns: Vec<usize> = keys.chain(date).collect();
        if columns.len() > MOST_SORTS {
            return false;
        }
        for column in columns {
            let name = self.flow.dataset.columns[column].name.clone();
            self.selection.sort(name, false);
        }
        true
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

/// The time whose version is asked for, with an offset: a time that has none is UTC.
fn as_of(value: &str) -> Step<String> {
    if instant::parse(value).is_none() {
        return Err(bad_request("asOf is a time, as 2026-10-01T09:30:00Z, or the end of a date"));
    }
    let clock = value.get(10..).unwrap_or_default();
    let is_whole = clock.is_empty() || clock.contains(['Z', '+', '-']);
    Ok(if is_whole { value.to_owned() } else { format!("{value}Z") })
}

/// First and last day of a period.
pub(crate) fn days(name: &str, value: &str) -> Step<(String, String)> {
    period_days(value)
        .ok_or_else(|| bad_request(format!("{name}: '{value}' is no period, as 2010-Q1 is one")))
}

fn number(name: &str, value: &str) -> Step<u32> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| bad_request(format!("{name} is a number from 1")))
}
