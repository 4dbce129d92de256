//! A data package whose table may lie elsewhere, at an address: what `yearbook refresh` takes
//! (contract-8-address). Never fetches anything.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use yearbook_domain::{Cadence, DatasetName, Digest};

use super::resource::{AddressHandling, InputFormat};
use super::{DataPackage, DescriptorFile};
use crate::PublishError;
use crate::loss::MaxLoss;

/// First bytes of gzip (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A descriptor, parsed and found right in itself, with the place of its table.
#[derive(Clone, Debug)]
pub struct SourcePackage {
    package: DataPackage,
    address: Option<String>,
    descriptor: Digest,
}

/// Place of a package's table.
#[derive(Clone, Debug)]
pub enum SourceTable {
    /// Beside the descriptor.
    File(DataPackage),
    /// Elsewhere.
    Address(RemotePackage),
}

/// A package without its table.
#[derive(Clone, Debug)]
pub struct RemotePackage {
    package: DataPackage,
    address: String,
    descriptor: Digest,
}

impl SourcePackage {
    /// Reads the descriptor at `path` as [`DataPackage::open`] does, and takes an `http` or `https`
    /// address for the place of the table. `max_bytes` bounds the table without its compression,
    /// and `max_loss` its fall where the descriptor says nothing of that.
    ///
    /// # Errors
    /// As [`DataPackage::open`].
    pub fn open(path: &Path, max_bytes: u64, max_loss: MaxLoss) -> Result<Self, PublishError> {
        let file = DescriptorFile::read(path)?;
        let (package, address) = file.parse(AddressHandling::Taken)?;
        let max_loss = package.max_loss.or(Some(max_loss));
        Ok(Self {
            package: DataPackage { max_table_bytes: max_bytes, max_loss, ..package },
            address,
            descriptor: Digest::compute(&file.text),
        })
    }

    /// Name that the descriptor at `path` gives, however much else of it is wrong.
    #[must_use]
    pub fn find_name(path: &Path) -> Option<DatasetName> {
        let file = DescriptorFile::read(path).ok()?;
        let text = file.text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&file.text);
        let value: Value = serde_json::from_slice(text).ok()?;
        DatasetName::parse(value.get("name")?.as_str()?)
    }

    /// The dataset's address.
    #[must_use]
    pub fn name(&self) -> &DatasetName {
        self.package.name()
    }

    /// Interval between checks of its source; `None` if the descriptor does not say.
    #[must_use]
    pub fn cadence(&self) -> Option<Cadence> {
        self.package.refresh_cadence
    }

    /// The place of its table, and what is needed to publish it from there.
    #[must_use]
    pub fn into_table(self) -> SourceTable {
        let Self { package, address, descriptor } = self;
        match address {
            Some(address) => SourceTable::Address(RemotePackage { package, address, descriptor }),
            None => SourceTable::File(package),
        }
    }
}

impl RemotePackage {
    /// The `http` or `https` address of its table.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Digest of the descriptor's bytes.
    #[must_use]
    pub fn descriptor(&self) -> Digest {
        self.descriptor
    }

    /// The package with `table`, which was read from its address. CSV is taken with gzip and
    /// without, whatever the address ends in: servers add and remove that coding as they like.
    ///
    /// # Errors
    /// Fails when the file cannot be read.
    pub fn with_table(self, mut table: File) -> std::io::Result<DataPackage> {
        let mut first = [0; GZIP_MAGIC.len()];
        table.rewind()?;
        let is_gzip = match table.read_exact(&mut first) {
            Ok(()) => first == GZIP_MAGIC,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(error),
        };
        let format = match self.package.format {
            InputFormat::Csv | InputFormat::CsvGzip if is_gzip => InputFormat::CsvGzip,
            InputFormat::Csv | InputFormat::CsvGzip => InputFormat::Csv,
            InputFormat::Other { .. } => InputFormat::Other { gzip: is_gzip },
            other => other,
        };
        Ok(DataPackage { format, downloaded: Some(Arc::new(table)), ..self.package })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    fn open(path: &str, format: Option<&str>) -> Result<SourcePackage, PublishError> {
        let folder = tempfile::tempdir().unwrap();
        let schema =
            json!({ "fields": [{ "name": "id", "type": "integer" }], "primaryKey": ["id"] });
        let mut descriptor = json!({
            "name": "cpi",
            "licenses": [{ "name": "CC-BY-4.0" }],
            "sources": [{ "title": "Test agency" }],
            "resources": [{ "path": path, "schema": schema }],
            "yearbook": { "namespace": "tests", "refresh_cadence": "weekly" },
        });
        if let Some(format) = format {
            descriptor["resources"][0]["format"] = format.into();
        }
        let file = folder.path().join("cpi.json");
        std::fs::write(&file, descriptor.to_string()).unwrap();
        assert_eq!(SourcePackage::find_name(&file), DatasetName::parse("cpi"));
        SourcePackage::open(&file, 1 << 20, MaxLoss::default())
    }

    #[test]
    fn an_address_is_taken_where_a_source_is_asked_contract_8() {
        for (path, format, expected) in [
            ("https://example.org/cpi.csv", None, InputFormat::Csv),
            ("https://example.org/cpi.csv.gz?a=b.parquet", None, InputFormat::CsvGzip),
            ("http://example.org:8080/a/cpi.parquet#x", None, InputFormat::Parquet),
            ("https://example.org/export?format=csv", Some("csv"), InputFormat::Csv),
            ("https://example.org/export.php", Some("arrow"), InputFormat::Arrow),
        ] {
            let package = open(path, format).unwrap();
            assert_eq!(package.cadence(), Some(Cadence::Weekly));
            assert_eq!(package.package.format, expected, "{path}");
            assert!(!package.package.data.to_string_lossy().contains(['?', '#']), "{path}");
            let SourceTable::Address(remote) = package.into_table() else { panic!("{path}") };
            assert_eq!(remote.address(), path);
        }
        for (path, expected) in [
            ("ftp://example.org/cpi.csv", "write http://… or https://…"),
            ("file:///etc/passwd", "write http://… or https://…"),
            ("https:///cpi.csv", "names no host"),
            ("https://ann:hunter2@example.org/cpi.csv", "a user or a password"),
            ("https://example.org/c pi.csv", "write %20"),
            ("https://example.org/export", "cannot tell the format"),
            ("../cpi.csv", "must be a relative path"),
        ] {
            let error = open(path, None).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{path}: {error}");
        }
    }

    #[test]
    fn gzip_is_told_by_the_bytes_that_came() {
        let gzip = [0x1f, 0x8b, 8, 0];
        for (path, bytes, expected) in [
            ("https://example.org/cpi.csv", &gzip[..], InputFormat::CsvGzip),
            ("https://example.org/cpi.csv.gz", &b"id\n1\n"[..], InputFormat::Csv),
            ("https://example.org/cpi.csv.gz", &b""[..], InputFormat::Csv),
            ("https://example.org/cpi.parquet", &gzip[..], InputFormat::Parquet),
        ] {
            let SourceTable::Address(remote) = open(path, None).unwrap().into_table() else {
                panic!("{path}")
            };
            let mut table = tempfile::tempfile().unwrap();
            std::io::Write::write_all(&mut table, bytes).unwrap();
            let package = remote.with_table(table).unwrap();
            assert_eq!(package.format, expected, "{path}");
            let mut read = Vec::new();
            package.open_data().unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes, "from the beginning");
        }
    }
}
