//! `/v1/datasets/{name}/link` makes links to rows for programs that send an address and nothing
//! else, and `/l/{file}` reads them (contract-15-link). A link stands for its key: what is read is
//! planned, limited and charged as the key's.

pub(crate) mod refusal;
pub(crate) mod view;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{REFERRER_POLICY, USER_AGENT, VARY};
use http::{HeaderMap, HeaderValue};
use yearbook_catalog::{Caller, clock};
use yearbook_domain::query::is_condition;
use yearbook_domain::{CanonicalQuery, Millis};
use yearbook_http::authentication::RequestSource;
use yearbook_http::body_schema::Rfc3339;
use yearbook_http::client_address::ClientAddress;
use yearbook_http::document::CachePolicy;
use yearbook_http::headers::ROBOTS;
use yearbook_http::{
    AuthenticatedCaller, Error, RenderedDocument, body, links, rate_limit, status,
};
use yearbook_sandbox::OptionValue;

use self::refusal::{LinkRefusal, MAX_CHARACTERS};
use self::view::LinkView;
use super::rows;
use crate::ApiState;
use crate::request::data_link::DataLink;
use crate::request::known_parameters::LINK;
use crate::request::{DataRequest, LinkRequest};
use crate::response::open;
use crate::response::plan::{ResponsePlan, RowSource};

/// Seconds of a day.
const DAY_S: u64 = 86_400;

/// `GET /v1/datasets/{name}/link`. Refuses what HEAD of the same rows is refused with.
pub(crate) async fn make(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let headers = request.headers().clone();
    let LinkRequest { data, days, base_url } = LinkRequest::parse(&app, request)?;
    let dataset = app.core.dataset(&data.name)?;
    let plan = data.plan(&app, &auth, &dataset).await?;
    let selection = canonical_query(&plan.source);
    let encoder = Arc::clone(&plan.encoder);
    let description = encoder.description();
    let lifetime = i64::try_from(days * DAY_S).unwrap_or(i64::MAX);
    let ends = clock::now().0.div_euclid(1000).saturating_add(lifetime);
    let link = DataLink {
        key: auth.caller.id().clone(),
        epoch: auth.caller.link_epoch(),
        ends,
        dataset: data.name.clone(),
        query: query_of(&data, &plan),
    };
    open(&app, &data, &auth, plan).await?;
    let path = app.links.path(&link, &description.extension);
    let path = path.map_err(|failure| Error::internal("seal a link", &failure))?;
    let url = format!("{base_url}{path}");
    if url.len() > MAX_CHARACTERS {
        return Err(LinkRefusal::TooLong.into());
    }
    let document = RenderedDocument::new(&LinkView {
        url,
        expires_at: Rfc3339(Millis(ends.saturating_mul(1000))),
        format: description.format.clone(),
        selection: selection.as_str().to_owned(),
    })?;
    document.respond(&app.core, &headers, CachePolicy::NoStore).await
}

/// `GET /l/{file}`.
pub(crate) async fn read(State(app): State<Arc<ApiState>>, request: Request) -> Response {
    let client = ClientAddress::from_request(&request);
    let mut response = match answer(&app, client, request).await {
        Ok(response) => response,
        // Whoever tries links is bounded like whoever tries keys.
        Err(error) if error.room::<LinkRefusal>().is_some() => {
            let refused = app.core.burst_limiter.take_for_client(client);
            refused.unwrap_or_else(|| error.into_response())
        }
        Err(error) => error.into_response(),
    };
    insert_headers(response.headers_mut());
    response
}

/// Answers with the rows of a link, in the name of its key.
///
/// # Errors
/// 404 for what is no link of ours, 410 for one that has ended; those of `/data`.
async fn answer(
    app: &ApiState,
    client: ClientAddress,
    request: Request,
) -> Result<Response, Error> {
    let source = RequestSource::new(&request);
    let (parts, _) = request.into_parts();
    let link = app.links.open(parts.uri.path()).ok_or(LinkRefusal::Unknown)?;
    let caller = working_caller(app, &link).await?;
    if draws_previews(app, &parts.headers) {
        return match app.core.burst_limiter.take_for_client(client) {
            Some(refused) => Ok(refused),
            None => preview(app, &link),
        };
    }
    let auth = match source.admit_by_link(&app.core, caller) {
        Ok(auth) => auth,
        Err(refused) => return Ok(refused),
    };
    let request = DataRequest::of_link(app, parts, &link)?;
    Box::pin(rows::answer(app, &auth, &request)).await
}

/// Returns whether the program that sent `headers` draws previews of links.
fn draws_previews(app: &ApiState, headers: &HeaderMap) -> bool {
    let name = headers.get(USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
    app.settings.links.draws_previews(&String::from_utf8_lossy(name))
}

/// Answers a program that draws previews: with a page about the dataset, without a row, free of
/// charge.
///
/// # Errors
/// 404 where the dataset is gone.
fn preview(app: &ApiState, link: &DataLink) -> Result<Response, Error> {
    let dataset = app.core.dataset(&link.dataset)?;
    match app.settings.link_preview {
        Some(page) => page(&dataset),
        None => {
            let mut response = Response::new(body::empty());
            *response.status_mut() = status::NO_CONTENT;
            Ok(response)
        }
    }
}

/// Returns the holder of the key that `link` stands for.
///
/// # Errors
/// 410 where the link, its key or all links of the key have ended; 503 without the database.
async fn working_caller(app: &ApiState, link: &DataLink) -> Result<Caller, Error> {
    if link.ends <= clock::now().0.div_euclid(1000) {
        return Err(LinkRefusal::Ended.into());
    }
    let caller = app.core.keys.caller_of_signed_id(&link.key).await?;
    let caller = caller.filter(|caller| caller.link_epoch() == link.epoch);
    caller.ok_or_else(|| LinkRefusal::Ended.into())
}

/// Returns the canonical text of what a link selects.
fn canonical_query(source: &RowSource) -> CanonicalQuery {
    // Links are to rows of snapshots.
    source.read_plan().map(|read| CanonicalQuery::new(read, None)).unwrap_or_default()
}

/// Returns the query of `/data` that a link stands for: what the client sent and the route knows.
/// Not the canonical text, whose values are written by the types of one snapshot.
fn query_of(data: &DataRequest, plan: &ResponsePlan) -> String {
    let format = &plan.encoder.description().format;
    let transforms = plan.source.transforms().iter();
    let transforms = transforms.map(|step| (step.transform.name(), &*step.options));
    let options: Vec<(&str, &[OptionValue])> =
        transforms.chain([(format.as_str(), &*plan.options)]).collect();
    let is_option = |name: &str| {
        let (plugin, option) = name.split_once('.').unwrap_or_default();
        let is_its = |(known, _): &&(&str, &[OptionValue])| *known == plugin;
        let of_plugin = options.iter().find(is_its).map(|(_, options)| *options);
        of_plugin.unwrap_or_default().iter().any(|known| known.name == option)
    };
    let is_kept = |name: &str| {
        name != "format" && LINK.names.contains(&name) || is_condition(name) || is_option(name)
    };
    let kept = data.pairs.iter().filter(|(name, _)| is_kept(name));
    let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
    links::encode_query(kept.chain([("format", format.as_str())]))
}

/// Inserts the headers of every answer at the address of a link, and removes those about the month
/// and the bursts of its owner.
fn insert_headers(headers: &mut HeaderMap) {
    rate_limit::remove_headers(headers);
    for (name, value) in [
        (REFERRER_POLICY, "no-referrer"),
        (ROBOTS, "noindex"),
        (VARY, "Accept-Encoding, User-Agent"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
