//! Failure dumps on disk: their file format, and the folder that a host writes them into. The
//! sandbox makes the dumps; no command line and no output stands here.

mod file;
mod folder;
mod request_record;

pub use file::{DumpReadError, MAX_DUMP_BYTES, read_dump, write_dump};
pub use folder::{DumpFolder, DumpFolderError};
