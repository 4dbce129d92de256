//! A package's data file, opened as its format has it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::Array as _;
use flate2::read::MultiGzDecoder;

use super::TableChunk;
use super::arrow_source;
use super::csv_source::CsvSource;
use super::plugin_source;
use super::source::{TableInput, TableSource, TableSourceError};
use crate::error::PublishError;
use crate::faults::FaultList;
use crate::package::{DataPackage, InputFormat};

/// Opens the package's file and looks at its header or schema.
pub(crate) fn open(
    package: &DataPackage,
    faults: &mut FaultList,
) -> Result<TableInput, PublishError> {
    let OpenFile { file: counted, size } = open_file(package)?;
    let position = Arc::clone(&counted.position);
    let opened = |source: Box<dyn TableSource>| TableInput {
        source,
        total: Some(size),
        position: Some(Arc::clone(&position)),
    };
    let columns = &package.columns;
    let budget = ByteBudget { limit: package.max_table_bytes, used: 0 };
    let bounded = |input: TableInput| TableInput {
        source: Box::new(BoundedSource { inner: input.source, budget }),
        ..input
    };
    match package.format {
        InputFormat::Csv => {
            CsvSource::new(counted, columns, faults).map(|source| opened(Box::new(source)))
        }
        InputFormat::CsvGzip => {
            let decoded = BoundedReader { inner: MultiGzDecoder::new(counted), budget };
            CsvSource::new(decoded, columns, faults).map(|source| opened(Box::new(source)))
        }
        InputFormat::Parquet => {
            arrow_source::open_parquet(counted.file, columns, faults).map(bounded)
        }
        InputFormat::Arrow => {
            arrow_source::open_ipc(counted.file, package.max_table_bytes, columns, faults)
                .map(bounded)
        }
        InputFormat::Other { .. } => {
            let reader = package.reader_source.as_ref();
            let missing = || TableSourceError("its reader is not known".to_owned());
            reader.ok_or_else(missing).and_then(|source| {
                let bytes = decoded(package, counted);
                let input = plugin_source::open(package, source, bytes, faults)?;
                Ok(bounded(opened(input.source)))
            })
        }
    }
    .map_err(|why| unreadable_error(package, why))
}

/// The package's file and its size in bytes.
struct OpenFile {
    file: CountingReader,
    size: u64,
}

fn open_file(package: &DataPackage) -> Result<OpenFile, PublishError> {
    let path: &Path = &package.data;
    let io = |source| PublishError::Io { doing: "read", path: path.to_owned(), source };
    let file = package.open_data().map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    Ok(OpenFile { file: CountingReader { file, position: Arc::default() }, size })
}

/// The bytes of a file that a reader reads, out of gzip where it is in it.
pub(crate) fn open_bytes(package: &DataPackage) -> Result<Box<dyn Read + Send>, PublishError> {
    Ok(decoded(package, open_file(package)?.file))
}

fn decoded(package: &DataPackage, file: CountingReader) -> Box<dyn Read + Send> {
    match package.format {
        InputFormat::Other { gzip: true } => {
            let budget = ByteBudget { limit: package.max_table_bytes, used: 0 };
            Box::new(BoundedReader { inner: MultiGzDecoder::new(file), budget })
        }
        _ => Box::new(file),
    }
}

/// The error for a file that failed while it was read.
pub(crate) fn unreadable_error(
    package: &DataPackage,
    TableSourceError(why): TableSourceError,
) -> PublishError {
    let format = match package.format {
        InputFormat::Other { .. } => {
            let source = package.reader_source.as_ref();
            let reader = source.and_then(|source| source.reader.as_ref());
            reader.map_or("its format", |reader| reader.title())
        }
        InputFormat::Csv => "CSV",
        InputFormat::CsvGzip => "gzipped CSV",
        InputFormat::Parquet => "Parquet",
        InputFormat::Arrow => "an Arrow IPC file or stream",
    };
    PublishError::Unreadable { path: package.data.clone(), format: format.to_owned(), why }
}

/// A file that tells how far it has been read.
struct CountingReader {
    file: File,
    position: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Bytes that a compressed table may expand to: a few kilobytes of gzip or Parquet can stand for
/// terabytes.
#[derive(Clone, Copy, Debug)]
struct ByteBudget {
    limit: u64,
    used: u64,
}

impl ByteBudget {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.used = self.used.saturating_add(bytes as u64);
        if self.used <= self.limit {
            return Ok(());
        }
        Err(format!("it expands to more than {} bytes (refresh.max_bytes)", self.limit))
    }
}

/// Decoded bytes within a budget.
struct BoundedReader<R> {
    inner: R,
    budget: ByteBudget,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.budget.spend(read).map_err(std::io::Error::other)?;
        Ok(read)
    }
}

/// Rows whose memory stays within a budget, for formats that compress inside.
struct BoundedSource {
    inner: Box<dyn TableSource>,
    budget: ByteBudget,
}

impl TableSource for BoundedSource {
    fn next(&mut self, faults: &mut FaultList) -> Result<Option<TableChunk>, TableSourceError> {
        let chunk = self.inner.next(faults)?;
        if let Some(chunk) = &chunk {
            // Of these rows alone: they may be a part of a larger batch, whose memory they share.
            let bytes = chunk
                .batch
                .columns()
                .iter()
                .map(|column| column.to_data().get_slice_memory_size().unwrap_or(usize::MAX));
            let bytes = bytes.fold(0, usize::saturating_add);
            self.budget.spend(bytes).map_err(TableSourceError)?;
        }
        Ok(chunk)
    }
}
