//! From a storage address to a store: one arm a scheme (contract 6, `YEARBOOK_STORAGE_URL`).

use std::path::PathBuf;
use std::sync::Arc;

use object_store::local::LocalFileSystem;

use super::Files;
use super::local::Local;
use crate::Failure;

/// Opens the store that `url` names.
pub(super) fn open(url: &str) -> Result<Files, Failure> {
    let refuse = |why: &str| Failure::Address { url: url.to_owned(), why: why.to_owned() };
    match url.split_once(':') {
        Some(("file", path)) => match path.strip_prefix("//") {
            Some(absolute) if !absolute.starts_with('/') => Err(refuse("names a host; write file:/path/to/folder")),
            _ if path.is_empty() => Err(refuse("names no folder; write file:/path/to/folder")),
            absolute => folder(PathBuf::from(absolute.unwrap_or(path))),
        },
        Some(("s3", _)) => Err(refuse("this build has no S3 store; write file:/path/to/folder")),
        _ => Err(refuse("is of no known kind; write file:/path/to/folder")),
    }
}

fn folder(path: PathBuf) -> Result<Files, Failure> {
    let made = std::fs::create_dir_all(&path);
    made.map_err(|source| Failure::local("create", &path, source))?;
    let store = LocalFileSystem::new_with_prefix(&path)
        .map_err(|source| Failure::store(&path.display().to_string(), source))?
        // A published snapshot survives a power cut once `put_snapshot` has returned.
        .with_fsync(true);
    Ok(Files::new(Arc::new(store), Some(Local::new(path))))
}
