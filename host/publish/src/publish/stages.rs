//! The steps of publishing. Each hands small jobs to the workers and tells progress in between;
//! reading a local file on a worker is meant, since decoding it is the greater part by far.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use yearbook_domain::{Column, PreviewFacts, SnapshotId};
use yearbook_scan::schema::{credit_entries, unchecked_schema};
use yearbook_workers::Workers;

use crate::error::PublishError;
use crate::faults::FaultList;
use crate::package::DataPackage;
use crate::preview_facts::{TablePass, TableShape};
use crate::progress::ProgressReporter;
use crate::snapshot_id::SnapshotIdHasher;
use crate::table::check::{TableChecker, TableFacts};
use crate::table::{PackageTable, RowBlock, RowOrder, open, plugin_source, row_blocks, unique};
use crate::write::{SnapshotFileMetadata, SnapshotWriter};

/// Adds what a reader's file tells of its columns.
pub(super) async fn complete(
    workers: &Workers,
    package: Arc<DataPackage>,
) -> Result<Arc<DataPackage>, PublishError> {
    if package.reader_source.is_none() {
        return Ok(package);
    }
    run_on_worker(workers, "reading the columns", move || plugin_source::complete(&package)).await?
}

/// Reads and checks every row.
pub(super) async fn read(
    workers: &Workers,
    package: &Arc<DataPackage>,
    progress: &dyn ProgressReporter,
) -> Result<(PackageTable, TableFacts), PublishError> {
    let mut faults = FaultList::new(package.columns.iter().map(|column| column.name.clone()));
    let shared = Arc::clone(package);
    let job = move || open::open(&shared, &mut faults).map(|opened| (opened, faults));
    let (opened, mut faults) = run_on_worker(workers, "opening the table", job).await??;
    progress.stage("reading and checking", opened.total);
    let (mut input, position) = (opened.source, opened.position);
    let mut table = PackageTable { schema: unchecked_schema(&package.columns), chunks: Vec::new() };
    let mut checker = TableChecker::new(package);
    let mut told = 0;
    loop {
        let job = move || {
            let chunk = input.next(&mut faults);
            if let Ok(Some(chunk)) = &chunk {
                checker.check(chunk, &mut faults);
            }
            (input, checker, faults, chunk)
        };
        let chunk;
        (input, checker, faults, chunk) = run_on_worker(workers, "reading the table", job).await?;
        let Some(chunk) = chunk.map_err(|why| open::unreadable_error(package, why))? else {
            break;
        };
        let now = position.as_ref().map_or(told + chunk.batch.num_rows() as u64, |position| {
            position.load(Ordering::Relaxed)
        });
        progress.advance(now - told);
        told = now;
        table.chunks.push(chunk);
    }
    let key = column_positions(package, &package.primary_key);
    if faults.is_clean(&key) {
        let job = move || {
            let result = unique::check(&table, &key, &mut faults);
            result.map(|()| (table, faults))
        };
        (table, faults) = run_on_worker(workers, "checking the primary key", job)
            .await?
            .map_err(internal_error("checking the primary key"))?;
    }
    checker.finish_checks(&mut faults);
    if !faults.is_empty() {
        return Err(faults.into_error(&package.data));
    }
    Ok((table, checker.finish()))
}

/// The table with the order of its rows and the cuts of its file.
pub(super) struct OrderedTable {
    pub(super) table: PackageTable,
    order: RowOrder,
    blocks: Vec<RowBlock>,
}

impl OrderedTable {
    fn gather_block(&self, block: usize) -> Result<RecordBatch, ArrowError> {
        self.blocks.get(block).map_or_else(
            || Ok(RecordBatch::new_empty(Arc::clone(&self.table.schema))),
            |block| row_blocks::gather_rows(&self.table, &self.order, block),
        )
    }

    fn gather_columns(&self, block: usize, columns: &[usize]) -> Result<RecordBatch, ArrowError> {
        match self.blocks.get(block) {
            Some(block) => row_blocks::gather_columns(&self.table, &self.order, block, columns),
            None => RecordBatch::new_empty(Arc::clone(&self.table.schema)).project(columns),
        }
    }
}

/// Puts the rows in order and decides where the file is cut.
pub(super) async fn arrange(
    workers: &Workers,
    package: &DataPackage,
    table: PackageTable,
    progress: &dyn ProgressReporter,
) -> Result<Arc<OrderedTable>, PublishError> {
    const STAGE: &str = "sorting";
    progress.stage(STAGE, None);
    let columns = sort_columns(package);
    let job = move || {
        let order = RowOrder::sort_by(&table, &columns)?;
        let blocks = row_blocks::cut(&table, &order);
        Ok::<_, ArrowError>(Arc::new(OrderedTable { table, order, blocks }))
    };
    run_on_worker(workers, STAGE, job).await?.map_err(internal_error(STAGE))
}

/// Computes the snapshot id.
pub(super) async fn compute_id(
    workers: &Workers,
    package: &DataPackage,
    arranged: &Arc<OrderedTable>,
    progress: &dyn ProgressReporter,
) -> Result<SnapshotId, PublishError> {
    const STAGE: &str = "identifying";
    progress.stage(STAGE, Some(arranged.table.rows()));
    let mut identity = SnapshotIdHasher::new(package.columns.len());
    for (index, block) in arranged.blocks.iter().enumerate() {
        let shared = Arc::clone(arranged);
        let job = move || {
            identity.update(&shared.gather_block(index)?);
            Ok::<_, ArrowError>(identity)
        };
        identity = run_on_worker(workers, STAGE, job).await?.map_err(internal_error(STAGE))?;
        progress.advance(block.rows.len() as u64);
    }
    Ok(identity.finish(package))
}

/// Writes the file to the temporary folder, without a name there: a process that is killed leaves
/// nothing behind. `columns` are the package's, with `few_values` decided. The rows that are
/// written are counted on the way.
pub(super) async fn write(
    workers: &Workers,
    package: &DataPackage,
    columns: &[Column],
    id: &SnapshotId,
    arranged: &Arc<OrderedTable>,
    progress: &dyn ProgressReporter,
) -> Result<(File, TablePass), PublishError> {
    const STAGE: &str = "writing";
    progress.stage(STAGE, Some(arranged.table.rows()));
    let folder = std::env::temp_dir();
    let io = |source| PublishError::Io {
        doing: "write a temporary file in",
        path: folder.clone(),
        source,
    };
    let temporary = tempfile::tempfile().map_err(io)?;
    let file = temporary.try_clone().map_err(io)?;
    let description = SnapshotFileMetadata {
        columns,
        sorted_by: &sort_columns(package),
        words: credit_entries(&package.name, &package.namespace, id, &package.credit),
    };
    let mut writer = SnapshotWriter::new(file, &description).map_err(internal_error(STAGE))?;
    let shape = TableShape::of_package(package, arranged.table.rows());
    let mut counted = TablePass::new(shape).map_err(internal_error(STAGE))?;
    for (index, block) in arranged.blocks.iter().enumerate() {
        let (shared, ends_group) = (Arc::clone(arranged), block.ends_group);
        let job = move || {
            let rows = shared.gather_block(index).map_err(internal_error(STAGE))?;
            counted.update(&rows).map_err(internal_error(STAGE))?;
            writer.append(&rows, ends_group).map_err(internal_error(STAGE))?;
            Ok::<_, PublishError>((writer, counted))
        };
        (writer, counted) = run_on_worker(workers, STAGE, job).await??;
        progress.advance(block.rows.len() as u64);
    }
    run_on_worker(workers, STAGE, move || writer.finish()).await?.map_err(internal_error(STAGE))?;
    Ok((temporary, counted))
}

/// Draws the lines of previews, reading again the columns that they need.
pub(super) async fn draw_lines(
    workers: &Workers,
    counted: TablePass,
    arranged: &Arc<OrderedTable>,
    progress: &dyn ProgressReporter,
) -> Result<PreviewFacts, PublishError> {
    const STAGE: &str = "summarising";
    progress.stage(STAGE, Some(arranged.table.rows()));
    let mut lines = run_on_worker(workers, STAGE, move || counted.finish())
        .await?
        .map_err(internal_error(STAGE))?;
    if lines.columns().is_empty() {
        progress.advance(arranged.table.rows());
    } else {
        for index in 0..arranged.blocks.len() {
            let shared = Arc::clone(arranged);
            let job = move || {
                lines.update(&shared.gather_columns(index, lines.columns())?)?;
                Ok::<_, ArrowError>(lines)
            };
            lines = run_on_worker(workers, STAGE, job).await?.map_err(internal_error(STAGE))?;
            progress.advance(arranged.blocks.get(index).map_or(0, |block| block.rows.len() as u64));
        }
    }
    run_on_worker(workers, STAGE, move || lines.finish()).await?.map_err(internal_error(STAGE))
}

/// Date column, then primary key (contract-3-order), as positions.
fn sort_columns(package: &DataPackage) -> Vec<usize> {
    let mut names: Vec<String> = package.date_column.iter().cloned().collect();
    names.extend(
        package
            .primary_key
            .iter()
            .filter(|name| package.date_column.as_ref() != Some(name))
            .cloned(),
    );
    column_positions(package, &names)
}

fn column_positions(package: &DataPackage, names: &[String]) -> Vec<usize> {
    names
        .iter()
        .filter_map(|name| package.columns.iter().position(|column| column.name == *name))
        .collect()
}

async fn run_on_worker<T: Send + 'static>(
    workers: &Workers,
    stage: &'static str,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PublishError> {
    workers.run(job).await.map_err(internal_error(stage))
}

fn internal_error<E: std::fmt::Display>(stage: &'static str) -> impl Fn(E) -> PublishError {
    move |why| PublishError::Internal { stage, why: why.to_string() }
}
