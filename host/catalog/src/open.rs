//! Opens the catalog at an address: the one place that knows which databases there are.

use std::path::Path;
use std::sync::Arc;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::postgres::PostgresServer;

use crate::sqlite::SqliteFile;
use crate::{Catalog, CatalogError, DatabaseSettings};

/// Characters that are escaped in the path of a `sqlite:` address.
const PATH_ESCAPES: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

/// Opens the catalog at `url`, making it and bringing its tables up to date where needed. Several
/// processes may open the same one at the same time.
///
/// `sqlite:/path/catalogue.db` is a file; `sqlite::memory:` a catalog that lives as long as the
/// value, for tests. `postgres://user:password@host:port/database` is a database on a server, with
/// the parameters that libpq knows (`sslmode`, `sslrootcert`, `host` for a socket's folder,
/// `options[search_path]` for a schema).
///
/// # Errors
/// [`CatalogError`] with what to do: an address of no known kind, a file that cannot be opened,
/// tables that a migration cannot bring up to date.
pub async fn open(url: &str, settings: &DatabaseSettings) -> Result<Arc<Catalog>, CatalogError> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    match scheme {
        "sqlite" => Ok(Arc::new(Catalog::new(SqliteFile::open(url, settings).await?))),
        "postgres" | "postgresql" => {
            Ok(Arc::new(Catalog::new(PostgresServer::open(url, settings).await?)))
        }
        _ => Err(CatalogError::UnknownScheme { scheme: scheme.to_owned() }),
    }
}

/// Returns the address of the SQLite catalog in the file `path`, whatever characters that has.
#[must_use]
pub fn sqlite_url(path: &Path) -> String {
    format!("sqlite:{}", utf8_percent_encode(&path.to_string_lossy(), PATH_ESCAPES))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn an_address_of_no_known_kind_is_refused_without_showing_it() {
        for (url, expected) in [
            ("mysql://root:hunter2@host/db", "starts with \"mysql\""),
            ("hunter2", "starts with \"\""),
            (
                "postgres://yearbook:hunter2@host/db?pasword=hunter2",
                "parameters that are not known",
            ),
            ("postgres://yearbook:hunter2@host/db?sslmode=hunter2", "a wrong value"),
            ("postgresql://yearbook:hunter2@host", "names no database"),
            ("postgres://yearbook:hunter2@host:hunter2/db", "no address"),
            ("sqlite:", "names no file"),
            ("sqlite://", "names no file"),
            ("sqlite:/tmp/x.db?colour=hunter2", "not understood"),
        ] {
            let message = open(url, &DatabaseSettings::default()).await.err().unwrap().to_string();
            assert!(message.contains(expected), "{url}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
            assert!(
                message.contains("use sqlite:/path/to/catalogue.db")
                    || message.contains("use postgres://"),
                "{message}"
            );
        }
    }

    #[tokio::test]
    async fn a_path_may_hold_any_character() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("100% caf\u{e9}? #1.db");
        let store = open(&sqlite_url(&path), &DatabaseSettings::default()).await.unwrap();
        assert_eq!(store.describe().location, path.to_string_lossy());
        assert!(path.exists());
        store.close().await;
    }

    #[tokio::test]
    async fn a_missing_folder_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing/catalogue.db");
        let message =
            open(&sqlite_url(&path), &DatabaseSettings::default()).await.err().unwrap().to_string();
        assert!(
            message.contains("missing/catalogue.db")
                && message.contains("Check that its folder exists"),
            "{message}"
        );
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        let text = "these are my notes\n".repeat(100);
        std::fs::write(&path, &text).unwrap();
        let message =
            open(&sqlite_url(&path), &DatabaseSettings::default()).await.err().unwrap().to_string();
        assert!(message.contains("notes.txt") && message.contains("not a database"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
