//! Middleware of every route, with what rooms add to it, as one layer: one of its own for each part
//! costs a request copies of all routes that it lies around, boxes of futures, and copies of the
//! request and the response (nearly 1 % of a small response each). Compression is no part of them,
//! because an entity tag has to know the coding; see `compression`.

pub mod cors;
pub mod error_bodies;
pub mod guards;
mod logged_path;
pub mod request_id;
mod traces;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, Uri};
use tracing::Instrument;

use self::error_bodies::RequestedErrors;
use self::request_id::RequestMark;
use crate::Core;
use crate::client_address::address_block_of;
use crate::metrics::CountedRequest;

pub use error_bodies::{ErrorLook, ErrorPages};

/// Adds headers to the answer to OPTIONS at an address.
pub type OptionsHeaders = Arc<dyn Fn(&Uri, &mut HeaderMap) + Send + Sync>;

/// Layer around all routes, with what rooms add to it.
pub struct Shell {
    /// Services, limiters and counters.
    pub core: Arc<Core>,
    /// Shapes of errors that rooms have of their own.
    pub looks: &'static [ErrorLook],
    /// Pages in place of errors, where there are pages.
    pub error_pages: Option<Arc<dyn ErrorPages>>,
    /// Headers of answers to OPTIONS besides those of every route.
    pub options: Option<OptionsHeaders>,
}

impl Shell {
    /// Lays it around `routes`.
    pub fn around(self, routes: Router) -> Router {
        routes.layer(from_fn_with_state(Arc::new(self), answer))
    }
}

/// Answers a request; what stands first is outermost.
async fn answer(State(shell): State<Arc<Shell>>, mut request: Request, next: Next) -> Response {
    let Shell { core, looks, error_pages, options } = &*shell;
    // Before all others, so that every answer is counted and timed whole.
    let counted = CountedRequest::begin(core, &mut request);
    // Before what may log or answer, so that every line they log and every answer they give has the
    // id, and limits know who asks.
    let (mark, span) = RequestMark::begin(core, &mut request);
    let address = address_block_of(&request);
    let errors = RequestedErrors::new(looks, error_pages.as_deref(), &request);
    let is_options = request.method() == Method::OPTIONS;
    let answering = async {
        // Outside of whatever may refuse.
        if is_options {
            let uri = request.uri().clone();
            let mut response = Box::pin(cors::preflight(request, next)).await;
            if let Some(insert) = options {
                insert(&uri, response.headers_mut());
            }
            return mark.end(core, counted.labels(), response);
        }
        let answered = match guards::check_sizes(core, &request) {
            Ok(()) => guards::catch_panics(guards::limit_first_byte(core, next.run(request))).await,
            Err(refused) => {
                // Before the refusal may have to wait.
                drop((request, next));
                refused.into_response()
            }
        };
        // Inside of what makes bodies of refusals, since it may refuse; outside of all that makes
        // others.
        let response = errors.render(guards::monitor_body(core, address, answered), mark.id());
        // Outside of whatever may refuse; inside of what counts, times and knows who asks.
        if response.status().is_client_error()
            && let Some(place) = address.and_then(|address| core.refusal_pace.place(address))
        {
            place.wait().await;
        }
        mark.end(core, counted.labels(), response)
    };
    let response = answering.instrument(span).await;
    let mut response = counted.end(response);
    // Of refusals too: a browser must be able to read them.
    if !is_options {
        cors::insert_headers(response.headers_mut());
    }
    response
}
