//! Files as one zip. The same files give the same bytes: every entry has the same time.

use std::io::{Cursor, Write};

use yearbook_sandbox::GeneratedProject;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Packs `project`. Blocking.
///
/// # Errors
/// What the library says, which for a buffer in memory is a bug.
pub(super) fn zip(project: &GeneratedProject) -> zip::result::ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        // The earliest time that the format can express.
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for file in &project.files {
        archive.start_file(file.path.as_str(), options)?;
        archive.write_all(file.content.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}
