//! The HTTP server: composes the rooms over their shell, for clients and for operators. Holds no
//! handler but that of metrics and of addresses that no room has.

mod admin;
mod not_found;
mod router;
#[cfg(any(feature = "pages", feature = "adapters"))]
mod search_index;
mod settings;
mod state;
mod warm;

pub use admin::{admin, serve_admin};
pub use router::{app, serve_public};
pub use settings::ServiceSettings;
pub use state::{AppState, Services};
pub use yearbook_api::{LinkSettings, PreviewAgent, ResponseCacheStats, openapi};
pub use yearbook_domain::settings::{
    AdapterSettings, ContactAddress, IcebergCredentials, PageSettings, S3Properties, ShareName,
    ShareSettings,
};
pub use yearbook_http::CoreSettings;
pub use yearbook_http::serve::serve;
pub use yearbook_http::settings::{
    ForwardedHeader, LimitSettings, PublicUrl, ServerSettings, TrustedProxies,
};
