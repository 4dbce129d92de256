//! Availability: the values that data under a key and filters would have. Without a condition it is
//! what publishing stored, free and without a key.

use yearbook_sdk::Value;
use yearbook_sdk::adapter::{
    Asked, ColumnValues, Counted, Host, Reply, Request, Selection, Step, Table,
};
use yearbook_sdmx_model::{MEASURE, Representation, encode};

use crate::data::{Place, place_21, place_30};
use crate::flow::Flow;
use crate::message::{Available, Message, prepared};
use crate::negotiation::Face;
use crate::problem::{bad_request, unsaid};
use crate::query::{Detail, Ids, Kind, Query, listed};
use crate::selected::Selected;
use crate::structures::{nothing, values, write};

const NOTHING: &str = "nothing is available for this key and these parameters";

/// `availableconstraint/…` of 2.1: flow, key, provider, component.
pub(crate) fn v21(request: &Request, host: &mut Host, path: &[&str]) -> Step<Reply> {
    let place = place_21(request, host, path)?;
    show(Face::V21, request, host, place, path.get(3).copied().unwrap_or("all"))
}

/// `availability/…` of 3.0: context, agency, flow, version, key, component.
pub(crate) fn v30(request: &Request, host: &mut Host, path: &[&str]) -> Step<Reply> {
    let place = place_30(request, host, path)?;
    show(Face::V30, request, host, place, path.get(5).copied().unwrap_or("*"))
}

fn show(
    face: Face,
    request: &Request,
    host: &mut Host,
    place: Place,
    component: &str,
) -> Step<Reply> {
    let encoding = face.structures(request)?;
    let wanted = crate::query::ids(face, component);
    let references = references(face, request)?;
    match request.parameter("mode") {
        None | Some("exact") => {}
        Some("available") => return Err(unsaid("mode: `exact` alone")),
        Some(other) => return Err(bad_request(format!("mode: '{other}' is none"))),
    }
    let rest = request.query.iter().filter(|(name, _)| name != "mode" && name != "references");
    let data = Request { query: rest.cloned().collect(), ..request.clone() };
    let mut selected = Selected::new(face, &data, place.flow, &place.key)?;
    if let Ids::Some(ids) = &wanted {
        let components = selected.flow.structure.dimension_ids();
        if let Some(id) = ids.iter().find(|id| !components.contains(&id.as_str())) {
            return Err(bad_request(format!("there is no dimension '{id}'")));
        }
    }
    if selected.is_nothing || selected.measures.is_empty() {
        return Err(nothing(face, NOTHING));
    }
    let found = ask(request, host, &mut selected)?;
    if found.as_ref().is_some_and(|found| found.counted.rows == 0) {
        return Err(nothing(face, NOTHING));
    }
    let Selected { flow, measures, .. } = selected;
    let available = available(&flow, &measures, &wanted, found);
    let prepared = prepared(std::iter::once(&flow.dataset));
    let query = Query {
        kinds: Vec::new(),
        agencies: Ids::Any,
        ids: Ids::Any,
        versions: Ids::Any,
        items: Ids::Any,
        references,
        detail: Detail::Full,
    };
    let message = Message {
        agencies: None,
        flows: vec![&flow],
        query: &query,
        available: Some(available),
        prepared,
    };
    Ok(write(&message, encoding, request).into())
}

/// Numbers and dates of rows under a condition.
struct RowFacts {
    counted: Counted,
    /// First and last date.
    times: Option<(String, String)>,
}

/// Asks for the values under a selection; and for numbers and dates where it has a condition, for
/// they are known otherwise.
fn ask(request: &Request, host: &mut Host, selected: &mut Selected) -> Step<Option<RowFacts>> {
    let flow = &selected.flow;
    let columns = flow.coded_columns();
    if selected.is_whole() {
        // Free are the values of a dataset alone, of which no version is named.
        let values = values(request, &Selection::new(&flow.dataset.name), &columns);
        selected.flow.values = host.ask(values)?.concat();
        return Ok(None);
    }
    let selection = Selection { limit: None, ..selected.selection.clone() };
    let values = values(request, &selection, &columns);
    let counted = (selected.time_check(), Asked::count(selection.clone()));
    // A request has four reads: the values of more columns leave none for the ends.
    let ends = if values.len() < 2 { ends(flow, &selection) } else { Vec::new() };
    let (values, (counted, ends)) = host.ask((values, (counted, ends)))?;
    let (_, counted) = counted;
    let values = values.concat();
    let times = match &ends[..] {
        [first, last] => date(first).zip(date(last)),
        _ => observed_dates(&values),
    };
    selected.flow.values = values;
    Ok(Some(RowFacts { counted, times }))
}

/// The questions for the first and the last date of a dataflow without dimensions besides time. The
/// values of another one have them: every row has one of each dimension, but not of each attribute.
fn ends(flow: &Flow, selection: &Selection) -> Vec<Asked<Table>> {
    let Some(time) = flow.structure.time.filter(|_| flow.structure.dimensions.is_empty()) else {
        return Vec::new();
    };
    let date = &flow.dataset.columns[time.date].name;
    let end = |descending: bool| {
        let sort = vec![(date.clone(), descending)];
        let columns = Some(vec![date.clone()]);
        Asked::rows(Selection { sort, columns, limit: Some(1), skip: 0, ..selection.clone() })
    };
    vec![end(false), end(true)]
}

/// The date of a table's first row.
fn date(table: &Table) -> Option<String> {
    match table.rows.first()?.first()? {
        Some(Value::Text(date)) => Some(date.clone()),
        _ => None,
    }
}

fn available(flow: &Flow, measures: &[usize], wanted: &Ids, found: Option<RowFacts>) -> Available {
    let codes = flow.structure.dimensions.iter().filter(|one| wanted.has(&one.id)).map(|one| {
        let name = &flow.dataset.columns[one.column].name;
        let of = flow.values.iter().filter(|values| values.column == *name);
        let values = of.flat_map(|values| &values.values);
        let ids = values.map(|observed| encode(&observed.code.value).into_owned());
        (one.id.clone(), ids.collect())
    });
    let mut codes: Vec<(String, Vec<String>)> = codes.collect();
    if flow.structure.is_wide && wanted.has(MEASURE) {
        let of = measures.iter().map(|at| flow.structure.measures[*at].code.clone());
        codes.push((MEASURE.to_owned(), of.collect()));
    }
    let has_time = flow.structure.time.is_some() && wanted.has("TIME_PERIOD");
    let (counted, times) = match found {
        Some(RowFacts { counted, times }) => (Some(counted), times),
        None => (None, flow.dataset.dates.clone()),
    };
    let rows = counted.map(|counted| counted.rows);
    let rows = rows.or_else(|| flow.dataset.editions.first().map(|edition| edition.rows));
    let each = measures.len() as u64;
    Available {
        codes,
        is_part: counted.is_some(),
        times: times.filter(|_| has_time),
        observations: rows.map(|rows| rows.saturating_mul(each)),
        series: counted.and_then(|counted| counted.series).map(|series| series * each),
    }
}

/// First and last date of some values.
fn observed_dates(values: &[ColumnValues]) -> Option<(String, String)> {
    let observed = || values.iter().flat_map(|values| &values.values);
    let first = observed().filter_map(|value| value.first.as_ref()).min()?;
    let last = observed().filter_map(|value| value.last.as_ref()).max()?;
    Some((first.clone(), last.clone()))
}

/// Kinds that `references` adds to the constraint.
fn references(face: Face, request: &Request) -> Step<Vec<Kind>> {
    use Kind::{Codelist, ConceptScheme, DataStructure, Dataflow};
    let mut kinds = Vec::new();
    for word in listed(face, request.parameter("references").unwrap_or("none")) {
        match word {
            "none" | "dataproviderscheme" | "valuelist" => {}
            "all" => kinds.extend([Dataflow, DataStructure, ConceptScheme, Codelist]),
            "dataflow" => kinds.push(Dataflow),
            "datastructure" => kinds.push(DataStructure),
            "conceptscheme" => kinds.push(ConceptScheme),
            "codelist" => kinds.push(Codelist),
            other => return Err(bad_request(format!("references: '{other}' is none here"))),
        }
    }
    Ok(kinds)
}

impl Flow {
    /// Returns whether the values of a component are codes.
    pub(crate) fn is_coded(&self, component: &str) -> bool {
        let attributes = self.structure.attributes.iter();
        attributes
            .filter(|attribute| attribute.id == component)
            .any(|attribute| attribute.representation == Representation::Coded)
    }
}
