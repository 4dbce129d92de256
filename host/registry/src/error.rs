//! Reasons why a plugin is not pulled or pushed, each with what to do. A registry's own words are
//! quoted only after they were cut and cleaned.

use std::time::Duration;

use yearbook_domain::Digest;
use yearbook_outbound::ClientSetupError;

use crate::CredentialError;

/// A transfer that was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// This program was built without TLS.
    #[error(
        "{host} is not on this machine, and this build of yearbook has no TLS; take one that has it"
    )]
    NoTls {
        /// Host of the reference.
        host: String,
    },
    /// No client for HTTP can be made.
    #[error(transparent)]
    Client(#[from] ClientSetupError),
    /// Nobody answers, or the answer breaks off.
    #[error("{reason}; check the host's name, the network and whether the registry runs")]
    Unreachable {
        /// Failure, with an address that holds no secret.
        reason: String,
    },
    /// It takes longer than [`crate::RegistryLimits::total`].
    #[error("the registry {host} took longer than {} s; try again over a faster line", .limit.as_secs_f64())]
    TooSlow {
        /// Host of the reference.
        host: String,
        /// The limit.
        limit: Duration,
    },
    /// The registry leads to an address that it may not lead to.
    #[error(
        "the registry {host} leads to {target}, which {reason}; nothing was read from there. Ask whoever runs the registry"
    )]
    Redirect {
        /// Host of the reference.
        host: String,
        /// Host that it leads to.
        target: String,
        /// Rule that the target breaks.
        reason: String,
    },
    /// The registry sends for a token to a host that nobody named for it.
    #[error(
        "the registry {host} sends to {target} for a token, and its credentials go to its own host alone; if you trust {target} with them, add \"{host}={target}\" to plugins.token_hosts"
    )]
    TokenHost {
        /// Host of the reference.
        host: String,
        /// Host of the token.
        target: String,
    },
    /// The registry wants to know who asks, or does not let this caller in.
    #[error(
        "the registry {host} refuses {action} {repository} ({detail}); log in with `docker login {host}`, or set YEARBOOK_REGISTRY_HOST, YEARBOOK_REGISTRY_USERNAME and YEARBOOK_REGISTRY_PASSWORD"
    )]
    Unauthorized {
        /// Host of the reference.
        host: String,
        /// `to read` or `to write`.
        action: &'static str,
        /// Repository.
        repository: String,
        /// Credentials that were tried, by their owner, and the registry's answer.
        detail: String,
    },
    /// The credentials cannot be read.
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    /// Nothing of that name, or it was deleted.
    #[error("the registry {host} has no {what}; check repository and tag")]
    NotFound {
        /// Host of the reference.
        host: String,
        /// Thing that was asked for.
        what: String,
    },
    /// An answer with another status than the protocol has for it.
    #[error(
        "the registry {host} answers {status} to {what}{detail}; try again later, or ask whoever runs it"
    )]
    Status {
        /// Host of the reference.
        host: String,
        /// HTTP status.
        status: u16,
        /// Request in words.
        what: &'static str,
        /// The registry's own sentence, in brackets, or empty.
        detail: String,
    },
    /// Bytes with another digest than the one that names them.
    #[error(
        "the registry {host} sent a {what} with the digest sha256:{found} under the name sha256:{expected}; it was thrown away. Do not trust this registry, and pull from another one"
    )]
    Digest {
        /// Host of the reference.
        host: String,
        /// `manifest`, `component` or `signature`.
        what: &'static str,
        /// Digest that names it.
        expected: Box<Digest>,
        /// Digest of the bytes.
        found: Box<Digest>,
    },
    /// More or fewer bytes than allowed or announced.
    #[error(
        "the registry {host} sends a {what} of {found} bytes, and {allowed}; nothing of it was kept"
    )]
    Size {
        /// Host of the reference.
        host: String,
        /// Thing that is too large or cut.
        what: &'static str,
        /// Bytes as announced or counted, `more than N` where counting ended.
        found: String,
        /// Rule in words.
        allowed: String,
    },
    /// Something else than a Wasm component in the CNCF layout.
    #[error(
        "{reference} is no plugin: {reason}; push a component with `yearbook plugin push` or `wkg oci push`"
    )]
    NotAComponent {
        /// The reference.
        reference: String,
        /// Part that is wrong.
        reason: String,
    },
    /// A push without a tag, or with a digest.
    #[error("{reference} cannot be pushed to: a push gives a name, so write a tag and no digest")]
    PushTarget {
        /// The reference.
        reference: String,
    },
}
