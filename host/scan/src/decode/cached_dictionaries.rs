//! Dictionaries of column chunks, from memory or read alone from the file and then kept.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};

use super::dictionary::{ColumnDictionary, decode_dictionary_page, dictionary_page_range};
use super::fetch::fetch;
use super::file_source::FileSource;
use super::footer::{ColumnChunkId, is_dictionary_encoded};
use crate::StorageFailure;

impl FileSource {
    /// The dictionaries of those of `leaves` that are [`is_dictionary_encoded`] in row group
    /// `group`; those that are not in memory are read, and nothing else is.
    pub(crate) async fn load_dictionaries(
        &self,
        group: usize,
        leaves: &[usize],
    ) -> Result<Vec<Option<Arc<ColumnDictionary>>>, StorageFailure> {
        let chunks = self.parquet.metadata.row_group(group);
        let mut found = Vec::with_capacity(leaves.len());
        let mut absent = Vec::new();
        for &leaf in leaves {
            let known = self.cache.dictionary(self.parquet.chunk_id(group, leaf));
            if known.is_none() && is_dictionary_encoded(chunks.column(leaf)) {
                absent.push((found.len(), leaf));
            }
            found.push(known);
        }
        if absent.is_empty() {
            return Ok(found);
        }
        let ranges: Vec<_> =
            absent.iter().map(|(_, leaf)| dictionary_page_range(chunks.column(*leaf))).collect();
        let got = fetch(&self.files, &self.workers, &self.parquet.file, &ranges).await?;
        let parts: Vec<_> = absent
            .iter()
            .zip(ranges)
            .zip(got)
            .map(|((&(_, leaf), range), bytes)| (leaf, range.start, bytes))
            .collect();
        let parquet = Arc::clone(&self.parquet);
        let job = move || {
            let chunks = parquet.metadata.row_group(group);
            parts
                .into_iter()
                .map(|(leaf, start, bytes)| {
                    decode_dictionary_page(chunks.column(leaf), start, bytes)
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let decoded = self.run_on_worker(group, job).await?;
        for (&(place, leaf), values) in absent.iter().zip(decoded) {
            let cached = self.cache.get_or_insert_dictionary(
                self.parquet.chunk_id(group, leaf),
                ColumnDictionary::new(Arc::new(values)),
            );
            if let Some(found) = found.get_mut(place) {
                *found = Some(cached);
            }
        }
        Ok(found)
    }

    /// The dictionary of a chunk of which `decoded` are the values, the same one for everybody.
    pub(crate) fn shared_dictionary(
        &self,
        chunk: ColumnChunkId,
        decoded: &ArrayRef,
    ) -> Arc<ColumnDictionary> {
        let known =
            self.cache.dictionary(chunk).filter(|known| known.values().len() == decoded.len());
        known.unwrap_or_else(|| {
            self.cache.get_or_insert_dictionary(chunk, ColumnDictionary::new(Arc::clone(decoded)))
        })
    }
}
