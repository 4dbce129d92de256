//! Registration of uploads in a catalog, for files of snapshots (decision 0170).

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use yearbook_catalog::{Catalog, register_upload};
use yearbook_domain::ObjectKey;
use yearbook_storage::UploadRegistrar;

/// Registers uploads in a catalogue.
pub struct UploadRegistry(pub Arc<Catalog>);

impl UploadRegistrar for UploadRegistry {
    fn declare<'a>(&'a self, stored: &'a ObjectKey) -> BoxFuture<'a, Result<(), String>> {
        register_upload(&self.0, stored)
            .map(|registered| registered.map_err(|error| error.to_string()))
            .boxed()
    }
}
