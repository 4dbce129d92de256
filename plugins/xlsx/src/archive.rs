//! A zip archive that is written once, from front to back (APPNOTE 6.3): what is large is deflated
//! as it comes, with its sizes behind it. Every entry has the date 1980-01-01, so that the same
//! table gives the same bytes.

use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress, Status};
use yearbook_sdk::Error;

/// Version needed: 2.0, for deflate.
const VERSION: u16 = 20;
/// Sizes and checksum stand behind the data.
const STREAMED: u16 = 1 << 3;
/// 1980-01-01.
const DATE: u16 = 1 << 5 | 1;

/// The archive, of which everything before the current place has left already.
pub(crate) struct Archive {
    /// Bytes written so far.
    offset: u64,
    entries: Vec<Entry>,
    open: Option<Open>,
}

struct Entry {
    name: String,
    offset: u64,
    deflated: bool,
    sums: Sums,
}

#[derive(Default)]
struct Sums {
    checksum: u32,
    packed: u64,
    plain: u64,
}

/// The entry that is being written.
struct Open {
    name: String,
    offset: u64,
    hasher: Hasher,
    compress: Compress,
    plain: u64,
    packed: u64,
}

impl Archive {
    pub(crate) fn new() -> Self {
        Self { offset: 0, entries: Vec::new(), open: None }
    }

    /// Appends an entry as it is.
    pub(crate) fn store(
        &mut self,
        name: &str,
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let size = content.len() as u64;
        let entry = Entry {
            name: name.to_owned(),
            offset: self.offset,
            deflated: false,
            sums: Sums { checksum: crc32fast::hash(content), packed: size, plain: size },
        };
        let start = out.len();
        entry.header(out)?;
        out.extend_from_slice(content);
        self.offset += (out.len() - start) as u64;
        self.entries.push(entry);
        Ok(())
    }

    /// Begins an entry that [`Archive::write`] fills and [`Archive::end`] ends.
    pub(crate) fn begin(&mut self, name: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        Entry { name: name.to_owned(), offset: self.offset, deflated: true, sums: Sums::default() }
            .header(out)?;
        let open = Open {
            name: name.to_owned(),
            offset: self.offset,
            hasher: Hasher::new(),
            compress: Compress::new(Compression::fast(), false),
            plain: 0,
            packed: 0,
        };
        self.offset += (out.len() - start) as u64;
        self.open = Some(open);
        Ok(())
    }

    /// Adds to the entry that was begun. What becomes of it may come out later.
    pub(crate) fn write(&mut self, mut content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Err(unbegun()) };
        open.hasher.update(content);
        open.plain += content.len() as u64;
        let start = out.len();
        while !content.is_empty() {
            out.reserve(content.len() / 8 + 4096);
            let before = open.compress.total_in();
            open.compress
                .compress_vec(content, out, FlushCompress::None)
                .map_err(|error| Error::Internal(error.to_string()))?;
            let taken = usize::try_from(open.compress.total_in() - before).unwrap_or(content.len());
            content = &content[taken..];
        }
        open.packed += (out.len() - start) as u64;
        self.offset += (out.len() - start) as u64;
        Ok(())
    }

    /// Bytes of the entry that was begun, before compression.
    pub(crate) fn plain(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.plain)
    }

    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(mut open) = self.open.take() else { return Err(unbegun()) };
        let start = out.len();
        loop {
            out.reserve(4096);
            let status = open
                .compress
                .compress_vec(&[], out, FlushCompress::Finish)
                .map_err(|error| Error::Internal(error.to_string()))?;
            if status == Status::StreamEnd {
                break;
            }
        }
        let packed = open.packed + (out.len() - start) as u64;
        let sums = Sums { checksum: open.hasher.finalize(), packed, plain: open.plain };
        out.extend_from_slice(b"PK\x07\x08");
        sums.write(out)?;
        self.offset += (out.len() - start) as u64;
        self.entries.push(Entry { name: open.name, offset: open.offset, deflated: true, sums });
        Ok(())
    }

    /// Appends the directory of all entries.
    pub(crate) fn finish(self, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        for entry in &self.entries {
            out.extend_from_slice(b"PK\x01\x02");
            half(VERSION, out);
            entry.fixed(out);
            entry.sums.write(out)?;
            half(length(&entry.name), out);
            // No extra field, no comment, first disk, no attributes.
            out.extend_from_slice(&[0; 12]);
            out.extend_from_slice(&narrow(entry.offset)?.to_le_bytes());
            out.extend_from_slice(entry.name.as_bytes());
        }
        let size = (out.len() - start) as u64;
        let entries = u16::try_from(self.entries.len()).map_err(|_| too_large())?;
        out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        half(entries, out);
        half(entries, out);
        out.extend_from_slice(&narrow(size)?.to_le_bytes());
        out.extend_from_slice(&narrow(self.offset)?.to_le_bytes());
        half(0, out);
        Ok(())
    }
}

impl Entry {
    fn header(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(b"PK\x03\x04");
        self.fixed(out);
        self.sums.write(out)?;
        half(length(&self.name), out);
        half(0, out);
        out.extend_from_slice(self.name.as_bytes());
        Ok(())
    }

    /// From the version needed to the date.
    fn fixed(&self, out: &mut Vec<u8>) {
        let (flags, method) = if self.deflated { (STREAMED, 8) } else { (0, 0) };
        for number in [VERSION, flags, method, 0, DATE] {
            half(number, out);
        }
    }
}

impl Sums {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        for number in [self.checksum, narrow(self.packed)?, narrow(self.plain)?] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }
}

fn half(number: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Names are ours and short.
fn length(name: &str) -> u16 {
    u16::try_from(name.len()).unwrap_or(u16::MAX)
}

fn narrow(number: u64) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| too_large())
}

fn too_large() -> Error {
    Error::Internal(
        "the workbook is larger than 4 GiB, which its kind of zip cannot hold".to_owned(),
    )
}

fn unbegun() -> Error {
    Error::Internal("no entry of the archive was begun".to_owned())
}
