//! Counters of the share: requests by operation, and bytes of files (contract-12-records).

use yearbook_counters::{Counter, Metric as _};

/// Operation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareOperation {
    /// List of shares.
    ListShares,
    /// One share.
    GetShare,
    /// List of schemas.
    ListSchemas,
    /// List of the tables of a schema.
    ListTables,
    /// List of all tables.
    ListAllTables,
    /// Version of a table.
    TableVersion,
    /// Metadata of a table.
    TableMetadata,
    /// Files of a version.
    TableQuery,
    /// Files of changes.
    TableChanges,
    /// A file by its address.
    File,
    /// Settings of Iceberg's catalog.
    IcebergConfig,
    /// Namespaces of Iceberg's catalog.
    IcebergNamespaces,
    /// Tables of one of them.
    IcebergTables,
    /// A table of Iceberg's catalog.
    IcebergTable,
    /// A report of a reader of Iceberg.
    IcebergReport,
}

impl ShareOperation {
    /// All of them.
    pub(crate) const ALL: [Self; 15] = [
        Self::ListShares,
        Self::GetShare,
        Self::ListSchemas,
        Self::ListTables,
        Self::ListAllTables,
        Self::TableVersion,
        Self::TableMetadata,
        Self::TableQuery,
        Self::TableChanges,
        Self::File,
        Self::IcebergConfig,
        Self::IcebergNamespaces,
        Self::IcebergTables,
        Self::IcebergTable,
        Self::IcebergReport,
    ];

    /// Its label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ListShares => "list_shares",
            Self::GetShare => "get_share",
            Self::ListSchemas => "list_schemas",
            Self::ListTables => "list_tables",
            Self::ListAllTables => "list_all_tables",
            Self::TableVersion => "version",
            Self::TableMetadata => "metadata",
            Self::TableQuery => "query",
            Self::TableChanges => "changes",
            Self::File => "file",
            Self::IcebergConfig => "iceberg_config",
            Self::IcebergNamespaces => "iceberg_namespaces",
            Self::IcebergTables => "iceberg_tables",
            Self::IcebergTable => "iceberg_table",
            Self::IcebergReport => "iceberg_report",
        }
    }
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct ShareMetrics {
    requests: [Counter; ShareOperation::ALL.len()],
    file_bytes: Counter,
}

impl ShareMetrics {
    /// Counts a request, whatever comes of it.
    pub(super) fn count(&self, operation: ShareOperation) {
        self.requests[operation as usize].increment();
    }

    /// Adds bytes of a file that were handed to the connection.
    pub(super) fn add_file_bytes(&self, bytes: u64) {
        self.file_bytes.add(bytes);
    }

    /// Requests of `operation` so far.
    pub(crate) fn requests(&self, operation: ShareOperation) -> u64 {
        self.requests[operation as usize].read()
    }

    /// Bytes of files so far.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes.read()
    }
}
