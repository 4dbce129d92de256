//! Memory that reads of scattered rows leave for the next ones: columns of row groups, decoded
//! whole, so that rows are taken from them by number. Text is held as numbers of one or two bytes
//! where a dictionary has all of it or values repeat. Pages of small reads are kept by
//! [`super::page_cache`].

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, UInt32Array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{
    ArrowDictionaryKeyType, DataType, Int32Type, SchemaRef, UInt8Type, UInt16Type,
};
use arrow::error::ArrowError;
use tokio::sync::OnceCell;
use yearbook_cache::Cache;

use super::dictionary::ColumnDictionary;
use super::footer::ColumnChunkId;
use super::page_cache::entry_weight;
use super::value_places::ValuePlaces;
use crate::StorageFailure;

/// Bytes of columns in memory. Default 320 MiB: ten columns of ten million rows, seven of text that
/// repeats and two of numbers, take 27 bytes a row.
pub(crate) const COLUMN_CACHE_BYTES: u64 = 320 << 20;

/// Mean length of text of which repeated values are looked for, bytes: longer text, geometry above
/// all, seldom repeats, and takes long to compare.
const MAX_REPEATED_BYTES: usize = 64;

/// A column of a row group.
#[derive(Clone)]
pub(crate) struct KeptColumn {
    pub(crate) rows: ArrayRef,
    /// Values and their rows, for searches; `None` of a column without a dictionary.
    search: Option<Arc<ColumnSearch>>,
}

/// Values of a column, as far as they are known.
#[derive(Default)]
struct ColumnSearch {
    /// Values that it was given here, each once; `None` for those of the file.
    values: Option<ColumnDictionary>,
    /// Rows of each value, once it has been searched often.
    places: OnceLock<ValuePlaces>,
    searches: AtomicU32,
}

/// Searches of a column for the rows of a value that are made by comparing all of its rows: finding
/// the rows of every value takes as long as some fifteen of them.
const COMPARING_SEARCHES: u32 = 16;

impl KeptColumn {
    /// A column with values of the file, or without.
    pub(crate) fn as_read(rows: ArrayRef) -> Self {
        Self { rows, search: None }
    }

    /// A column to be kept; `given` is set where its values are not those of the file.
    pub(super) fn new(rows: ArrayRef, given: bool) -> Self {
        let search = rows.as_any_dictionary_opt().map(|keyed| {
            let values = given.then(|| ColumnDictionary::new(Arc::clone(keyed.values())));
            Arc::new(ColumnSearch { values, ..ColumnSearch::default() })
        });
        Self { rows, search }
    }

    /// Rows of it in place of all.
    pub(crate) fn of_rows(&self, rows: ArrayRef) -> Self {
        Self { rows, search: self.search.clone() }
    }

    /// Values that it was given here, each once; `None` for those of the file, and for others.
    pub(crate) fn values(&self) -> Option<&ColumnDictionary> {
        self.search.as_ref()?.values.as_ref()
    }

    /// Rows of each value, if they are known.
    pub(crate) fn places(&self) -> Option<&ValuePlaces> {
        self.search.as_ref()?.places.get()
    }

    /// Counts a search; returns true at the one from which on the rows of each value are worth
    /// finding.
    pub(super) fn is_due(&self) -> bool {
        let count = |search: &Arc<ColumnSearch>| search.searches.fetch_add(1, Ordering::Relaxed);
        self.search.as_ref().map(count) == Some(COMPARING_SEARCHES)
    }

    /// Keeps the rows of each value.
    pub(super) fn set_places(&self, places: ValuePlaces) {
        if let Some(search) = &self.search {
            // Others may have been faster, with the same.
            let _ = search.places.set(places);
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        // Given values are those of the rows themselves.
        let beside = |values: &ColumnDictionary| {
            values.bytes().saturating_sub(values.values().get_buffer_memory_size())
        };
        column_bytes(&self.rows)
            + self.values().map_or(0, beside)
            + self.places().map_or(0, ValuePlaces::bytes)
    }
}

/// Columns of a row group, as far as they are here.
pub(super) struct KeptGroup(Box<[OnceCell<KeptColumn>]>);

impl KeptGroup {
    /// The column `leaf` of the file, if it is here.
    pub(super) fn column(&self, leaf: usize) -> Option<&KeptColumn> {
        self.0.get(leaf)?.get()
    }

    fn bytes(&self) -> usize {
        self.0.iter().filter_map(OnceCell::get).map(KeptColumn::bytes).sum()
    }
}

/// Columns of row groups, of all files. Those of a row group stay and go together.
pub(crate) struct ColumnCache {
    /// By number of the file and row group.
    groups: Cache<(u64, usize), Arc<KeptGroup>>,
    bytes: u64,
}

impl ColumnCache {
    /// Nothing yet; `bytes` at most.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &(u64, usize), group: &Arc<KeptGroup>| entry_weight(group.bytes());
        // A table is worth nothing by halves, and frequency would keep one out for long that is
        // asked for after a larger one was.
        Self { groups: Cache::weighted_by_recency(bytes, weigh), bytes }
    }

    /// Bytes that fit.
    pub(super) fn max_bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that are here.
    pub(crate) fn bytes(&self) -> u64 {
        self.groups.weight()
    }

    /// Waits until what does not fit is gone.
    #[cfg(test)]
    pub(crate) async fn settle(&self) {
        self.groups.settle().await;
    }

    /// Columns of a row group, if some are here.
    pub(super) async fn group(&self, file: u64, group: usize) -> Option<Arc<KeptGroup>> {
        self.groups.get(&(file, group)).await
    }

    /// A column: what `load` makes where it is not here, once for all that ask meanwhile; `None`
    /// where there was no room for it. `columns`: number of those of the file.
    pub(super) async fn get_or_load(
        &self,
        chunk: ColumnChunkId,
        columns: usize,
        load: impl Future<Output = Result<KeptColumn, LoadFailure>> + Send,
    ) -> Result<Option<KeptColumn>, StorageFailure> {
        let key = (chunk.file, chunk.group);
        let empty = async {
            let columns = (0..columns).map(|_| OnceCell::new());
            Ok::<_, Infallible>(Arc::new(KeptGroup(columns.collect())))
        };
        let group =
            self.groups.try_get_with(key, empty).await.unwrap_or_else(|never| match *never {});
        let Some(column) = group.0.get(chunk.leaf) else { return Ok(None) };
        let mut loaded = false;
        let load = async {
            loaded = true;
            load.await
        };
        match column.get_or_try_init(|| load).await {
            Ok(column) => {
                let column = column.clone();
                if loaded {
                    self.weigh(chunk, group).await;
                }
                Ok(Some(column))
            }
            Err(LoadFailure::NoRoom) => Ok(None),
            Err(LoadFailure::Storage(failure)) => Err(failure),
        }
    }

    /// Weighs the row group of `chunk` anew, which has more than before.
    async fn weigh(&self, chunk: ColumnChunkId, group: Arc<KeptGroup>) {
        self.groups.insert((chunk.file, chunk.group), group).await;
    }

    /// Keeps the rows of each value of a column that is here.
    pub(super) async fn keep_places(
        &self,
        chunk: ColumnChunkId,
        column: &KeptColumn,
        places: ValuePlaces,
    ) {
        column.set_places(places);
        if let Some(group) = self.group(chunk.file, chunk.group).await {
            self.weigh(chunk, group).await;
        }
    }
}

/// Reason for which a column was not loaded.
#[derive(Debug)]
pub(super) enum LoadFailure {
    /// Others hold the memory that it would take.
    NoRoom,
    /// It cannot be read.
    Storage(StorageFailure),
}

/// Bytes of a column with its dictionary, which nobody else may hold.
fn column_bytes(column: &ArrayRef) -> usize {
    match column.as_any_dictionary_opt() {
        Some(keyed) => {
            keyed.keys().get_buffer_memory_size() + keyed.values().get_buffer_memory_size()
        }
        None => column.get_buffer_memory_size(),
    }
}

/// Joins what was decoded of a column, one part after another, to what is kept of it. Parts of text
/// with a dictionary have the same one, except that those without a value may have none.
pub(super) fn join_parts(parts: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let keyed: Vec<_> =
        parts.iter().filter_map(|part| part.as_dictionary_opt::<Int32Type>()).collect();
    if keyed.is_empty() {
        let joined = concat(&parts.iter().map(|part| &**part).collect::<Vec<&dyn Array>>())?;
        return Ok(repeated_values(&joined).unwrap_or(joined));
    }
    let keys: Vec<&dyn Array> = keyed.iter().map(|part| part.keys() as &dyn Array).collect();
    let mut of_values = keyed.iter().filter(|part| part.null_count() < part.len());
    let Some(first) = of_values.next().or_else(|| keyed.first()) else {
        return Err(ArrowError::InvalidArgumentError("a column has no part".to_owned()));
    };
    let values = first.values();
    if !of_values.all(|part| part.values().to_data().ptr_eq(&values.to_data())) {
        let why = "a page has values that are not in the dictionary".to_owned();
        return Err(ArrowError::InvalidArgumentError(why));
    }
    let keys = concat(&keys)?;
    // As many bytes as the numbers of the values take.
    match values.len() {
        0..=0x100 => with_values::<UInt8Type>(&cast(&keys, &DataType::UInt8)?, values),
        0x101..=0x1_0000 => with_values::<UInt16Type>(&cast(&keys, &DataType::UInt16)?, values),
        _ => with_values::<Int32Type>(&keys, values),
    }
}

/// Short text of which values repeat, each of them once; `None` for other columns.
fn repeated_values(column: &ArrayRef) -> Option<ArrayRef> {
    let texts = column.as_string_opt::<i32>()?;
    if texts.values().len() / texts.len().max(1) > MAX_REPEATED_BYTES {
        return None;
    }
    let [keys, values] = [DataType::UInt16, DataType::Utf8].map(Box::new);
    // Fails for more values than such numbers.
    let keyed = cast(column, &DataType::Dictionary(keys, values)).ok()?;
    let values = keyed.as_any_dictionary_opt()?.values().len();
    (values <= texts.len() / 2).then_some(keyed)
}

fn with_values<K: ArrowDictionaryKeyType>(
    keys: &ArrayRef,
    values: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let keys = keys.as_primitive::<K>().clone();
    Ok(Arc::new(DictionaryArray::<K>::try_new(keys, Arc::clone(values))?))
}

/// Returns true where [`take_rows`] makes columns of the types of `to`, as decoding them does, of
/// the columns `leaves` that are kept in the types of `from`.
pub(super) fn is_convertible(from: &SchemaRef, to: &SchemaRef, leaves: &[usize]) -> bool {
    leaves.iter().all(|&leaf| {
        let [from, to] = [from, to].map(|schema| schema.fields().get(leaf));
        let types = from.zip(to).map(|(from, to)| (from.data_type(), to.data_type()));
        types.is_some_and(|(from, to)| {
            from == to || matches!(from, DataType::Dictionary(_, values) if **values == *to)
        })
    })
}

/// The rows `places` of a column that is kept, in the type `data_type`.
pub(crate) fn take_rows(
    column: &ArrayRef,
    places: &UInt32Array,
    data_type: &DataType,
) -> Result<ArrayRef, ArrowError> {
    let Some(keyed) = column.as_any_dictionary_opt() else { return take(column, places, None) };
    let keys = take(keyed.keys(), places, None)?;
    if data_type == keyed.values().data_type() {
        return take(keyed.values(), &keys, None);
    }
    with_values::<Int32Type>(&cast(&keys, &DataType::Int32)?, keyed.values())
}
