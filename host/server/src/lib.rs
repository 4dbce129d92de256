//! HTTP and nothing else: routes, headers, statuses, bodies (`docs/spec`). The only crate that
//! knows axum and hyper. It holds no rule that can be judged without a request: those are the
//! domain's. It never touches SQL, a stored file or a guest except through the crates that own
//! them, and it knows releases of plugins by the trait `ReleasePolicy` alone.
//!
//! Start at `router`, then follow `routes/rows`: one straight line from the key to the body.

mod admin;
mod error;
mod http;
mod metrics;
mod openapi;
mod pages;
mod request;
mod response;
mod router;
mod routes;
mod settings;
mod share;
mod state;

pub use admin::{admin, serve_admin};
pub use http::serve::{serve, serve_public};
pub use openapi::openapi;
pub use response::response_cache::ResponseCacheStats;
pub use router::app;
pub use settings::{
    ContactAddress, ForwardedHeader, IcebergCredentials, LimitSettings, PageSettings, PublicUrl,
    S3Properties, ServerSettings, ServiceSettings, ShareName, ShareSettings, TrustedProxies,
};
pub use state::{AppContext, AppState, Services};
