//! Formats that a dataset has: those whose encoder takes its columns (contract-9-formats). An
//! encoder says so in `open`; it is asked once for each snapshot, and its answer is kept. Pages,
//! their links and documents for machines list what this module returns. Never touches rows.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use quick_cache::sync::Cache;
use yearbook_domain::{Dataset, DatasetName, ReadPlan, SnapshotId};
use yearbook_sandbox::{GuestError, PluginEncoder, PluginSet, with_codes};
use yearbook_scan::Reader;
use yearbook_shares::CallerShare;

/// Snapshots in memory, of some 200 bytes each.
const ENTRIES: usize = 16_384;

/// Time after which an encoder that failed or had no room is asked again.
const PAUSE: Duration = Duration::from_secs(30);

/// Answers of encoders, by dataset, snapshot and set of encoders.
pub(crate) struct DatasetFormatCache(Cache<(DatasetName, SnapshotId, u64), Answers>);

#[derive(Clone)]
struct Answers {
    /// An answer for each encoder of rows, in the order of the set.
    taken: Arc<[bool]>,
    /// End of the answers; none: they hold as long as snapshot and encoders.
    until: Option<Instant>,
}

/// Encoders of the formats that one dataset has, in the order in which formats are listed.
pub(crate) type DatasetFormats = Arc<[Arc<PluginEncoder>]>;

/// Finder of the formats of datasets, for one request.
pub(crate) struct FormatFinder<'a> {
    cache: &'a DatasetFormatCache,
    reader: &'a Reader,
    /// Encoders of rows; pictures are no rows.
    encoders: DatasetFormats,
    set: u64,
    /// Encoders that this request does not ask again, since they failed or had no room.
    silent: Vec<bool>,
}

impl Default for DatasetFormatCache {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}

impl<'a> FormatFinder<'a> {
    /// A finder among the encoders of `plugins`.
    pub(crate) fn new(
        cache: &'a DatasetFormatCache,
        reader: &'a Reader,
        plugins: &PluginSet,
    ) -> Self {
        let rows = plugins.encoders().filter(|encoder| !encoder.description().is_picture());
        let encoders: DatasetFormats = rows.cloned().collect();
        let mut hasher = DefaultHasher::new();
        encoders.iter().for_each(|encoder| encoder.digest().hash(&mut hasher));
        let silent = vec![false; encoders.len()];
        Self { cache, reader, set: hasher.finish(), silent, encoders }
    }

    /// Formats in which the current snapshot of `dataset` can be sent whole, without options. One
    /// whose encoder gives no answer is among them: a failure is no refusal.
    pub(crate) async fn find(&mut self, dataset: &Dataset) -> DatasetFormats {
        let cache = &self.cache.0;
        let key = (dataset.name.clone(), dataset.current.id, self.set);
        cache.remove_if(&key, |answers| answers.until.is_some_and(|until| until < Instant::now()));
        let taken = match cache.get_value_or_guard_async(&key).await {
            Ok(answers) => answers.taken,
            Err(slot) => {
                let answers = Box::pin(self.ask(dataset)).await;
                // An entry that others pushed out meanwhile is asked for again.
                let _ = slot.insert(answers.clone());
                answers.taken
            }
        };
        let listed = self.encoders.iter().zip(taken.iter()).filter(|(_, taken)| **taken);
        listed.map(|(encoder, _)| Arc::clone(encoder)).collect()
    }

    /// Asks every encoder.
    async fn ask(&mut self, dataset: &Dataset) -> Answers {
        let plan = ReadPlan::full_scan(
            dataset.name.clone(),
            dataset.namespace.clone(),
            Arc::clone(&dataset.current),
        );
        let plain = known(Reader::schema(&plan));
        let told = |encoder: &Arc<PluginEncoder>| encoder.description().codes;
        let coded = if self.encoders.iter().any(told) {
            let coded = self.reader.coded_schema(&plan).await;
            known(coded.map(|(schema, codes)| with_codes(&schema, codes)))
        } else {
            plain.clone()
        };
        let mut taken = Vec::with_capacity(self.encoders.len());
        for place in 0..self.encoders.len() {
            let schema = if self.encoders.get(place).is_some_and(told) { &coded } else { &plain };
            taken.push(match schema {
                Some(schema) => self.is_taken(place, schema).await,
                None => true,
            });
        }
        let is_complete = plain.is_some() && coded.is_some() && !self.silent.contains(&true);
        let until = (!is_complete).then(|| Instant::now() + PAUSE);
        Answers { taken: taken.into(), until }
    }

    /// Returns false where the encoder at `place` declines the columns.
    async fn is_taken(&mut self, place: usize, schema: &SchemaRef) -> bool {
        let (Some(encoder), Some(false)) = (self.encoders.get(place), self.silent.get(place))
        else {
            return true;
        };
        let opened = encoder.check_open(&CallerShare::default(), Arc::clone(schema), &[]).await;
        match opened {
            Ok(()) => true,
            Err(GuestError::Declined(_) | GuestError::InvalidOption(_)) => false,
            Err(failure) => {
                let format = &encoder.description().format;
                tracing::warn!(format, %failure, "cannot tell whether a dataset has a format");
                // No room is the same for all of them.
                let all = matches!(failure, GuestError::Busy { .. } | GuestError::ShareUsedUp);
                for (other, silent) in self.silent.iter_mut().enumerate() {
                    *silent |= all || other == place;
                }
                true
            }
        }
    }
}

/// The schema, where it can be told.
fn known(schema: Result<SchemaRef, impl Display>) -> Option<SchemaRef> {
    let complain = |failure: &_| {
        tracing::error!(%failure, "cannot tell the formats of a dataset");
    };
    schema.inspect_err(complain).ok()
}

/// Returns a number that differs where the names or the media types of formats do.
pub(crate) fn version(lists: &[DatasetFormats]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for formats in lists {
        for description in formats.iter().map(|encoder| encoder.description()) {
            (&description.format, description.essence()).hash(&mut hasher);
        }
        hasher.write_usize(formats.len());
    }
    hasher.finish()
}
