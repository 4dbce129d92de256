//! The catalogue in a browser (contract-9): pages for people, and nothing below `/v1`. No other
//! crate knows HTML. Pages are made from the catalog, the preview facts and the loaded plugins;
//! they never touch a stored file, no page but the calendar reads a clock, that of the database,
//! and none names a host other than that of the links it shows.

mod assets;
mod cache;
mod calendar;
mod chart;
mod cite;
mod copy_lines;
mod credit_view;
mod dataset;
mod dataset_address;
mod dataset_formats;
mod datasets;
mod error_page;
mod facet_link;
mod figures;
mod formats;
mod frame;
mod home;
mod html;
mod integrations;
mod link_preview;
mod log;
mod machine;
mod newest;
mod open_in;
mod plugin_view;
mod refusal;
mod revised_line;
mod signup;
mod signup_metrics;
mod state;
mod version_changes;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use http::header::ALLOW;
use yearbook_http::{Error, rate_limit};

pub(crate) use cache::DocumentCache;
pub(crate) use frame::{Frame, Section, Site};
pub use link_preview::link_preview;
pub(crate) use refusal::PageRefusal;
pub use state::PagesState;

/// First segments of the addresses below which a slash at the end leads to the page without it.
pub const FOLDERS: [&str; 7] =
    ["datasets", "calendar", "formats", "integrations", "signup", "account", "cite"];

/// Every page, one a line. None of them needs a key; `/cite` takes one where it is asked to verify.
pub fn routes(state: &Arc<PagesState>) -> Router {
    let by_address = |route: MethodRouter<Arc<PagesState>>| {
        route.route_layer(from_fn_with_state(Arc::clone(&state.core), rate_limit::limit_by_address))
    };
    let guarded = |route: MethodRouter<Arc<PagesState>>| {
        route.route_layer(from_fn_with_state(Arc::clone(&state.core), cite::guard))
    };
    let signup = if state.signup.is_some() { signup_routes(by_address) } else { Router::new() };
    Router::new()
        .merge(signup)
        .route("/", by_address(get(home::show)))
        .route("/datasets", by_address(get(datasets::show)))
        .route("/datasets/{name}", by_address(get(dataset::show)))
        .route("/datasets/{name}/chart.svg", by_address(get(chart::show)))
        .route("/datasets/{name}/versions", by_address(get(dataset::versions)))
        .route("/datasets/{name}/request", by_address(get(dataset::request)))
        .route("/cite/{name}/{snapshot}", guarded(get(cite::show)))
        .route("/cite/{name}/{snapshot}/proof", by_address(get(cite::prove)))
        .route("/log/checkpoint", by_address(get(log::checkpoint)))
        .route("/log/tile/{*tile}", by_address(get(log::tile)))
        .merge(machine::routes(by_address))
        .route("/calendar", by_address(get(calendar::show)))
        .route("/formats", by_address(get(formats::show)))
        .route("/integrations", by_address(get(integrations::show)))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/copy.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
        .with_state(Arc::clone(state))
}

/// Pages of sign-up, where it is on.
fn signup_routes(
    by_address: impl Fn(MethodRouter<Arc<PagesState>>) -> MethodRouter<Arc<PagesState>>,
) -> Router<Arc<PagesState>> {
    // The router's own refusal of a method does not say that these routes take POST.
    let form = |route: MethodRouter<Arc<PagesState>>| {
        by_address(route.fallback(|| async {
            ([(ALLOW, "GET, HEAD, POST, OPTIONS")], Error::MethodNotAllowed).into_response()
        }))
    };
    Router::new()
        .route("/signup", form(get(signup::show).post(signup::submit)))
        .route("/signup/confirm", form(get(signup::show_link).post(signup::open_account)))
        .route("/account", form(get(signup::show_account).post(signup::change)))
}
