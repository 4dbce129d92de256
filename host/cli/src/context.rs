//! Database, object store and workers of a command, opened from the settings when they are needed.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use yearbook_catalog::{Catalog, DatabaseSettings};
use yearbook_iceberg::{IcebergFailure, IcebergWriter};
use yearbook_publish::Publisher;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::memory_return::SetMemoryReturn;
use crate::output::Output;
use crate::settings::RunSettings;

/// Least wait of a command for a connection, milliseconds: its sources or tables take turns at one
/// that writes, and another process may hold the lock for as long as a statement waits. Nobody
/// waits for an answer meanwhile, as with a request.
const COMMAND_PATIENCE_MS: u64 = 10_000;

/// Settings and output of one run.
#[derive(Clone)]
pub struct CommandContext {
    /// All settings.
    pub settings: RunSettings,
    /// Variables of the environment: the object store's own are among them.
    pub variables: Vec<(String, String)>,
    /// Folder of built-in plugins, where one was named.
    pub plugins_dir: Option<PathBuf>,
    /// Standard output and error.
    pub output: Output,
    /// The program's allocator.
    pub set_memory_return: SetMemoryReturn,
}

impl CommandContext {
    /// Opens the catalog for a command and brings its database up to date.
    ///
    /// # Errors
    /// Fails when the data directory cannot be made or the database cannot be opened.
    pub async fn catalog(&self) -> anyhow::Result<Arc<Catalog>> {
        let settings = self.settings.values.database.bounds;
        let acquire_ms = settings.acquire_ms.max(COMMAND_PATIENCE_MS);
        let catalog = self.open_catalog(&DatabaseSettings { acquire_ms, ..settings }).await?;
        // What is due is visible for commands too, though no server runs.
        catalog.settle_due_releases().await.context("a release that is due is not visible yet")?;
        Ok(catalog)
    }

    /// Opens the catalog for a server, as [`CommandContext::catalog`] does.
    ///
    /// # Errors
    /// Fails when the data directory cannot be made or the database cannot be opened.
    pub async fn serving_catalog(&self) -> anyhow::Result<Arc<Catalog>> {
        self.open_catalog(&self.settings.values.database.bounds).await
    }

    /// Returns true where readers of Iceberg can list or read what waits in the object store, with
    /// the credentials that they are handed. Stores an object there to try it.
    ///
    /// # Errors
    /// Fails when the store cannot be opened or takes no object.
    pub async fn waiting_is_readable(&self) -> anyhow::Result<bool> {
        let credentials = &self.settings.values.share.iceberg_credentials.s3;
        let files = self.files()?;
        if credentials.access_key_id.is_none() || files.bucket_root().is_none() {
            return Ok(false);
        }
        let handed = [
            ("AWS_ACCESS_KEY_ID", &credentials.access_key_id),
            ("AWS_SECRET_ACCESS_KEY", &credentials.secret_access_key),
            ("AWS_SESSION_TOKEN", &credentials.session_token),
        ];
        let is_handed = |name: &str| handed.iter().any(|(handed, _)| *handed == name);
        let mut variables = self.variables.clone();
        variables.retain(|(name, _)| !is_handed(name));
        for (name, value) in handed {
            variables.extend(value.clone().map(|value| (name.to_owned(), value)));
        }
        let settings = &self.settings.values.storage.store;
        let reader = ObjectStorage::open_with(&self.settings.storage_url(), settings, &variables)
            .context("share.iceberg_credentials open no store")?;
        Ok(files.waiting_is_readable_by(&reader).await?)
    }

    async fn open_catalog(&self, settings: &DatabaseSettings) -> anyhow::Result<Arc<Catalog>> {
        self.create_data_dir()?;
        let url = self.settings.database_url();
        yearbook_catalog::open(&url, settings)
            .await
            .with_context(|| format!("cannot open the catalog {}", redact_password(&url)))
    }

    /// Opens the object store.
    ///
    /// # Errors
    /// Fails when the data directory cannot be made, the store cannot be opened, or it is a folder
    /// and readers of Iceberg need a bucket.
    pub fn files(&self) -> anyhow::Result<ObjectStorage> {
        self.create_data_dir()?;
        let url = self.settings.storage_url();
        let opened =
            ObjectStorage::open_with(&url, &self.settings.values.storage.store, &self.variables);
        let opened = opened
            .with_context(|| format!("cannot open the object store {}", redact_password(&url)))?;
        if self.settings.values.share.iceberg && opened.bucket_root().is_none() {
            return Err(IcebergFailure::NoBucket.into());
        }
        Ok(opened)
    }

    /// Makes the threads for work that keeps a core busy, guests with the limits of the settings
    /// included.
    #[must_use]
    pub fn workers(&self) -> Arc<Workers> {
        let sandbox = &self.settings.values.sandbox;
        Workers::with_stack(sandbox.threads, sandbox.limits.thread_stack_bytes())
    }

    /// Makes the publisher of the settings: what it retains, and whether it describes tables for
    /// readers of Iceberg.
    ///
    /// # Errors
    /// Fails where tables are to be described and the store is no bucket.
    pub fn publisher(
        &self,
        catalog: &Arc<Catalog>,
        files: &ObjectStorage,
        workers: Arc<Workers>,
    ) -> anyhow::Result<Publisher> {
        let retention = self.settings.retention();
        let publisher = Publisher::new(Arc::clone(catalog), files, Arc::clone(&workers), retention);
        Ok(match self.iceberg_writer(catalog, files, &workers)? {
            Some(writer) => publisher.with_iceberg(writer),
            None => publisher,
        })
    }

    /// Makes what describes tables for readers of Iceberg, where the settings say so.
    ///
    /// # Errors
    /// As [`CommandContext::publisher`].
    pub fn iceberg_writer(
        &self,
        catalog: &Arc<Catalog>,
        files: &ObjectStorage,
        workers: &Arc<Workers>,
    ) -> anyhow::Result<Option<IcebergWriter>> {
        if !self.settings.values.share.iceberg {
            return Ok(None);
        }
        Ok(Some(IcebergWriter::new(Arc::clone(catalog), files, Arc::clone(workers))?))
    }

    /// Path of the data directory, which is made when it is missing, for its owner alone: it holds
    /// key hashes and the secret that signs cursors.
    ///
    /// # Errors
    /// Fails when it cannot be made.
    pub fn create_data_dir(&self) -> anyhow::Result<()> {
        create_private_dir(&self.settings.data_dir)
            .with_context(|| "choose another place with --data-dir or YEARBOOK_DATA_DIR, or make it writable for this user")
            .with_context(|| format!("cannot create the data directory {}", self.settings.data_dir.display()))
    }
}

/// Makes `path` and what is missing above it, with mode 0700; one that exists is left as it is.
pub(crate) fn create_private_dir(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Address with `***` for the password and without parameters, of which one may be a password, so
/// that it can be printed. A password in which nothing is escaped may have any character.
pub(crate) fn redact_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let shown = match address.rsplit_once('@') {
        _ if parameters.contains('@') => "***".to_owned(),
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) => format!("{user}:***@{host}"),
            None => address.to_owned(),
        },
        None => address.to_owned(),
    };
    format!("{scheme}://{shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_printed() {
        assert_eq!(
            redact_password("postgres://ann:p:w@db:5432/yb"),
            "postgres://ann:***@db:5432/yb"
        );
        assert_eq!(redact_password("postgres://ann:p/w@db/yb"), "postgres://ann:***@db/yb");
        assert_eq!(redact_password("postgres://ann:p@w@db/yb"), "postgres://ann:***@db/yb");
        assert_eq!(redact_password("postgres://ann:p?w@db/yb"), "postgres://***");
        assert_eq!(redact_password("postgres://db/yb?password=pw"), "postgres://db/yb");
        assert_eq!(redact_password("postgres://ann@db/yb"), "postgres://ann@db/yb");
        assert_eq!(redact_password("postgres://db/yb"), "postgres://db/yb");
        assert_eq!(redact_password("sqlite:/a@b/c.db"), "sqlite:/a@b/c.db");
    }
}
