//! `/api/{name}/…`: finds the adapter, checks the key where there is one, runs the rounds, and
//! sends what they come to (contract-17-mount). A straight line, as that of `/data` is.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderMap, Method, Uri};
use yearbook_domain::Refusal;
use yearbook_http::authentication::{self, AuthenticatedCaller, RequestSource};
use yearbook_http::client_address::address_block_of;
use yearbook_http::headers::insert_text;
use yearbook_http::{Core, Error, status};
use yearbook_sandbox::adapter::Rows;
use yearbook_sandbox::{AdapterCalls, PluginAdapter};

use crate::document::PreparedDocument;
use crate::document_cache::{self, CachedAnswer, DocumentKey, KeptAnswer, KeptFrame, Revision};
use crate::refusal::{AdapterRefusal, RefusalWriter};
use crate::request::{self, Exchange, SentRequest};
use crate::rounds::{self, Answer, Told};
use crate::{AdaptersState, rows};

/// Answers a request to an adapter.
///
/// # Errors
/// Refusals of requests that no adapter can be told of.
pub(crate) async fn answer(
    State(app): State<Arc<AdaptersState>>,
    request: Request,
) -> Result<Response, Error> {
    let plugin = find(&app, request.uri())?;
    let source = RequestSource::new(&request);
    let address = address_block_of(&request);
    let (parts, body) = request.into_parts();
    let SentRequest { parts, mut guest, key } = SentRequest::parse(&app, &plugin, parts)?;
    let method = parts.method.clone();
    let mut refusals = RefusalWriter::new(&app, &parts);
    let stranger = source.stranger(&app.core);
    // Before anything is refused: a connection ends with an answer that leaves a body unread, and
    // clients of tools ask the next thing by the same one.
    let read = match parts.method {
        Method::GET | Method::HEAD => Ok(Vec::new()),
        Method::POST if plugin.description().posts => request::read_body(body).await,
        _ => Err(AdapterRefusal::OtherMethod { posts: plugin.description().posts }.into()),
    };
    let auth = match admit(&app, source, &parts, key).await {
        Ok(auth) => auth,
        Err(refused) => {
            let mut calls = plugin.calls(stranger, Arc::new(guest));
            return Ok(refusals.write(&mut calls, refused).await);
        }
    };
    let owner = match &auth {
        Some(auth) => auth.caller.id().as_str().to_owned(),
        None => address.map(|address| address.to_string()).unwrap_or_default(),
    };
    refusals.caller = auth.as_ref().map(|auth| auth.caller.id().clone());
    let holder = auth.as_ref().map_or(stranger, |auth| auth.holder.clone());
    let refused = read.map(|body| guest.body = body).err();
    let mut calls = plugin.calls(holder, Arc::new(guest));
    let exchange = Exchange::new(parts, auth.clone());
    let outcome = match refused {
        Some(refused) => Err(refused),
        None => run(&app, exchange, &mut calls, &owner).await,
    };
    let mut response = match outcome {
        Ok(response) => response,
        Err(error) => refusals.write(&mut calls, error.into_response()).await,
    };
    if response.status() == status::METHOD_NOT_ALLOWED {
        insert_methods(response.headers_mut(), &plugin, &method);
    }
    if let Some(auth) = auth {
        authentication::write_usage(&app.core, &auth.caller, &mut response).await;
    }
    Ok(response)
}

/// Inserts the methods that an adapter takes, but the `refused` one, and OPTIONS, which is CORS's.
pub(crate) fn insert_methods(headers: &mut HeaderMap, plugin: &PluginAdapter, refused: &Method) {
    let is_read = matches!(*refused, Method::GET | Method::HEAD);
    let posts = plugin.description().posts && *refused != Method::POST;
    let methods = [(!is_read, "GET, HEAD"), (posts, "POST"), (true, "OPTIONS")];
    let methods = methods.into_iter().filter_map(|(is_taken, name)| is_taken.then_some(name));
    insert_text(headers, ALLOW, &methods.collect::<Vec<_>>().join(", "));
}

/// The adapter that `uri` names.
///
/// # Errors
/// 404 where nothing serves at this name, 503 where none of its releases may.
pub(crate) fn find(app: &AdaptersState, uri: &Uri) -> Result<Arc<PluginAdapter>, Error> {
    let name = uri.path().strip_prefix("/api/").and_then(|below| below.split('/').next());
    let name = name.unwrap_or_default();
    let plugins = app.core.plugins.current();
    plugins.adapter(name).cloned().ok_or_else(|| {
        let refusal = if plugins.is_unavailable_adapter(name) {
            AdapterRefusal::Unavailable
        } else {
            AdapterRefusal::Unknown
        };
        refusal(name.to_owned()).into()
    })
}

/// Checks the key of a request, in its headers or else in `parameter`, and takes a token of its
/// bucket; without a key one of its address's.
///
/// # Errors
/// 401 for a wrong key, 429 for a burst, 503 where the database does not answer.
async fn admit(
    app: &AdaptersState,
    source: RequestSource,
    parts: &Parts,
    parameter: Option<String>,
) -> Result<Option<AuthenticatedCaller>, Response> {
    let core: &Core = &app.core;
    let parameter = parameter.filter(|_| app.settings.keys_in_addresses);
    let text = match (authentication::key_text(&parts.headers), parameter) {
        (Err(Refusal::KeyMissing), Some(key)) => Ok(Cow::Owned(key)),
        (Err(Refusal::KeyMissing), None) => {
            return source.admit_without_key(core).map(|()| None);
        }
        (sent, _) => sent,
    };
    authentication::admit(core, source, text).await.map(Some)
}

/// Runs the rounds of a request, and sends what they come to. `owner`: on whose account a document
/// is kept.
///
/// # Errors
/// Refusals, for which nothing is charged.
async fn run(
    app: &AdaptersState,
    mut exchange: Exchange,
    calls: &mut AdapterCalls,
    owner: &str,
) -> Result<Response, Error> {
    let plugin = Arc::clone(calls.plugin());
    let revision = Revision::current(&app.core.catalog_cache, &app.core.plugins);
    let is_kept = exchange.parts.method != Method::POST;
    let key = document_cache::key(&plugin, calls.request())?;
    if is_kept {
        let kept = rounds::recall(app, &mut exchange, &key, &revision).await;
        app.documents.count(kept.is_some());
        if let Some(kept) = kept {
            let rows = match &kept.answer {
                CachedAnswer::Document(document) => {
                    return exchange.respond(app, &plugin, document).await;
                }
                CachedAnswer::Rows(rows) => rows,
            };
            let told = Told::recalled(&kept, rows);
            let place = Some(Place { key, owner, revision });
            let frame = Some(&rows.frame);
            return send_rows(app, exchange, calls, told, &rows.rows, frame, place).await;
        }
    }
    let mut told = Told::default();
    let written = match rounds::run(app, &mut exchange, calls, &mut told).await {
        Ok(Answer::Document(written)) => PreparedDocument::new(&plugin, written),
        Ok(Answer::Rows(rows)) => {
            let is_kept = is_kept && !exchange.is_passing();
            let place = is_kept.then_some(Place { key, owner, revision });
            return send_rows(app, exchange, calls, told, &rows, None, place).await;
        }
        Err(error) => Err(error),
    };
    let document = match written {
        Ok(document) => document,
        Err(error) => return exchange.settle(Err(error)).await,
    };
    if exchange.is_passing() || !is_kept {
        let sent = exchange.respond(app, &plugin, &document).await;
        return exchange.settle(sent).await;
    }
    let facts = told.digest();
    let sent = exchange.respond(app, &plugin, &document).await;
    let answer = CachedAnswer::Document(document.into());
    let kept = Arc::new(KeptAnswer { answer, questions: told.questions, facts });
    app.documents.insert(key, owner, kept, revision);
    sent
}

/// Place of an answer in memory.
struct Place<'a> {
    key: DocumentKey,
    owner: &'a str,
    revision: Revision,
}

/// Sends `rows`, and keeps the bytes around them at `place` where they are others than `known`.
///
/// # Errors
/// Those of `/data`; 500 for an adapter that breaks a rule.
async fn send_rows(
    app: &AdaptersState,
    exchange: Exchange,
    calls: &mut AdapterCalls,
    told: Told,
    rows: &Rows,
    known: Option<&KeptFrame>,
    place: Option<Place<'_>>,
) -> Result<Response, Error> {
    let mut made = None;
    let sent = rows::send(app, exchange, calls, &told, rows, known, &mut made).await;
    if let (Some(Place { key, owner, revision }), Some(frame)) = (place, made) {
        app.documents.insert(key, owner, Arc::new(told.into_kept(rows.clone(), frame)), revision);
    }
    sent
}
