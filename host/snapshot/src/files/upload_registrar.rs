//! What is about to be stored is declared first, so that whoever removes what nothing names
//! (decision 0170) leaves it alone until it is named.

use std::sync::Arc;

use futures::future::BoxFuture;
use yearbook_domain::Stored;

use super::ObjectStorage;
use crate::StorageFailure;

/// Where declarations are kept.
pub trait UploadRegistrar: Send + Sync {
    /// Declares `stored`; once this is done nothing removes it. It may be there already.
    ///
    /// # Errors
    /// A sentence, when it cannot be declared.
    fn declare<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, Result<(), String>>;
}

impl ObjectStorage {
    /// The same store, where every snapshot's file is declared before the store is asked about it.
    /// Without this nothing is declared.
    #[must_use]
    pub fn with_upload_registrar(&self, declare: Arc<dyn UploadRegistrar>) -> Self {
        Self { declare: Some(declare), ..self.clone() }
    }

    /// Declares `stored`, where anybody wants to know.
    pub(super) async fn declare(&self, stored: Stored) -> Result<(), StorageFailure> {
        let Some(declare) = &self.declare else { return Ok(()) };
        declare
            .declare(&stored)
            .await
            .map_err(|why| StorageFailure::Unregistered { key: stored.to_string(), why })
    }
}
