//! HTTP without rooms: connections, middleware, limits, statuses, errors, entity tags, conditions,
//! reservations and open responses. Every room builds on it, and it knows none of them: a room
//! registers how its errors look ([`middleware::ErrorLook`]) and brings its refusals as values
//! ([`RoomRefusal`]).

pub mod accept;
pub mod authentication;
pub mod body;
pub mod body_schema;
pub mod bulk_headers;
pub mod byte_range;
pub mod cited_transforms;
pub mod client_address;
pub mod compression;
pub mod content_coding;
mod core_state;
pub mod credit;
pub mod document;
mod error;
pub mod etag;
mod forwarded;
pub mod headers;
pub mod ignored_parameters;
pub mod language;
pub mod links;
pub mod media_types;
pub mod metrics;
pub mod middleware;
pub mod open_responses;
pub mod past_files;
mod past_time;
mod past_versions;
pub mod preconditions;
pub mod rate_limit;
pub mod request_origin;
pub mod reservation;
pub mod serve;
pub mod settings;
pub mod status;

pub use authentication::AuthenticatedCaller;
pub use core_state::{Core, CoreSettings};
pub use document::RenderedDocument;
pub use error::{Error, RoomRefusal};
pub use etag::EntityTag;
