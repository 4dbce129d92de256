//! Zip archive that is written once, from front to back (APPNOTE 6.3): large entries are deflated as
//! they come, with their sizes behind them. Every entry has the date 1980-01-01, so that the same
//! table gives the same bytes. Owns the format of the archive; never touches XML.

use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress, Status};
use yearbook_sdk::Error;

/// Version needed to extract: 2.0, for deflate.
const VERSION: u16 = 20;
/// Flag of an entry with sizes and checksum behind its data.
const STREAMED: u16 = 1 << 3;
/// Date of every entry: 1980-01-01.
const DATE: u16 = 1 << 5 | 1;

/// Archive, of which everything before the current place has left already.
pub(crate) struct Archive {
    /// Bytes written so far.
    offset: u64,
    entries: Vec<Entry>,
    open: Option<OpenEntry>,
}

struct Entry {
    name: String,
    offset: u64,
    deflated: bool,
    sizes: EntrySizes,
}

#[derive(Default)]
struct EntrySizes {
    checksum: u32,
    compressed: u64,
    uncompressed: u64,
}

/// Entry that is being written.
struct OpenEntry {
    name: String,
    offset: u64,
    hasher: Hasher,
    compress: Compress,
    uncompressed: u64,
    compressed: u64,
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
            sizes: EntrySizes {
                checksum: crc32fast::hash(content),
                compressed: size,
                uncompressed: size,
            },
        };
        let start = out.len();
        entry.write_header(out)?;
        out.extend_from_slice(content);
        self.offset += (out.len() - start) as u64;
        self.entries.push(entry);
        Ok(())
    }

    /// Begins an entry that [`Archive::write`] fills and [`Archive::end`] ends.
    pub(crate) fn begin(&mut self, name: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        Entry {
            name: name.to_owned(),
            offset: self.offset,
            deflated: true,
            sizes: EntrySizes::default(),
        }
        .write_header(out)?;
        let open = OpenEntry {
            name: name.to_owned(),
            offset: self.offset,
            hasher: Hasher::new(),
            compress: Compress::new(Compression::fast(), false),
            uncompressed: 0,
            compressed: 0,
        };
        self.offset += (out.len() - start) as u64;
        self.open = Some(open);
        Ok(())
    }

    /// Adds to the entry that was begun. Compressed bytes may come out of a later call.
    pub(crate) fn write(&mut self, mut content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Err(no_open_entry()) };
        open.hasher.update(content);
        open.uncompressed += content.len() as u64;
        let start = out.len();
        while !content.is_empty() {
            out.reserve(content.len() / 8 + 4096);
            let before = open.compress.total_in();
            open.compress
                .compress_vec(content, out, FlushCompress::None)
                .map_err(|error| Error::Internal(error.to_string()))?;
            let consumed =
                usize::try_from(open.compress.total_in() - before).unwrap_or(content.len());
            content = &content[consumed..];
        }
        open.compressed += (out.len() - start) as u64;
        self.offset += (out.len() - start) as u64;
        Ok(())
    }

    /// Bytes of the open entry before compression.
    pub(crate) fn uncompressed(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.uncompressed)
    }

    /// Ends the entry that was begun.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(mut open) = self.open.take() else { return Err(no_open_entry()) };
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
        let compressed = open.compressed + (out.len() - start) as u64;
        let sizes = EntrySizes {
            checksum: open.hasher.finalize(),
            compressed,
            uncompressed: open.uncompressed,
        };
        out.extend_from_slice(b"PK\x07\x08");
        sizes.write(out)?;
        self.offset += (out.len() - start) as u64;
        self.entries.push(Entry { name: open.name, offset: open.offset, deflated: true, sizes });
        Ok(())
    }

    /// Appends the directory of all entries.
    pub(crate) fn finish(self, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        for entry in &self.entries {
            out.extend_from_slice(b"PK\x01\x02");
            write_u16(VERSION, out);
            entry.write_fixed_fields(out);
            entry.sizes.write(out)?;
            write_u16(name_length(&entry.name), out);
            // No extra field, no comment, first disk, no attributes.
            out.extend_from_slice(&[0; 12]);
            out.extend_from_slice(&to_u32(entry.offset)?.to_le_bytes());
            out.extend_from_slice(entry.name.as_bytes());
        }
        let size = (out.len() - start) as u64;
        let entries = u16::try_from(self.entries.len()).map_err(|_| too_large())?;
        out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        write_u16(entries, out);
        write_u16(entries, out);
        out.extend_from_slice(&to_u32(size)?.to_le_bytes());
        out.extend_from_slice(&to_u32(self.offset)?.to_le_bytes());
        write_u16(0, out);
        Ok(())
    }
}

impl Entry {
    /// Appends the local header.
    fn write_header(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(b"PK\x03\x04");
        self.write_fixed_fields(out);
        self.sizes.write(out)?;
        write_u16(name_length(&self.name), out);
        write_u16(0, out);
        out.extend_from_slice(self.name.as_bytes());
        Ok(())
    }

    /// Appends the fields from the version needed to the date.
    fn write_fixed_fields(&self, out: &mut Vec<u8>) {
        let (flags, method) = if self.deflated { (STREAMED, 8) } else { (0, 0) };
        for number in [VERSION, flags, method, 0, DATE] {
            write_u16(number, out);
        }
    }
}

impl EntrySizes {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        for number in [self.checksum, to_u32(self.compressed)?, to_u32(self.uncompressed)?] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }
}

fn write_u16(number: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Bytes of an entry's name; names are ours and short.
fn name_length(name: &str) -> u16 {
    u16::try_from(name.len()).unwrap_or(u16::MAX)
}

fn to_u32(number: u64) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| too_large())
}

fn too_large() -> Error {
    Error::Internal(
        "the workbook is larger than 4 GiB, which its kind of zip cannot hold".to_owned(),
    )
}

fn no_open_entry() -> Error {
    Error::Internal("no entry of the archive was begun".to_owned())
}
