//! Reading, checking and sorting the rows of a package: chunks pass one after the other, and what
//! does not fit into memory is spilled to sorted runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use yearbook_domain::Column;
use yearbook_scan::schema::unchecked_schema;
use yearbook_sort::{ExternalSorter, SortedRows};
use yearbook_workers::Workers;

use super::{internal_error, run_on_worker, sort_error};
use crate::error::PublishError;
use crate::faults::FaultList;
use crate::memory_budget::PublishMemory;
use crate::package::DataPackage;
use crate::progress::ProgressReporter;
use crate::table::check::{TableChecker, TableFacts};
use crate::table::numbered_rows::{number_rows, numbered_schema};
use crate::table::unique::KeyOrder;
use crate::table::{TableChunk, open, unique};

/// Reads, checks and sorts every row. The sorted rows have their number in the input behind their
/// columns.
pub(in crate::publish) async fn read(
    workers: &Workers,
    package: &Arc<DataPackage>,
    memory: PublishMemory,
    progress: &dyn ProgressReporter,
) -> Result<(Arc<SortedRows>, TableFacts), PublishError> {
    const STAGE: &str = "reading and checking";
    let mut faults = FaultList::hiding_secrets(&package.columns);
    let shared = Arc::clone(package);
    let job = move || open::open(&shared, &mut faults).map(|opened| (opened, faults));
    let (opened, mut faults) = run_on_worker(workers, "opening the table", job).await??;
    progress.stage(STAGE, opened.total);
    let (mut input, position) = (opened.source, opened.position);
    let key = column_positions(&package.columns, &package.primary_key);
    let schema = unchecked_schema(&package.columns);
    let numbered = numbered_schema(&schema);
    let mut sorter = ExternalSorter::new(
        Arc::clone(&numbered),
        &package.words(&package.columns).sorted_by(),
        memory.table_bytes(),
    )
    .map_err(sort_error(STAGE))?;
    let mut keys = KeyOrder::new(&schema, &key).map_err(internal_error(STAGE))?;
    let mut checker = TableChecker::new(package);
    let mut told = 0;
    loop {
        let schema = Arc::clone(&numbered);
        let job = move || {
            let chunk = input.next(&mut faults);
            let mut rows = None;
            if let Ok(Some(chunk)) = &chunk {
                checker.check(chunk, &mut faults);
                rows = Some(prepare_rows(chunk, &mut keys, &schema));
            }
            (input, checker, keys, faults, chunk.map(|_| rows))
        };
        let rows;
        (input, checker, keys, faults, rows) = run_on_worker(workers, STAGE, job).await?;
        let Some(rows) = rows.map_err(|why| open::unreadable_error(package, why))? else {
            break;
        };
        let rows = rows.map_err(internal_error(STAGE))?;
        let now = position
            .as_ref()
            .map_or(told + rows.num_rows() as u64, |position| position.load(Ordering::Relaxed));
        progress.advance(now - told);
        told = now;
        // Rows that nobody will ask for again are not kept: faults are found chunk by chunk, but
        // for repeated keys.
        if faults.is_empty() || (!key.is_empty() && faults.is_clean(&key)) {
            sorter.push(rows);
        }
        if sorter.is_full() {
            sorter = spill(workers, sorter, progress).await?;
            progress.stage(STAGE, opened.total);
            progress.advance(told);
        }
    }
    let keys_may_repeat = !key.is_empty() && faults.is_clean(&key) && !keys.is_strictly_ascending();
    let mut sorted = None;
    if faults.is_empty() || keys_may_repeat {
        let rows = sort(workers, sorter, progress).await?;
        if keys_may_repeat {
            let budget = memory.key_bytes();
            faults = check_keys(workers, &rows, (key, budget), faults, progress).await?;
        }
        sorted = Some(rows);
    }
    checker.finish_checks(&mut faults);
    match sorted {
        Some(rows) if faults.is_empty() => Ok((rows, checker.finish())),
        _ => Err(faults.into_error(&package.data)),
    }
}

/// The rows of a chunk as they are sorted, in [`numbered_schema`].
fn prepare_rows(
    chunk: &TableChunk,
    keys: &mut KeyOrder,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let rows = keys.unsign_zeros(&chunk.batch)?;
    keys.update(&rows)?;
    number_rows(chunk.first_row, &rows, schema)
}

/// Reports rows that repeat the key (positions), which are looked for within a budget of bytes.
async fn check_keys(
    workers: &Workers,
    rows: &Arc<SortedRows>,
    (key, budget): (Vec<usize>, usize),
    mut faults: FaultList,
    progress: &dyn ProgressReporter,
) -> Result<FaultList, PublishError> {
    const STAGE: &str = "checking the primary key";
    progress.stage(STAGE, None);
    let shared = Arc::clone(rows);
    let job = move || unique::check(&shared, &key, budget, &mut faults).map(|()| faults);
    run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))
}

/// Writes the rows in memory as a sorted run.
async fn spill(
    workers: &Workers,
    mut sorter: ExternalSorter,
    progress: &dyn ProgressReporter,
) -> Result<ExternalSorter, PublishError> {
    const STAGE: &str = "sorting";
    progress.stage(&format!("sorting into run {}", sorter.spilled_runs() + 1), None);
    let job = move || sorter.spill().map(|()| sorter);
    run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))
}

/// Puts all rows in order.
async fn sort(
    workers: &Workers,
    sorter: ExternalSorter,
    progress: &dyn ProgressReporter,
) -> Result<Arc<SortedRows>, PublishError> {
    const STAGE: &str = "sorting";
    progress.stage(STAGE, None);
    let sorted = run_on_worker(workers, STAGE, move || sorter.finish()).await?;
    Ok(Arc::new(sorted.map_err(sort_error(STAGE))?))
}

fn column_positions(columns: &[Column], names: &[String]) -> Vec<usize> {
    let position = |name: &String| columns.iter().position(|column| column.name == *name);
    names.iter().filter_map(position).collect()
}
