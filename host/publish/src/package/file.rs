//! Files of a package: regular ones inside its folder, read within a bound. A package may come from
//! somebody else, and what it names is served to everybody.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens `path` where it leads to a regular file. Never waits, as opening a pipe without a writer
/// would.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Opening some devices does something, so their kind is asked first, and again of what was
    // opened.
    require_regular(path)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Refuses what is not a regular file, without opening it.
pub(crate) fn require_regular(path: &Path) -> io::Result<()> {
    check_regular(&std::fs::metadata(path)?)
}

fn check_regular(found: &std::fs::Metadata) -> io::Result<()> {
    if found.is_file() { Ok(()) } else { Err(io::Error::other("it is not a regular file")) }
}

/// True where `path` stays in `folder` once links are followed.
pub(crate) fn is_inside(path: &Path, folder: &Path) -> io::Result<bool> {
    Ok(path.canonicalize()?.starts_with(folder.canonicalize()?))
}

/// Reads the whole of `path`, at most `max_bytes`, whatever size the file system claims.
pub(crate) fn read_bounded(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other(format!("it has more than {max_bytes} bytes")));
    }
    Ok(bytes)
}
