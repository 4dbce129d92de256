//! Trust of an operator in components: by digest, by signature, or both. Verified over the bytes
//! themselves, when a component is installed and on every host that loads it, before anything of it
//! is compiled: neither catalog nor object store is believed. What came with the binary is
//! trusted as the binary is, and never checked here.

mod key;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use yearbook_domain::Digest;

pub use key::{Signature, TrustedKey};

/// Proof that a component must have to be installed and loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustRequirement {
    /// Nothing: who may install may run what they like.
    #[default]
    None,
    /// A digest that is allowed.
    Digest,
    /// A signature by a key that is trusted.
    Signature,
    /// One of the two.
    Either,
    /// Both.
    Both,
}

/// Trust settings of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustPolicy {
    /// Proof that a component must have.
    pub require: TrustRequirement,
    /// SHA-256 of components that are allowed.
    pub allowed_digests: BTreeSet<Digest>,
    /// Public keys (minisign) of people whose components are allowed.
    pub trusted_keys: Vec<TrustedKey>,
}

/// A component that is not trusted. Nothing of it was compiled or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// Its digest is not in the list.
    #[error(
        "the component {digest} is not among plugins.allowed_digests; if you trust it, add it to the settings of every host"
    )]
    Digest {
        /// Of the component.
        digest: Digest,
    },
    /// It came without a signature.
    #[error(
        "the component {digest} has no signature, and plugins.require asks for one; sign it with a trusted key (minisign -Sm FILE.wasm) and install it with --signature FILE.wasm.minisig"
    )]
    Unsigned {
        /// Of the component.
        digest: Digest,
    },
    /// The signature cannot be read.
    #[error(
        "what came as the signature of {digest} is none of minisign's: {reason}; sign the component again"
    )]
    Unreadable {
        /// Of the component.
        digest: Digest,
        /// The fault.
        reason: String,
    },
    /// Nobody knows the key.
    #[error(
        "the component {digest} is signed by the key {key}, which is not among plugins.trusted_keys; if you trust its owner, add the key to the settings of every host"
    )]
    UnknownKey {
        /// Of the component.
        digest: Digest,
        /// Identifier of the key that the signature names.
        key: String,
    },
    /// The signature is of something else, or made up.
    #[error(
        "the signature by the key {key} is not of the component {digest}: one of the two was changed, or the file that was signed is the core module \
         and not the component (yearbook plugin inspect FILE --write-component FILE writes it); sign it again"
    )]
    Signature {
        /// Of the component.
        digest: Digest,
        /// Identifier of the key.
        key: String,
    },
    /// Neither digest nor signature will do.
    #[error("{digest} and {signature}")]
    Neither {
        /// Reason against the digest.
        digest: Box<TrustError>,
        /// Reason against the signature.
        signature: Box<TrustError>,
    },
}

impl TrustPolicy {
    /// Returns whether signatures matter.
    #[must_use]
    pub fn needs_signature(&self) -> bool {
        matches!(
            self.require,
            TrustRequirement::Signature | TrustRequirement::Either | TrustRequirement::Both
        )
    }

    /// Checks a component by its bytes and what came as its signature.
    ///
    /// # Errors
    /// [`TrustError`], with what to do.
    pub fn verify(
        &self,
        component: &[u8],
        signature: Option<&Signature>,
    ) -> Result<(), TrustError> {
        if self.require == TrustRequirement::None {
            return Ok(());
        }
        let digest = Digest::compute(component);
        let listed = || {
            if self.allowed_digests.contains(&digest) {
                Ok(())
            } else {
                Err(TrustError::Digest { digest })
            }
        };
        let signed = || self.verify_signature(digest, component, signature);
        match self.require {
            TrustRequirement::None => Ok(()),
            TrustRequirement::Digest => listed(),
            TrustRequirement::Signature => signed(),
            TrustRequirement::Both => listed().and_then(|()| signed()),
            TrustRequirement::Either => listed().or_else(|digest| {
                signed().map_err(|signature| TrustError::Neither {
                    digest: Box::new(digest),
                    signature: Box::new(signature),
                })
            }),
        }
    }

    fn verify_signature(
        &self,
        digest: Digest,
        component: &[u8],
        signature: Option<&Signature>,
    ) -> Result<(), TrustError> {
        let read = signature.ok_or(TrustError::Unsigned { digest })?;
        let read = read.read().map_err(|reason| TrustError::Unreadable { digest, reason })?;
        // Identifiers are chosen freely, so two keys may have the same one.
        let mut named = self.trusted_keys.iter().filter(|key| key.id() == read.key_id()).peekable();
        if named.peek().is_none() {
            return Err(TrustError::UnknownKey { digest, key: read.key_id().to_owned() });
        }
        if named.any(|key| key.verifies(component, &read)) {
            Ok(())
        } else {
            Err(TrustError::Signature { digest, key: read.key_id().to_owned() })
        }
    }
}

#[cfg(test)]
mod tests;
