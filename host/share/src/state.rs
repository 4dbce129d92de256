//! State of the share between requests. Never touches a request.

use std::fmt;
use std::sync::Arc;

use yearbook_catalog::CatalogError;
use yearbook_domain::settings::ShareSettings;
use yearbook_http::Core;
use yearbook_http::metrics::MetricsWriter;

use crate::file_address::FileSigner;
use crate::files::FileSizes;
use crate::iceberg::MetadataFiles;
use crate::index::TableIndex;
use crate::metrics::{ShareMetrics, ShareOperation};

/// State of every request of the share.
pub struct ShareState {
    /// Services, limiters and counters.
    pub(crate) core: Arc<Core>,
    /// `[share]`.
    pub(crate) settings: ShareSettings,
    /// Signer of addresses of files.
    pub(crate) signer: FileSigner,
    /// The tables in the order of lists.
    pub(crate) index: TableIndex,
    /// Sizes of files.
    pub(crate) sizes: FileSizes,
    /// Metadata of tables for readers of Iceberg.
    pub(crate) metadata_files: MetadataFiles,
    /// Counters.
    pub(crate) metrics: ShareMetrics,
}

impl ShareState {
    /// Fetches the secret that signs addresses of files, and makes caches.
    ///
    /// # Errors
    /// Fails when the database does not give the secret.
    pub async fn new(core: Arc<Core>, settings: ShareSettings) -> Result<Self, CatalogError> {
        Ok(Self {
            signer: FileSigner::new(core.catalog.secret("share_files").await?),
            index: TableIndex::default(),
            sizes: FileSizes::default(),
            metadata_files: MetadataFiles::default(),
            metrics: ShareMetrics::default(),
            settings,
            core,
        })
    }

    /// Writes what the share has counted (contract-12-records).
    ///
    /// # Errors
    /// Fails where the text takes no more.
    pub fn write_metrics(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        let metrics = &self.metrics;
        sheet.counter(
            "yearbook_share_requests",
            "Requests of the share by operation, refusals behind the check of the key included.",
            ShareOperation::ALL.map(|operation| {
                (vec![("operation", operation.name())], metrics.requests(operation))
            }),
        )?;
        sheet.counter(
            "yearbook_share_file_bytes",
            "Bytes of files that were sent to recipients of the share.",
            [(vec![], metrics.file_bytes())],
        )
    }
}
