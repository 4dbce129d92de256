//! Reading of footers: what a stored file tells without a row being read.

use yearbook_domain::Snapshot;

use super::Reader;
use crate::StorageFailure;

impl Reader {
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
