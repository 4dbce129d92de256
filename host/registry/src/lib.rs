//! OCI registries: plugins pushed to them and pulled from them, in the layout that the CNCF gives
//! Wasm components (one layer `application/wasm`, and a configuration that names imports and
//! exports). Owns references, credentials, transfers and what of a registry is believed: nothing
//! but bytes whose digest was computed here. Never compiles a component, never checks its
//! signature, never touches the catalog; reads variables only as they are handed in.
//!
//! Sources: the OCI distribution and image specifications 1.1, and CNCF TAG Runtime's "Wasm OCI
//! Artifact Layout".

mod authentication;
mod credentials;
mod error;
mod limits;
mod manifest;
mod pull;
mod push;
mod reference;
mod registry;
mod signatures;
mod status;
mod token_host;
mod transport;

pub use credentials::{CredentialError, CredentialSources, Credentials};
pub use error::RegistryError;
pub use limits::RegistryLimits;
pub use pull::{PulledComponent, TaggedComponent};
pub use push::{ComponentInterface, PushedComponent};
pub use reference::{ReferenceError, RegistryReference};
pub use registry::Registry;
pub use token_host::TokenHost;
