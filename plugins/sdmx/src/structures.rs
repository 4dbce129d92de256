//! Structures: dataflows, structures of data, concepts, codelists and agencies, all of them made of
//! the facts of datasets.

use yearbook_sdk::adapter::{
    Asked, ColumnValues, Dataset, DatasetPage, DatasetQuery, Document, Host, Refusal, Reply,
    Request, Selection, Step, Stop, ValueQuery,
};
use yearbook_sdmx_model::{MAX_CODES, Representation, agency_id, flow_id};

use crate::flow::{Flow, dataset_name, uncounted};
use crate::message::{Message, prepared};
use crate::negotiation::{Encoding, Face, language, structures_type};
use crate::query::{Ids, Kind, Query};
use crate::{json, ml, problem};

/// Datasets of one answer of the host, and answers that a request asks for.
const PAGE: u32 = 1_000;
const PAGES: usize = 2;
/// Dataflows whose codelists one request can have: each takes a question.
const MOST_CODED: usize = 56;
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
    let mut flows = if has_flows { flows(request, host, &query, datasets)? } else { Vec::new() };
    let has_codes = query.wants(Kind::Codelist) && !query.is_stub(Kind::Codelist);
    ask_values(request, host, &mut flows, has_codes)?;
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

/// The datasets that a query may mean.
fn find(request: &Request, host: &mut Host, query: &Query) -> Step<Vec<Dataset>> {
    let Ids::Some(ids) = &query.ids else { return all(request, host, query) };
    if query.kinds.contains(&Kind::AgencyScheme) {
        return if query.ids.has("AGENCIES") { all(request, host, query) } else { Ok(Vec::new()) };
    }
    // The id of a codelist begins with that of its dataflow.
    let flow = |id: &String| id.split('-').next().and_then(|flow| dataset_name(flow).ok());
    let mut names: Vec<String> = ids.iter().filter_map(flow).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_NAMED {
        let sentence = format!("a query names at most {MOST_NAMED} dataflows");
        return Err(Refusal::new(413, sentence).into());
    }
    let asked: Vec<_> = names.iter().map(|name| dataset(request, name).or_refusal()).collect();
    Ok(host.ask(asked)?.into_iter().flatten().collect())
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
fn flows(
    request: &Request,
    host: &mut Host,
    query: &Query,
    datasets: Vec<Dataset>,
) -> Step<Vec<Flow>> {
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
    // A request has few calls, and a long list took most of them.
    let few = if datasets.len() > PAGE as usize { 0 } else { MOST_CODED };
    let is_uncounted = |dataset: &Dataset| !uncounted(dataset).is_empty();
    let asked = datasets.iter().filter(|dataset| is_uncounted(dataset)).take(few);
    let asked: Vec<_> = asked.map(|dataset| counts(request, dataset)).collect();
    let mut told = host.ask(asked)?.into_iter();
    let wanted = language(request);
    let flows = datasets.into_iter().filter_map(|dataset| {
        let counts = if is_uncounted(&dataset) { told.next() } else { None };
        let flow = Flow::new(dataset, &counts.unwrap_or_default()).ok()?;
        Some(flow.asked_in(wanted.as_deref()))
    });
    let flows = flows.filter(|flow| {
        query.agencies.has_agency(&flow.name.agency)
            && query.versions.has_version(&flow.name.version)
            && is_named(flow)
    });
    Ok(flows.collect())
}

/// The question for the numbers of values of a dataset's key.
fn counts(request: &Request, dataset: &Dataset) -> Asked<Vec<ColumnValues>> {
    asked(request, &dataset.name, uncounted(dataset).into_iter().map(str::to_owned).collect(), 1)
}

/// The dataflow of one dataset, its statuses and the numbers of its values asked for together.
///
/// # Errors
/// 404 with the reason for a dataset that is none.
pub(crate) fn flow(request: &Request, host: &mut Host, dataset: Dataset) -> Step<Flow> {
    let statuses = dataset.columns.iter().filter(|column| column.role == "status");
    let statuses: Vec<String> = statuses.map(|column| column.name.clone()).collect();
    let mut questions = Vec::new();
    if !uncounted(&dataset).is_empty() {
        questions.push(counts(request, &dataset));
    }
    let has_counts = !questions.is_empty();
    if !statuses.is_empty() {
        questions.push(asked(request, &dataset.name, statuses, MAX_CODES));
    }
    let mut told = host.ask(questions)?.into_iter();
    let counts = if has_counts { told.next().unwrap_or_default() } else { Vec::new() };
    let id = flow_id(&dataset.name);
    let mut flow = Flow::new(dataset, &counts)
        .map_err(|reason| problem::not_found(format!("{id} is no dataflow: {reason}")))?;
    flow.take_values(told.next().unwrap_or_default());
    Ok(flow.asked_in(language(request).as_deref()))
}

/// Asks for the stored values of coded columns, or of statuses alone, which have other ids where
/// their codes are those of SDMX.
fn ask_values(request: &Request, host: &mut Host, flows: &mut [Flow], has_codes: bool) -> Step<()> {
    let columns = |flow: &Flow| -> Vec<String> {
        let columns = if has_codes { flow.coded_columns() } else { flow.status_columns() };
        columns.into_iter().map(str::to_owned).collect()
    };
    let asked: Vec<_> = flows
        .iter()
        .map(columns)
        .zip(flows.iter())
        .filter(|(columns, _)| !columns.is_empty())
        .map(|(columns, flow)| asked(request, &flow.dataset.name, columns, MAX_CODES))
        .collect();
    if asked.len() > MOST_CODED {
        let sentence = format!(
            "a message has the codes of at most {MOST_CODED} dataflows; name fewer, or ask for \
             them without their codelists"
        );
        return Err(Refusal::new(413, sentence).into());
    }
    let mut told = host.ask(asked)?.into_iter();
    for flow in flows.iter_mut().filter(|flow| !columns(flow).is_empty()) {
        flow.take_values(told.next().unwrap_or_default());
    }
    Ok(())
}

fn asked(
    request: &Request,
    dataset: &str,
    columns: Vec<String>,
    limit: u32,
) -> Asked<Vec<ColumnValues>> {
    let query = ValueQuery::new(Selection::new(dataset), columns);
    Asked::values(ValueQuery { language: language(request), limit, ..query })
}
