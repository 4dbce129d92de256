//! Runs a reader natively as the host would, and checks it against the list of things that every
//! reader must hold: the same rows however the file comes in pieces, and a refusal with a place, or
//! rows, for whatever is cut off or damaged.

use crate::reader::reading::ReadingDriver;
use crate::reader::{ColumnRequest, ReadColumn, ReadRefusal, ReadType};
use crate::wire::RawRows;
use crate::{Options, Reader, Value, reader};

/// Bytes of a chunk, as the host pushes them.
const CHUNK_BYTES: usize = 256 << 10;

/// A file, read.
///
/// ```
#[doc = include_str!("example_reader.txt")]
/// use yearbook_sdk::testing::reading;
///
/// let table = reading::read::<Lines>(b"north\n", &[], &[])?;
/// assert_eq!(table.columns[0].name, "line");
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReadTable {
    /// The columns.
    pub columns: Vec<ReadColumn>,
    /// The rows; each value as Rust prints it, none for a null.
    pub rows: Vec<Vec<Option<String>>>,
}

impl ReadTable {
    /// The values of a column.
    ///
    /// ```
    #[doc = include_str!("example_reader.txt")]
    /// use yearbook_sdk::testing::reading;
    ///
    /// let table = reading::read::<Lines>(b"north\nsouth\n", &[], &[])?;
    /// assert_eq!(table.column("line"), [Some("north"), Some("south")]);
    /// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> Vec<Option<&str>> {
        let at = self.columns.iter().position(|column| column.name == name);
        let at = at.unwrap_or_else(|| panic!("there is no column {name}"));
        self.rows.iter().map(|row| row[at].as_deref()).collect()
    }
}

/// Reads a file whole.
///
/// ```
#[doc = include_str!("example_reader.txt")]
/// use yearbook_sdk::testing::reading;
///
/// assert_eq!(reading::read::<Lines>(b"north\n", &[], &[])?.rows.len(), 1);
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
///
/// # Errors
/// As the reader refuses it.
pub fn read<R: Reader>(
    file: &[u8],
    requests: &[ColumnRequest],
    options: &[(&str, Value)],
) -> Result<ReadTable, ReadRefusal> {
    read_in_chunks::<R>(file, CHUNK_BYTES, requests, options)
}

/// Reads a file in chunks of so many bytes.
///
/// ```
#[doc = include_str!("example_reader.txt")]
/// use yearbook_sdk::testing::reading;
///
/// let file = b"north\nsouth\n";
/// let pieces = reading::read_in_chunks::<Lines>(file, 3, &[], &[])?;
/// assert_eq!(pieces, reading::read::<Lines>(file, &[], &[])?);
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
///
/// # Errors
/// As the reader refuses it.
///
/// # Panics
/// Panics when the reader knows no columns at the end of the file.
pub fn read_in_chunks<R: Reader>(
    file: &[u8],
    bytes: usize,
    requests: &[ColumnRequest],
    options: &[(&str, Value)],
) -> Result<ReadTable, ReadRefusal> {
    let mut reading = ReadingDriver::<R>::open(requests, &chosen::<R>(options))?;
    let mut rows = Vec::new();
    let mut chunks = file.chunks(bytes.max(1)).peekable();
    loop {
        let chunk = chunks.next().unwrap_or_default();
        let last = chunks.peek().is_none();
        reading.push(chunk, last)?;
        while let Some(batch) = reading.pull()? {
            let columns = reading.columns().expect("rows come after the columns are known");
            add_rows(&columns, &batch, &mut rows);
        }
        if last {
            let columns = reading.columns().expect("columns are known after the last bytes");
            return Ok(ReadTable { columns, rows });
        }
    }
}

/// A request for a column of that name and type, which the reader finds by its name.
///
/// ```
#[doc = include_str!("example_reader.txt")]
/// use yearbook_sdk::testing::reading;
///
/// use yearbook_sdk::reader::RequestedType;
///
/// let wanted = [reading::request("line", RequestedType::Text)];
/// assert_eq!(reading::read::<Lines>(b"north\n", &wanted, &[])?.columns.len(), 1);
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
#[must_use]
pub fn request(name: &str, requested_type: reader::RequestedType) -> ColumnRequest {
    ColumnRequest { name: name.to_owned(), source: None, requested_type }
}

/// Checks a reader by its own example: it is read, gives the same rows in pieces of any size, and
/// neither what is cut off nor what is damaged makes it panic.
///
/// ```
#[doc = include_str!("example_reader.txt")]
/// use yearbook_sdk::testing::reading;
///
/// reading::check::<Lines>();
/// ```
///
/// # Panics
/// Panics when the reader breaks one of these.
pub fn check<R: Reader>() {
    let example = R::describe().example;
    let whole = read::<R>(example, &[], &[]).unwrap_or_else(|why| panic!("its example: {why}"));
    assert!(!whole.rows.is_empty(), "its example has rows");
    for bytes in [1, 7, 100] {
        let pieces = read_in_chunks::<R>(example, bytes, &[], &[]);
        assert_eq!(pieces.as_ref(), Ok(&whole), "in pieces of {bytes} bytes");
    }
    for end in 0..example.len() {
        check_refusal::<R>(&example[..end]);
    }
    let mut damaged = example.to_vec();
    for (at, byte) in example.iter().enumerate() {
        for other in [0, b'"', b'9', b'{', b'[', b',', b'\n', 0xff, byte ^ 0x20] {
            damaged[at] = other;
            check_refusal::<R>(&damaged);
        }
        damaged[at] = *byte;
    }
}

/// A refusal of a damaged file says what is wrong; it is not the plugin's own fault.
fn check_refusal<R: Reader>(file: &[u8]) {
    match read_in_chunks::<R>(file, 64, &[], &[]) {
        Err(ReadRefusal::Internal(sentence) | ReadRefusal::InvalidOption(sentence)) => {
            panic!("a damaged file is the file's fault: {sentence}")
        }
        Err(ReadRefusal::Malformed(fault) | ReadRefusal::Unsupported(fault)) => {
            assert!(!fault.sentence.is_empty(), "a refusal has a sentence");
        }
        Ok(_) => {}
    }
}

/// The declared parameters, with the chosen values where there are any.
fn chosen<R: Reader>(options: &[(&str, Value)]) -> Options {
    super::complete(&R::describe().parameters, options)
}

fn add_rows(columns: &[ReadColumn], batch: &RawRows, rows: &mut Vec<Vec<Option<String>>>) {
    let first = rows.len();
    rows.extend((0..batch.rows).map(|_| Vec::with_capacity(columns.len())));
    let mut buffers = batch.buffers.iter();
    for column in columns {
        let validity = buffers.next().map(Vec::as_slice).unwrap_or_default();
        let offsets = if column.read_type == ReadType::Text {
            buffers.next().map(Vec::as_slice).unwrap_or_default()
        } else {
            &[]
        };
        let values = buffers.next().map(Vec::as_slice).unwrap_or_default();
        for (row, cells) in rows[first..].iter_mut().enumerate() {
            let valid = validity.is_empty() || validity[row / 8] >> (row % 8) & 1 == 1;
            cells.push(valid.then(|| cell(column.read_type, offsets, values, row)));
        }
    }
}

fn cell(read_type: ReadType, offsets: &[u8], values: &[u8], row: usize) -> String {
    let word = |row: usize| {
        let bytes = values[row * 8..row * 8 + 8].try_into().expect("eight bytes a value");
        u64::from_le_bytes(bytes)
    };
    match read_type {
        ReadType::Text => {
            let offset = |row: usize| {
                let bytes = offsets[row * 4..row * 4 + 4].try_into().expect("four bytes an offset");
                u32::from_le_bytes(bytes) as usize
            };
            String::from_utf8(values[offset(row)..offset(row + 1)].to_vec()).expect("UTF-8")
        }
        ReadType::Integer => word(row).cast_signed().to_string(),
        ReadType::Number => f64::from_bits(word(row)).to_string(),
        ReadType::Boolean => (values[row / 8] >> (row % 8) & 1 == 1).to_string(),
    }
}
