//! Reading of footers: what a stored file tells without a row being read.

use std::sync::Arc;

use yearbook_domain::Snapshot;

use super::Reader;
use crate::StorageFailure;
use crate::decode::{CallerWorkers, ParquetFile, open};

impl Reader {
    /// Loads the footer of a snapshot's file, unless another does so already.
    pub(super) async fn load_footer(
        &self,
        workers: &CallerWorkers,
        snapshot: &Snapshot,
    ) -> Result<Arc<ParquetFile>, StorageFailure> {
        let mut loaded = false;
        let load = async {
            loaded = true;
            open(&self.parts.files, workers, snapshot).await.map(Arc::new)
        };
        let key = (snapshot.file.sha256, snapshot.id);
        let parquet = self.parts.footers.try_get_with(key, load).await;
        self.parts.cache.metrics.kept_footers.record_lookup(!loaded);
        parquet.map_err(|shared: Arc<StorageFailure>| StorageFailure::clone(&shared))
    }

    /// Returns the words of the file of `snapshot` by `key`, where it has some.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn words(
        &self,
        snapshot: &Snapshot,
        key: &str,
    ) -> Result<Option<String>, StorageFailure> {
        let parquet = self.open_file(snapshot).await?.parquet;
        let words = parquet.metadata.file_metadata().key_value_metadata().into_iter().flatten();
        Ok(words.filter(|words| words.key == key).find_map(|words| words.value.clone()))
    }

    /// Returns the rows and the compressed bytes of each row group of the file of `snapshot`.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn row_groups(&self, snapshot: &Snapshot) -> Result<Vec<(u64, u64)>, StorageFailure> {
        let parquet = self.open_file(snapshot).await?.parquet;
        let groups = parquet.metadata.row_groups().iter().enumerate();
        let sizes = groups.map(|(index, group)| {
            let bytes = u64::try_from(group.compressed_size()).unwrap_or(0);
            (parquet.rows_of(index) as u64, bytes)
        });
        Ok(sizes.collect())
    }
}
