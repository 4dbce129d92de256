//! Reading, storing, caching, the catalog and the workers: what their crates have counted.

use std::fmt;
use std::time::Duration;

use super::exposition::MetricsWriter;
use crate::Core;
use crate::open_responses::CutReason;

/// Counters of a cache that a room has.
#[derive(Clone, Copy, Debug)]
pub struct RoomCache {
    /// Value of the label `cache`.
    pub name: &'static str,
    /// Entries that were in memory when they were asked for.
    pub hits: u64,
    /// Entries that were not.
    pub misses: u64,
    /// Memory that the cache takes.
    pub bytes: u64,
}

/// Writes what the services have counted, and the `room_caches`.
pub(super) fn write(
    state: &Core,
    room_caches: &[RoomCache],
    sheet: &mut MetricsWriter<'_>,
) -> fmt::Result {
    open_responses(state, sheet)?;
    reading(state, sheet)?;
    caches(state, room_caches, sheet)?;
    catalog(state, sheet)?;
    workers(state, sheet)
}

fn open_responses(state: &Core, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let bodies = &state.open_responses;
    let (slots, bytes) = (bodies.slots(), bodies.callers().bytes());
    let open = slots.total() - slots.free();
    sheet.gauge(
        "yearbook_http_responses_open",
        "Responses that are made or whose body has not ended.",
        [(vec![], open)],
    )?;
    let help = "Responses that may be open at once (server.open_responses).";
    sheet.gauge("yearbook_http_responses_open_limit", help, [(vec![], slots.total())])?;
    let help = "Bytes of bodies that lie in memory and wait for their clients.";
    sheet.gauge("yearbook_http_body_bytes", help, [(vec![], bytes.used())])?;
    let help = "Bytes of bodies that may lie in memory (server.body_bytes).";
    sheet.gauge("yearbook_http_body_bytes_limit", help, [(vec![], bytes.total())])?;
    let cut = CutReason::ALL.map(|reason| (vec![("reason", reason.name())], bodies.cut(reason)));
    sheet.counter(
        "yearbook_http_bodies_cut",
        "Bodies that were cut because their client was too slow, by what it did.",
        cut,
    )?;
    let at_share =
        [("responses", slots), ("instances", state.sandbox.slots())].map(|(resource, slots)| {
            let (keys, addresses) = bodies.callers().exhausted_counts(slots);
            [("key", keys), ("address", addresses)]
                .map(|(caller, count)| (vec![("resource", resource), ("caller", caller)], count))
        });
    let help = "Keys and addresses that hold all of their share now, of the resource or of the bytes of bodies.";
    sheet.gauge("yearbook_http_callers_at_share", help, at_share.into_iter().flatten())?;
    let [share, full] = bodies.refusal_counts();
    let refused = [(vec![("reason", "share")], share), (vec![("reason", "full")], full)];
    sheet.counter(
        "yearbook_http_responses_refused",
        "Responses refused before they were made, by what was used up.",
        refused,
    )
}

fn reading(state: &Core, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let read = state.reader.counts();
    let mut counter = |name, help, value: u64| sheet.counter(name, help, [(vec![], value)]);
    counter("yearbook_query_scans", "Scans begun.", read.scans)?;
    counter(
        "yearbook_query_pages_decoded",
        "Pages decoded for small reads; large reads are not counted by page.",
        read.pages,
    )?;
    counter(
        "yearbook_query_page_bytes_decoded",
        "Bytes of the pages decoded for small reads, once decoded.",
        read.page_bytes,
    )?;
    counter(
        "yearbook_query_column_rows_decoded",
        "Rows of columns decoded whole, of which requests want rows that lie apart.",
        read.column_rows,
    )?;
    counter(
        "yearbook_query_row_groups_searched",
        "Row groups that a text was looked for in.",
        read.groups_searched,
    )?;
    counter(
        "yearbook_query_row_groups_ruled_out",
        "Row groups searched whose dictionaries told that the text is not there, so that none of their rows was read.",
        read.groups_ruled_out,
    )?;
    counter(
        "yearbook_query_dictionary_values_searched",
        "Dictionary values that a text was looked for in.",
        read.values_searched,
    )?;
    counter(
        "yearbook_query_rows_searched",
        "Rows that a text was looked for in.",
        read.rows_searched,
    )?;
    let storage = state.storage.counts();
    counter("yearbook_storage_reads", "Reads of stored files.", storage.reads)?;
    counter(
        "yearbook_storage_read_bytes",
        "Bytes read of stored files, whole blocks.",
        storage.bytes,
    )?;
    counter(
        "yearbook_storage_read_failures",
        "Reads of stored files that failed: missing, damaged or refused.",
        storage.failures,
    )?;
    counter(
        "yearbook_storage_requests",
        "Requests to a store on the network, every attempt by itself.",
        storage.requests,
    )?;
    counter(
        "yearbook_storage_request_failures",
        "Requests to a store on the network that were answered by 5xx or 429, or not at all; most are made again.",
        storage.failed_requests,
    )
}

fn caches(state: &Core, room_caches: &[RoomCache], sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let read = state.reader.counts();
    let caches = [
        ("pages", read.kept_pages),
        ("columns", read.kept_columns),
        ("dictionaries", read.kept_dictionaries),
        ("footers", read.kept_footers),
    ];
    let caches = caches.map(|(cache, caches)| (cache, caches.hits, caches.misses, caches.bytes));
    let of_rooms =
        room_caches.iter().map(|cache| (cache.name, cache.hits, cache.misses, cache.bytes));
    let all: Vec<_> = of_rooms.chain(caches).collect();
    let of = |value: fn(&(&'static str, u64, u64, u64)) -> u64| {
        all.iter().map(move |row| (vec![("cache", row.0)], value(row)))
    };
    sheet.counter(
        "yearbook_cache_hits",
        "What was in memory when it was wanted.",
        of(|row| row.1),
    )?;
    sheet.counter(
        "yearbook_cache_misses",
        "What was not in memory when it was wanted.",
        of(|row| row.2),
    )?;
    sheet.gauge("yearbook_cache_bytes", "Memory that a cache takes.", of(|row| row.3))
}

fn catalog(state: &Core, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let followed = state.catalog_cache.counts();
    sheet.gauge(
        "yearbook_catalogue_up",
        "1 while the database answers, else 0.",
        [(vec![], u64::from(state.catalog_cache.healthy()))],
    )?;
    sheet.gauge(
        "yearbook_catalogue_datasets",
        "Datasets that are served.",
        [(vec![], state.catalog_cache.datasets().len())],
    )?;
    sheet.gauge(
        "yearbook_catalogue_revision",
        "Revision of the catalog in memory.",
        [(vec![], state.catalog_cache.database_revision())],
    )?;
    sheet.gauge(
        "yearbook_catalogue_age_seconds",
        "How long ago the catalog in memory was last known to be that of the database.",
        [(vec![], followed.age.as_secs_f64())],
    )?;
    if let Some(reading) = state.catalog_cache.clock_reading() {
        let offset = reading.least.0 - yearbook_catalog::clock::now().0;
        let seconds = Duration::from_millis(offset.unsigned_abs()).as_secs_f64();
        sheet.gauge(
            "yearbook_database_clock_offset_seconds",
            "By how much the database's clock is ahead of this machine's, at least.",
            [(vec![], if offset < 0 { -seconds } else { seconds })],
        )?;
        sheet.gauge(
            "yearbook_database_clock_uncertainty_seconds",
            "By how much more it may be: releases at an instant are this late at most.",
            [(vec![], reading.uncertainty.as_secs_f64())],
        )?;
    }
    sheet.counter(
        "yearbook_catalog_polls",
        "Polls of the database for changes.",
        [(vec![], followed.polls)],
    )?;
    sheet.counter(
        "yearbook_catalog_poll_failures",
        "Polls of the database that failed.",
        [(vec![], followed.failures)],
    )?;
    sheet.counter(
        "yearbook_catalog_poll_seconds",
        "Time that polls of the database took, reading again included.",
        [(vec![], followed.time.as_secs_f64())],
    )
}

fn workers(state: &Core, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let load = state.workers.load();
    sheet.gauge(
        "yearbook_workers_threads",
        "Threads of each kind that decode, encode, compress and hash.",
        [(vec![], load.threads)],
    )?;
    sheet.gauge(
        "yearbook_workers_busy",
        "Workers of both kinds with a job.",
        [(vec![], load.busy)],
    )?;
    sheet.gauge(
        "yearbook_workers_queue",
        "Queued jobs: new, of responses that have just begun, and continuations of longer ones.",
        [
            (vec![("queue", "new")], load.new_jobs),
            (vec![("queue", "continuation")], load.continuations),
        ],
    )
}
