//! Structures: dataflows, structures of data, concepts, codelists and agencies, all of them made of
//! the facts of datasets.

use std::fmt::Display;

use yearbook_sdk::adapter::{
    Asked, ColumnValues, Dataset, DatasetPage, DatasetQuery, Document, Host, Refusal, Reply,
    Request, Selection, Step, Stop, ValueQuery,
};
use yearbook_sdmx_model::{MAX_CODES, Representation, agency_id, flow_id};

use crate::flow::{Flow, dataset_name};
use crate::message::{Message, prepared};
use crate::negotiation::{Encoding, Face, language, structures_type};
use crate::query::{Ids, Kind, Query};
use crate::{json, ml, problem};

/// Datasets of one answer of the host, and answers that a request asks for.
const PAGE: u32 = 1_000;
const PAGES: usize = 2;
/// Questions of a request, and columns of one for values.
const QUESTIONS: usize = 64;
const COLUMNS: usize = 16;
/// Dataflows that one request can name.
const MOST_NAMED: usize = 24;

/// Answers a query of structures.
pub(crate) fn show(face: Face, request: &Request, host: &mut Host, path: &[&str]) -> Step<Reply> {
    let encoding = face.structures(request)?;
    let query = Query::parse(face, request, path)?;
    let datasets = find(request, host, &query)?;
    let prepared = prepared(datasets.iter());
    let agencies = query.kinds.contains(&Kind::AgencyScheme).then(|| agencies(&query, &datasets));
    let has_flows = query.kinds != [Kind::AgencyScheme];
    let mut flows = if has_flows { flows(face, request, &query, datasets)? } else { Vec::new() };
    ask_values(request, host, &query, &mut flows)?;
    let flows = flows.iter().collect();
    let message = Message { agencies, flows, query: &query, available: None, prepared };
    if message.is_empty() {
        return Err(nothing(face, "there is nothing of this name, agency and version"));
    }
    Ok(write(&message, encoding, request).into())
}

/// A message as a document.
pub(crate) fn write(message: &Message<'_>, encoding: Encoding, request: &Request) -> Document {
    let address = match request.path.first().map(String::as_str) {
        Some("3.0") => format!("{}/3.0/structure", request.base),
        _ => format!("{}/2.1", request.base),
    };
    let body = match encoding {
        Encoding::Json => json::write(message, &address),
        Encoding::Ml30 => ml::write(message, true, &address),
        _ => ml::write(message, false, &address),
    };
    let document = Document::new(200, structures_type(encoding), body);
    let language = message.flows.first().map(|flow| flow.language().to_owned());
    Document { language, ..document }
}

/// The answer where nothing is found: 404 on 2.1, 204 on 3.0, as each standard says.
pub(crate) fn nothing(face: Face, sentence: &str) -> Stop {
    match face {
        Face::V21 => problem::not_found(sentence),
        Face::V30 => Document::empty(204).into(),
    }
}

/// The question about a dataset, its text in the language that a client would have.
pub(crate) fn dataset(request: &Request, name: &str) -> Asked<Dataset> {
    language(request)
        .map_or_else(|| Asked::dataset(name), |language| Asked::dataset_in(name, &language))
}

/// Returns whether the datasets of a query come from lists, and are not asked for by their names.
fn is_listed(query: &Query) -> bool {
    query.ids == Ids::Any || query.kinds.contains(&Kind::AgencyScheme)
}

/// Questions that remain behind those for the datasets of a query.
fn questions_left(query: &Query) -> usize {
    QUESTIONS - if is_listed(query) { PAGES } else { MOST_NAMED }
}

/// The datasets that a query may mean.
fn find(request: &Request, host: &mut Host, query: &Query) -> Step<Vec<Dataset>> {
    let ids = match &query.ids {
        Ids::Some(ids) if !is_listed(query) => ids,
        ids if ids.has("AGENCIES") => return all(request, host, query),
        // A scheme of agencies of another name.
        _ => return Ok(Vec::new()),
    };
    // The id of a codelist begins with that of its dataflow.
    let flow = |id: &String| id.split('-').next().and_then(|flow| dataset_name(flow).ok());
    let mut names: Vec<String> = ids.iter().filter_map(flow).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_NAMED {
        return Err(problem::bad_request(format!(
            "a query names at most {MOST_NAMED} dataflows; ask for the others in another one"
        )));
    }
    let asked: Vec<_> = names.iter().map(|name| dataset(request, name).or_refusal()).collect();
    host.ask(asked)?.into_iter().filter_map(|told| dataset_if_any(told).transpose()).collect()
}

/// A dataset that was asked for by its name; `None` where there is none.
///
/// # Errors
/// 413 for more than a request is told of: that one is there, and no message leaves it out.
pub(crate) fn dataset_if_any(told: Result<Dataset, Refusal>) -> Step<Option<Dataset>> {
    match told {
        Ok(dataset) => Ok(Some(dataset)),
        Err(refusal) if refusal.status == 413 => Err(refusal.into()),
        Err(_) => Ok(None),
    }
}

/// Every dataset, or as many as the host tells.
fn all(request: &Request, host: &mut Host, query: &Query) -> Step<Vec<Dataset>> {
    let columns = query.kinds != [Kind::AgencyScheme];
    let mut found = Vec::new();
    let mut after = None;
    for _ in 0..PAGES {
        let language = language(request);
        let asked = DatasetQuery { columns, language, after, ..DatasetQuery::page(PAGE) };
        let DatasetPage { datasets, next, .. } = host.datasets(asked)?;
        found.extend(datasets);
        match next {
            None => return Ok(found),
            next => after = next,
        }
    }
    Err(Refusal::new(413, "there are too many dataflows for one message; name some of them").into())
}

/// Ids of the agencies that a query of their scheme means.
fn agencies(query: &Query, datasets: &[Dataset]) -> Vec<String> {
    let is_meant = query.agencies.has_agency("SDMX") && query.ids.has("AGENCIES");
    let mut agencies: Vec<String> =
        datasets.iter().map(|dataset| agency_id(&dataset.namespace)).collect();
    agencies.sort_unstable();
    agencies.dedup();
    agencies.retain(|agency| is_meant && query.items.has(agency));
    agencies
}

/// The dataflows that a query means.
fn flows(face: Face, request: &Request, query: &Query, datasets: Vec<Dataset>) -> Step<Vec<Flow>> {
    let is_named = |flow: &Flow| {
        let is_flow =
            query.kinds.iter().any(|kind| *kind != Kind::Codelist) && query.ids.has(&flow.name.id);
        let is_codelist = || {
            let components = flow.components();
            let mut coded = components
                .iter()
                .filter(|component| component.representation == Representation::Coded);
            coded.any(|component| query.ids.has(&flow.name.codelist_id(&component.id)))
        };
        is_flow || (query.kinds.contains(&Kind::Codelist) && is_codelist())
    };
    let is_meant = |flow: &Flow| {
        query.agencies.has_agency(&flow.name.agency)
            && query.versions.has_version(&flow.name.version)
            && is_named(flow)
    };
    let mut reason = None;
    let made = datasets.into_iter().filter_map(|dataset| {
        let id = flow_id(&dataset.name);
        Flow::new(dataset).map_err(|none| reason = Some(no_flow(&id, none))).ok()
    });
    let mut flows: Vec<Flow> = made.filter(is_meant).collect();
    flows.retain(|flow| {
        let checked = flow.check().map_err(|none| reason = Some(no_flow(&flow.name.id, none)));
        checked.is_ok()
    });
    if let Some(reason) = reason.filter(|_| flows.is_empty() && !is_listed(query)) {
        return Err(nothing(face, &reason));
    }
    let language = language(request);
    Ok(flows.into_iter().map(|flow| flow.asked_in(language.as_deref())).collect())
}

fn no_flow(id: &str, reason: impl Display) -> String {
    format!("{id} is no dataflow: {reason}")
}

/// The dataflow of one dataset.
///
/// # Errors
/// 404 with the reason for a dataset that is none.
pub(crate) fn flow(request: &Request, dataset: Dataset) -> Step<Flow> {
    let id = flow_id(&dataset.name);
    let flow = Flow::new(dataset).map_err(|none| problem::not_found(no_flow(&id, none)))?;
    flow.check().map_err(|none| problem::not_found(no_flow(&id, none)))?;
    Ok(flow.asked_in(language(request).as_deref()))
}

/// Columns of which a query needs the values: those with codelists.
fn wanted<'a>(query: &Query, flow: &'a Flow) -> Vec<&'a str> {
    if query.wants(Kind::Codelist) && !query.is_stub(Kind::Codelist) {
        flow.coded_columns()
    } else {
        Vec::new()
    }
}

/// Asks for the stored values that a query needs.
fn ask_values(request: &Request, host: &mut Host, query: &Query, flows: &mut [Flow]) -> Step<()> {
    let asked = flows.iter().flat_map(|flow| {
        values(request, &Selection::new(&flow.dataset.name), &wanted(query, flow))
    });
    let asked: Vec<_> = asked.collect();
    if asked.len() > questions_left(query) {
        return Err(too_many_codes());
    }
    let mut told = host.ask(asked)?.into_iter();
    for flow in flows {
        let count = wanted(query, flow).len().div_ceil(COLUMNS);
        if count > 0 {
            flow.values = told.by_ref().take(count).flatten().collect();
        }
    }
    Ok(())
}

fn too_many_codes() -> Stop {
    let sentence = "these are more codelists than a message has; name fewer dataflows, or ask for \
                    them without their codelists";
    Refusal::new(413, sentence).into()
}

/// The questions for the values of columns under a selection.
pub(crate) fn values(
    request: &Request,
    selection: &Selection,
    columns: &[&str],
) -> Vec<Asked<Vec<ColumnValues>>> {
    let asked = columns.chunks(COLUMNS).map(|columns| {
        let query = ValueQuery::new(selection.clone(), columns.iter().copied());
        Asked::values(ValueQuery { language: language(request), limit: MAX_CODES, ..query })
    });
    asked.collect()
}
