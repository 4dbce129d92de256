//! From a storage address to a store: one arm a scheme (contract-6-s3, `YEARBOOK_STORAGE_URL`).

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::local::LocalFileSystem;

use super::local_folder::LocalFolder;
#[cfg(feature = "s3")]
use super::s3;
use super::{ObjectStorage, RemoteSettings};
use crate::StorageFailure;
use crate::settings::{BulkDelivery, StorageSettings};

/// Advice on addresses.
const SUPPORTED_URLS: &str = "write file:/path/to/folder or s3://bucket/prefix";

/// Refusal of redirects to a folder.
const REDIRECT_NEEDS_S3: &str = "is a folder, to which nobody can be redirected; set storage.bulk = \"stream\", or use s3://bucket/prefix";

/// Says why a build without the feature refuses S3.
#[cfg(not(feature = "s3"))]
const S3_NOT_BUILT: &str = "is in S3, which this build of yearbook cannot use; take a release build, or build with `cargo build --release --features s3`";

/// Opens the store that `url` names.
#[cfg_attr(
    not(feature = "s3"),
    expect(unused_variables, reason = "variables are credentials of S3")
)]
pub(super) fn open(
    url: &str,
    settings: &StorageSettings,
    variables: &[(String, String)],
) -> Result<ObjectStorage, StorageFailure> {
    let address = |why: String| StorageFailure::InvalidUrl { url: redact_credentials(url), why };
    let refuse = |why: &str| address(format!("{why}; {SUPPORTED_URLS}"));
    match url.split_once(':') {
        Some(("file", _)) if settings.bulk == BulkDelivery::Redirect => {
            Err(address(REDIRECT_NEEDS_S3.to_owned()))
        }
        Some(("file", path)) => match path.strip_prefix("//") {
            Some(absolute) if !absolute.starts_with('/') => Err(refuse("names a host")),
            _ if path.is_empty() => Err(refuse("names no folder")),
            absolute => open_folder(PathBuf::from(absolute.unwrap_or(path))),
        },
        #[cfg(feature = "s3")]
        Some(("s3", place)) => {
            let requests = Arc::default();
            let bucket =
                s3::open(place, settings, variables, &requests).map_err(|why| refuse(&why))?;
            Ok(ObjectStorage::new(
                Arc::clone(&bucket) as _,
                None,
                RemoteSettings {
                    settings: *settings,
                    address: Some(url.trim_end_matches('/').to_owned()),
                    bucket: Some(bucket),
                    requests,
                },
            ))
        }
        #[cfg(not(feature = "s3"))]
        Some(("s3", _)) => Err(address(S3_NOT_BUILT.to_owned())),
        _ => Err(refuse("is of no known kind")),
    }
}

fn open_folder(path: PathBuf) -> Result<ObjectStorage, StorageFailure> {
    let made = std::path::absolute(&path).and_then(|path| create_folder(&path));
    made.map_err(|source| StorageFailure::local("create", &path, source))?;
    let store = LocalFileSystem::new_with_prefix(&path)
        .map_err(|source| StorageFailure::store(&path.display().to_string(), source))?
        // A published snapshot survives a power cut once `put_snapshot` has returned.
        .with_fsync(true);
    Ok(ObjectStorage::new(Arc::new(store), Some(LocalFolder::new(path)), RemoteSettings::default()))
}

/// Somebody may have written a key into the address, where none belongs.
fn redact_credentials(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        _ => url.to_owned(),
    }
}

/// Makes the folder and what is missing above it, each so that it is still there after a power cut:
/// the store syncs the folders that it makes itself, below this one.
fn create_folder(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let Some(above) = path.parent() else { return Ok(()) };
    create_folder(above)?;
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !path.is_dir() => {
            return Err(error);
        }
        _ => {}
    }
    // A folder that may be written but not read cannot be synced.
    File::open(above).map_or(Ok(()), |above| above.sync_all())
}
