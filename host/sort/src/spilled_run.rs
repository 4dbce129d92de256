//! A run on disk: one Arrow IPC file, compressed, in the temporary folder. It has no name there, so
//! a process that is killed leaves nothing behind.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions};

use crate::batch_sizes::batch_bytes;
use crate::error::SortError;

/// Bytes of the buffers in front of a file.
const FILE_BUFFER_BYTES: usize = 64 << 10;

/// Sorted rows on disk.
pub(super) struct SpilledRun {
    file: Arc<File>,
    largest_batch: usize,
}

/// Batches of a run, read one by one.
pub(super) type SpilledBatches = FileReader<BufReader<FileCursor>>;

impl SpilledRun {
    /// Bytes of the largest batch in memory.
    pub(super) fn largest_batch(&self) -> usize {
        self.largest_batch
    }

    /// Starts reading the columns `columns` (positions, ascending).
    pub(super) fn read(&self, columns: Vec<usize>) -> Result<SpilledBatches, SortError> {
        let cursor = FileCursor { file: Arc::clone(&self.file), position: 0 };
        let buffered = BufReader::with_capacity(FILE_BUFFER_BYTES, cursor);
        Ok(FileReader::try_new(buffered, Some(columns))?)
    }
}

/// A run being written.
pub(super) struct SpilledRunWriter {
    writer: FileWriter<BufWriter<File>>,
    largest_batch: usize,
}

impl SpilledRunWriter {
    pub(super) fn new(schema: &Schema) -> Result<Self, SortError> {
        let file = BufWriter::with_capacity(FILE_BUFFER_BYTES, tempfile::tempfile()?);
        let options =
            IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
        let writer = FileWriter::try_new_with_options(file, schema, options)?;
        Ok(Self { writer, largest_batch: 0 })
    }

    /// Appends the next rows.
    pub(super) fn append(&mut self, rows: &RecordBatch) -> Result<(), SortError> {
        self.largest_batch = self.largest_batch.max(batch_bytes(rows));
        Ok(self.writer.write(rows)?)
    }

    /// The run; its file lives as long as it.
    pub(super) fn finish(mut self) -> Result<SpilledRun, SortError> {
        self.writer.finish()?;
        let buffer = self.writer.into_inner()?;
        let file = buffer.into_inner().map_err(|error| SortError::Io(error.into_error()))?;
        Ok(SpilledRun { file: Arc::new(file), largest_batch: self.largest_batch })
    }
}

/// A place in a file that others read too: reading moves no one else's place.
pub(super) struct FileCursor {
    file: Arc<File>,
    position: u64,
}

impl Read for FileCursor {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for FileCursor {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let (base, offset) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::Current(offset) => (self.position, offset),
            SeekFrom::End(offset) => (self.file.metadata()?.len(), offset),
        };
        let outside =
            || std::io::Error::new(std::io::ErrorKind::InvalidInput, "before the file begins");
        self.position = base.checked_add_signed(offset).ok_or_else(outside)?;
        Ok(self.position)
    }
}
