//! The whole service for clients: the routes of every room, and the shell around them.

use std::io;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
#[cfg(feature = "pages")]
use yearbook_http::middleware::ErrorPages;
use yearbook_http::middleware::{ErrorLook, Shell};
use yearbook_http::{Error, serve};

use crate::not_found::not_found;
use crate::state::AppState;

/// Shapes of errors that rooms have of their own.
const ERROR_LOOKS: &[ErrorLook] = &[
    #[cfg(feature = "share")]
    yearbook_share::ERROR_LOOK,
];

/// The whole service, from request id to body.
pub fn app(state: AppState) -> Router {
    let routes = yearbook_api::routes(&state.api);
    #[cfg(feature = "share")]
    let routes = routes.merge(yearbook_share::routes(&state.share));
    #[cfg(feature = "adapters")]
    let routes = routes.merge(yearbook_adapters::routes(&state.adapters));
    #[cfg(feature = "pages")]
    let routes = match &state.pages {
        Some(pages) => routes.merge(yearbook_pages::routes(pages)),
        None => routes,
    };
    let page_folders = state.page_folders();
    let routes = routes
        .method_not_allowed_fallback(|| async { Error::MethodNotAllowed })
        .fallback(move |method, uri| async move { not_found(&method, &uri, page_folders) });
    let shell = Shell {
        core: Arc::clone(&state.core),
        looks: ERROR_LOOKS,
        #[cfg(feature = "pages")]
        error_pages: state.pages.map(|pages| -> Arc<dyn ErrorPages> { pages }),
        #[cfg(not(feature = "pages"))]
        error_pages: None,
        #[cfg(feature = "adapters")]
        options: Some(yearbook_adapters::options_headers(&state.adapters)),
        #[cfg(not(feature = "adapters"))]
        options: None,
    };
    shell.around(routes)
}

/// Serves clients of `state` on `listener` until `shutdown` is ready, as [`serve::serve`] does, and
/// counts their connections.
///
/// # Errors
/// As [`serve::serve`].
pub async fn serve_public(
    listener: TcpListener,
    state: AppState,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let core = Arc::clone(&state.core);
    let metrics = Arc::clone(&core.listener_metrics.public);
    let pace = Arc::clone(&core.refusal_pace);
    serve::accept(listener, app(state), &core.settings.server, metrics, pace, shutdown).await
}
