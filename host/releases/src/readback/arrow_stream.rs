//! Arrow's IPC stream, row by row, however it is cut into batches. What compressed buffers claim is
//! added up first, since a reader believes it.

use arrow::array::{Array, DynComparator, RecordBatch, make_comparator};
use arrow::compute::SortOptions;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;

use super::ValueComparison;
use crate::ipc_size_check::claimed_uncompressed_bytes;

/// Bytes that compressed buffers of a response may claim to have when they are not. Default
/// responses are made of 4 MiB of columns (`plugins.canary_bytes`); more than sixteen times that is
/// not read.
const CLAIMED_BYTES: u64 = 64 << 20;

pub(super) fn compare(one: &[u8], other: &[u8]) -> ValueComparison {
    if [one, other]
        .into_iter()
        .any(|stream| claimed_uncompressed_bytes(stream).is_none_or(|bytes| bytes > CLAIMED_BYTES))
    {
        return ValueComparison::Unsupported(format!(
            "it is no stream of Arrow, or claims to have more than {CLAIMED_BYTES} bytes when it is not compressed"
        ));
    }
    match rows(one, other) {
        Ok(None) => ValueComparison::Equal,
        Ok(Some(difference)) => ValueComparison::Different(difference),
        Err(error) => ValueComparison::Different(format!("it cannot be read: {error}")),
    }
}

fn rows(one: &[u8], other: &[u8]) -> Result<Option<String>, ArrowError> {
    let (mut ones, mut others) = (Rows::read(one)?, Rows::read(other)?);
    if ones.reader.schema().fields() != others.reader.schema().fields() {
        return Ok(Some("its schema has other columns, or other types of them".to_owned()));
    }
    let mut row = 0_usize;
    let mut comparators: Vec<DynComparator> = Vec::new();
    loop {
        let moved = [ones.advance()?, others.advance()?];
        let (one, other) = match (&ones.batch, &others.batch) {
            (Some(one), Some(other)) => (one, other),
            (None, None) => return Ok(None),
            (Some(_), None) => return Ok(Some(format!("it ends before row {row}"))),
            (None, Some(_)) => return Ok(Some(format!("it goes on at row {row}"))),
        };
        if moved.contains(&true) {
            let pairs = one.columns().iter().zip(other.columns());
            comparators = pairs
                .map(|(one, other)| make_comparator(one, other, SortOptions::default()))
                .collect::<Result<_, _>>()?;
        }
        let same = |comparator: &DynComparator| comparator(ones.at, others.at).is_eq();
        if let Some(column) = comparators.iter().position(|comparator| !same(comparator)) {
            let name = one.schema().field(column).name().clone();
            return Ok(Some(format!("another value in row {row}, column {}", super::quote(&name))));
        }
        (row, ones.at, others.at) = (row + 1, ones.at + 1, others.at + 1);
    }
}

/// Rows of a stream, of which one batch is held.
struct Rows<'a> {
    reader: StreamReader<&'a [u8]>,
    batch: Option<RecordBatch>,
    at: usize,
}

impl<'a> Rows<'a> {
    fn read(stream: &'a [u8]) -> Result<Self, ArrowError> {
        Ok(Self { reader: StreamReader::try_new(stream, None)?, batch: None, at: 0 })
    }

    /// Goes on to the next batch that has rows where the present one is at its end; whether it did.
    fn advance(&mut self) -> Result<bool, ArrowError> {
        let mut moved = false;
        while self
            .batch
            .as_ref()
            .is_none_or(|batch| batch.columns().first().map_or(0, |column| column.len()) <= self.at)
        {
            self.batch = self.reader.next().transpose()?;
            self.at = 0;
            moved = true;
            if self.batch.is_none() {
                break;
            }
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use arrow::ipc::CompressionType;
    use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    fn batch(numbers: &[Option<i64>]) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x"; numbers.len()]));
        RecordBatch::try_from_iter_with_nullable([("n", column, true), ("t", text, true)]).unwrap()
    }

    fn stream(batches: &[RecordBatch]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = StreamWriter::try_new(&mut out, &batches[0].schema()).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
        drop(writer);
        out
    }

    fn compressed(batch: &RecordBatch, kind: CompressionType) -> Vec<u8> {
        let mut out = Vec::new();
        let options = IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap();
        let mut writer =
            StreamWriter::try_new_with_options(&mut out, &batch.schema(), options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        out
    }

    #[test]
    fn rows_are_compared_however_they_are_cut_into_batches() {
        let whole = stream(&[batch(&[Some(1), None, Some(3)])]);
        let cut = stream(&[batch(&[Some(1)]), batch(&[]), batch(&[None, Some(3)])]);
        assert_eq!(compare(&whole, &cut), ValueComparison::Equal);
        let unlike = |other: &[RecordBatch], why: &str| {
            assert_eq!(compare(&whole, &stream(other)), ValueComparison::Different(why.to_owned()))
        };
        unlike(&[batch(&[Some(1), Some(0), Some(3)])], "another value in row 1, column `n`");
        unlike(&[batch(&[Some(1), None])], "it ends before row 2");
        unlike(&[batch(&[Some(1), None, Some(3), Some(4)])], "it goes on at row 3");
        assert!(matches!(
            compare(&whole, &whole[..whole.len() / 2]),
            ValueComparison::Unsupported(_)
        ));
        // Of two million characters, that few bytes are left.
        let many = RecordBatch::try_from_iter_with_nullable([(
            "t",
            Arc::new(StringArray::from(vec!["x".repeat(1000); 2000])) as ArrayRef,
            true,
        )]);
        let many = many.unwrap();
        let plain = stream(std::slice::from_ref(&many));
        for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let packed = compressed(&many, kind);
            assert!(packed.len() < plain.len() / 10);
            assert_eq!(compare(&plain, &packed), ValueComparison::Equal);
            let other = compressed(&many.slice(0, 1_999), kind);
            assert_eq!(
                compare(&plain, &other),
                ValueComparison::Different("it ends before row 1999".to_owned())
            );
            // The claim stands in front of the text: 2,000,000, and then all the memory that there
            // is.
            let claim =
                packed.windows(8).rposition(|bytes| bytes == 2_000_000_i64.to_le_bytes()).unwrap();
            let mut bomb = packed.clone();
            bomb[claim..claim + 8].copy_from_slice(&(i64::MAX / 2).to_le_bytes());
            assert!(matches!(compare(&plain, &bomb), ValueComparison::Unsupported(_)));
            bomb[claim..claim + 8].copy_from_slice(&1_000_000_i64.to_le_bytes());
            assert!(
                matches!(compare(&plain, &bomb), ValueComparison::Different(why) if why.contains("cannot be read"))
            );
        }
        let mut damaged = whole.clone();
        damaged[8..20].fill(0xee);
        assert!(matches!(compare(&whole, &damaged), ValueComparison::Unsupported(_)));
    }
}
