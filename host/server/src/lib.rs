//! HTTP and nothing else: routes, headers, statuses, bodies (`docs/spec`). The only crate that knows
//! axum and hyper. It holds no rule that can be judged without a request: those are the domain's.
//! It never touches SQL, a stored file or a guest except through the crates that own them, and it
//! knows releases of plugins by the trait `ReleasePolicy` alone.
//!
//! Start at `router`, then follow `routes/rows`: one straight line from the key to the body.

mod admin;
mod bodies;
mod cursors;
mod error;
mod extract;
mod headers;
mod limits;
mod metrics;
mod middleware;
mod respond;
mod router;
mod routes;
mod serve;
mod settings;
mod state;
mod status;

pub use admin::{admin, serve_admin};
pub use respond::response_cache::ResponseCacheStats;
pub use router::app;
pub use routes::openapi::openapi;
pub use serve::{serve, serve_public};
pub use settings::{
    ForwardedHeader, LimitSettings, PublicUrl, ServerSettings, ServiceSettings, TrustedProxies,
};
pub use state::{AppContext, AppState, Services};
