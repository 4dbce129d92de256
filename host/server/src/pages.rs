//! The catalogue in a browser (contract-9): pages for people, and nothing below `/v1`. No other
//! module knows HTML. Pages are made from the catalog, the preview facts and the loaded plugins;
//! they never touch a stored file, and no page reads a clock or names a host other than that of the
//! links it shows.

mod assets;
mod cache;
mod chart;
mod cite;
mod copy_lines;
mod credit_view;
mod dataset;
mod datasets;
pub(crate) mod error_page;
mod facet_link;
mod figures;
mod formats;
mod frame;
mod home;
pub(crate) mod html;
mod integrations;
mod machine;
mod newest;
mod plugin_view;
mod search_index;
mod signup;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use http::header::ALLOW;

use crate::error::Error;
use crate::http::rate_limit;
use crate::settings::ServiceSettings;
use crate::state::AppState;

pub(crate) use cache::DocumentCache;
pub(crate) use frame::{Frame, Section, Site};
pub(crate) use search_index::SearchIndexState;

/// First segments of the addresses below which a slash at the end leads to the page without it.
pub(crate) const FOLDERS: [&str; 6] =
    ["datasets", "formats", "integrations", "signup", "account", "cite"];

/// State that the pages share between requests.
pub(crate) struct Pages {
    /// The frame of all pages.
    pub(crate) site: Site,
    /// Rendered pages.
    pub(crate) cache: DocumentCache,
}

impl Pages {
    /// The pages of an installation with `settings`; `signup` is true where it has sign-up.
    pub(crate) fn new(settings: &ServiceSettings, signup: bool) -> Self {
        Self {
            site: Site::new(settings, signup),
            cache: DocumentCache::new(settings.pages.cache_bytes),
        }
    }
}

/// Every page, one a line. None of them needs a key; `/cite` takes one where it is asked to verify.
pub(crate) fn routes(state: &AppState) -> Router<AppState> {
    let by_address = |route: MethodRouter<AppState>| {
        route.route_layer(from_fn_with_state(state.clone(), rate_limit::limit_by_address))
    };
    let guarded = |route: MethodRouter<AppState>| {
        route.route_layer(from_fn_with_state(state.clone(), cite::guard))
    };
    let signup = if state.signup.is_some() { signup_routes(by_address) } else { Router::new() };
    Router::new()
        .merge(signup)
        .route("/", by_address(get(home::show)))
        .route("/datasets", by_address(get(datasets::show)))
        .route("/datasets/{name}", by_address(get(dataset::show)))
        .route("/datasets/{name}/chart.svg", by_address(get(chart::show)))
        .route("/datasets/{name}/versions", by_address(get(dataset::versions)))
        .route("/cite/{name}/{snapshot}", guarded(get(cite::show)))
        .merge(machine::routes(by_address))
        .route("/formats", by_address(get(formats::show)))
        .route("/integrations", by_address(get(integrations::show)))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/copy.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
}

/// Pages of sign-up, where it is on.
fn signup_routes(
    by_address: impl Fn(MethodRouter<AppState>) -> MethodRouter<AppState>,
) -> Router<AppState> {
    // The router's own refusal of a method does not say that these routes take POST.
    let form = |route: MethodRouter<AppState>| {
        by_address(route.fallback(|| async {
            ([(ALLOW, "GET, HEAD, POST, OPTIONS")], Error::MethodNotAllowed).into_response()
        }))
    };
    Router::new()
        .route("/signup", form(get(signup::show).post(signup::submit)))
        .route("/signup/confirm", form(get(signup::show_link).post(signup::open_account)))
        .route("/account", form(get(signup::show_account).post(signup::change)))
}
