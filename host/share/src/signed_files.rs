//! Addresses of files for one recipient (contract-12-urls, contract-12-presigned): our own, signed,
//! or those of the object store where settings say so.

use std::time::Duration;

use http::request::Parts;
use yearbook_domain::{KeyId, Millis, StoredFile};
use yearbook_http::{AuthenticatedCaller, Error};

use super::file_address::SignedAddress;
use crate::ShareState;

/// Signer for the addresses of one answer: all of them end at the same time.
pub(super) struct AddressBook<'a> {
    app: &'a ShareState,
    base: String,
    key: KeyId,
    /// Time from which none of the addresses works.
    pub(super) expires: Millis,
}

impl<'a> AddressBook<'a> {
    /// For the caller of a request, from now on.
    pub(super) fn new(app: &'a ShareState, auth: &AuthenticatedCaller, parts: &Parts) -> Self {
        let now = yearbook_catalog::clock::now().0.div_euclid(1000);
        let life = i64::try_from(app.settings.url_seconds).unwrap_or(i64::MAX / 2000);
        Self {
            app,
            base: app.core.base_url(parts),
            key: auth.caller.id().clone(),
            expires: Millis(now.saturating_add(life).saturating_mul(1000)),
        }
    }

    /// Returns an address of `file`.
    ///
    /// # Errors
    /// 503 or 500 where the object store signs addresses and cannot.
    pub(super) async fn url(&self, file: &StoredFile) -> Result<String, Error> {
        let settings = &self.app.settings;
        if settings.redirect {
            let lifetime = Duration::from_secs(settings.url_seconds);
            if let Some(url) = self.app.core.storage.presign(file, lifetime).await? {
                return Ok(url);
            }
        }
        let address = SignedAddress {
            digest: file.sha256,
            key: self.key.clone(),
            expires: self.expires.0.div_euclid(1000),
        };
        Ok(format!("{}{}", self.base, self.app.signer.sign(&address)))
    }
}
