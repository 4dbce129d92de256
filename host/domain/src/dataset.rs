//! Datasets and their snapshots (spec-2.1-detail, contract-4-shape).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::meaning::{ColumnMeaning, DatasetMeaning, StatusColumn};
use crate::read_plan::json_number;
use crate::{Credit, DatasetName, Date, Digest, Millis, Namespace, SnapshotId, TextTraits, words};

/// The column that carries geometry in spatial datasets (spec-2.2-geometry).
pub const GEOMETRY_COLUMN: &str = "geometry_wkt";

/// The column with the numbers of rows in their snapshot. No column that is published has its name.
pub const ROW_NUMBER_COLUMN: &str = "_row";

/// Type of a column's values on the wire. Dates are text (spec-2.2-dates).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// UTF-8 text.
    String,
    /// 64-bit signed integer.
    Integer,
    /// 64-bit IEEE float.
    Number,
    /// True or false.
    Boolean,
    /// Text `YYYY-MM-DD`.
    Date,
}

words! {
    ColumnType {
        String = "string", Integer = "integer", Number = "number", Boolean = "boolean",
        Date = "date",
    }
}

/// Purpose of a column (contract-4-roles).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnRole {
    /// The column that `start` and `end` filter.
    Date,
    /// Period codes.
    Period,
    /// Text that `dimensions` searches.
    Dimension,
    /// A measured value.
    Value,
    /// [`GEOMETRY_COLUMN`].
    Geometry,
    /// Part of the primary key and nothing above.
    Key,
    /// Statuses of the values of other columns: provisional, estimated, confidential.
    Status,
    /// Anything else.
    Attribute,
}

words! {
    ColumnRole {
        Date = "date", Period = "period", Dimension = "dimension", Value = "value",
        Geometry = "geometry", Key = "key", Status = "status",
        Attribute = "attribute",
    }
}

/// A column of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// snake_case name.
    pub name: String,
    /// Type of the values.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// True when nulls may occur: false exactly where publishing refuses them.
    pub nullable: bool,
    /// Purpose of the column.
    pub role: ColumnRole,
    /// Unit of the values, as the publisher wrote it.
    pub unit: Option<String>,
    /// Description of the values, as the publisher wrote it.
    pub description: Option<String>,
    /// True when the stored file holds few distinct texts, so that reading it as a dictionary pays.
    pub few_values: bool,
    /// Traits that every text of the stored file has; none are kept of few values.
    pub text_traits: TextTraits,
    /// Further words of the publisher; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Box<ColumnMeaning>>,
}

impl Column {
    /// A column called `name` that may hold nulls, of which nothing else is known.
    #[must_use]
    pub fn new(name: &str, column_type: ColumnType, role: ColumnRole) -> Self {
        Self {
            name: name.to_owned(),
            column_type,
            nullable: true,
            role,
            unit: None,
            description: None,
            few_values: false,
            text_traits: TextTraits::empty(),
            meaning: None,
        }
    }

    /// Returns what its values are statuses of, with their list, where they are.
    #[must_use]
    pub fn status(&self) -> Option<&StatusColumn> {
        self.meaning.as_ref()?.status.as_ref()
    }

    /// Returns its title, where it has one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.meaning.as_ref()?.title.as_ref().map(|title| title.text.as_str())
    }
}

/// Shape of a dataset (spec-2.2-layout).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableLayout {
    /// One value a row, named by dimension columns.
    Long,
    /// One column a series.
    Wide,
}

words! { TableLayout { Long = "long", Wide = "wide" } }

/// West, south, east, north in degrees; west > east where the box crosses 180° (RFC 7946, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoundingBox(pub [f64; 4]);

impl BoundingBox {
    /// Returns the value of `bbox` that asks for this box, in its canonical text.
    #[must_use]
    pub fn to_parameter(&self) -> String {
        self.0.map(json_number).join(",")
    }
}

/// The stored Parquet file of a snapshot, addressed by its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StoredFile {
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// Size in bytes.
    pub bytes: u64,
}

/// An immutable version of a dataset: the rows and every word that travels with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Derived from the canonical data and the descriptor, never from the stored file.
    pub id: SnapshotId,
    /// Time of its commit, a whole second.
    pub created_at: Millis,
    /// Number of rows.
    pub rows: u64,
    /// File that holds the rows.
    pub file: StoredFile,
    /// Human title.
    pub title: Option<String>,
    /// Human description.
    pub description: Option<String>,
    /// Topics: `keywords` of the data package, in its order.
    pub keywords: Vec<String>,
    /// Credit that must be passed on with the data.
    pub credit: Credit,
    /// Interval at which the pipeline re-checks the source.
    pub refresh_cadence: Option<String>,
    /// True when the licence lets the whole file be redistributed.
    pub bulk_redistribution: bool,
    /// Columns in the order of the package.
    pub columns: Vec<Column>,
    /// Names of the primary key's columns; empty: none.
    pub primary_key: Vec<String>,
    /// Names of the text columns that `dimensions` searches.
    pub dimensions: Vec<String>,
    /// The column that `start` and `end` filter; rows are sorted by it.
    pub date_column: Option<String>,
    /// First and last date; `None` without a date column or rows.
    pub date_range: Option<(Date, Date)>,
    /// Long or wide.
    pub layout: TableLayout,
    /// Bounds of the geometry; `None` without any.
    pub bbox: Option<BoundingBox>,
    /// Further words of the publisher.
    #[serde(default, skip_serializing_if = "DatasetMeaning::is_empty")]
    pub meaning: DatasetMeaning,
}

impl Snapshot {
    /// Returns the position of the column called `name`.
    #[must_use]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns true when its columns have the names, types and roles of those of `other`, in their
    /// order, and its primary key is the same.
    #[must_use]
    pub fn has_columns_of(&self, other: &Self) -> bool {
        let shape = |column: &Column| (column.column_type, column.role);
        self.columns.len() == other.columns.len()
            && self.primary_key == other.primary_key
            && self
                .columns
                .iter()
                .zip(&other.columns)
                .all(|(own, theirs)| own.name == theirs.name && shape(own) == shape(theirs))
    }

    /// Returns true where changed rows must not be passed on (contract-16-licence).
    #[must_use]
    pub fn forbids_derivatives(&self) -> bool {
        self.credit.forbids_derivatives() || self.meaning.no_derivatives
    }

    /// Returns true when the snapshot has a geometry column.
    #[must_use]
    pub fn has_geometry(&self) -> bool {
        self.columns.iter().any(|column| column.role == ColumnRole::Geometry)
    }
}

/// Numbers of rows that a version changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    /// Rows that came.
    pub inserted: u64,
    /// Rows that went away.
    pub deleted: u64,
    /// Rows with the same primary key and other values; each stands in the file twice.
    pub updated: u64,
}

impl ChangeCounts {
    /// Returns the rows of a file of these changes.
    #[must_use]
    pub fn file_rows(self) -> u64 {
        self.inserted + self.deleted + 2 * self.updated
    }
}

/// The value that a version revised most: by the difference as a share of the greater amount, so
/// that values of several units stand beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargestRevision {
    /// Column of the value.
    pub column: String,
    /// Columns of the row's primary key with their values as text, in the order of the key.
    pub key: Vec<(String, String)>,
    /// The value of the version before.
    pub before: Number,
    /// The value of this version.
    pub after: Number,
}

/// A retained snapshot in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotSummary {
    /// Snapshot id.
    pub id: SnapshotId,
    /// Its number within the dataset: 0, 1, 2 and so on, without gaps; no number is used twice.
    pub version: u64,
    /// Time of its commit, a whole second.
    pub created_at: Millis,
    /// Number of rows.
    pub rows: u64,
    /// Rows that it changed of the snapshot before it. `None` if it is the first, or if what it
    /// changed is not known.
    pub changes: Option<ChangeCounts>,
    /// The value that it revised most. `None` if it revised no number, or if that is not known.
    pub largest_revision: Option<LargestRevision>,
    /// True when no rule on retention drops it.
    pub held: bool,
    /// True when its licence lets its whole file be handed on.
    pub bulk_redistribution: bool,
}

/// Returns the snapshot id and sequence number of a version in Iceberg's metadata: from 1, since 0
/// means none to some readers.
#[must_use]
pub fn iceberg_number(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX - 1) + 1
}

/// A dataset with the snapshot that is current. A retired dataset is not a `Dataset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Address.
    pub name: DatasetName,
    /// Grouping used in bulk paths.
    pub namespace: Namespace,
    /// Time at which publishing last read the source, changed or not.
    pub checked_at: Millis,
    /// Number of times that a version had other columns or another primary key than the one before
    /// it, versions that retention dropped included.
    pub column_changes: u64,
    /// The version that is served unless another is pinned.
    pub current: Arc<Snapshot>,
    /// Every retained snapshot, oldest first, the current one included.
    pub snapshots: Vec<SnapshotSummary>,
}

impl Dataset {
    /// Returns the title of the current snapshot; the name where it has none.
    #[must_use]
    pub fn title(&self) -> &str {
        self.current.title.as_deref().unwrap_or_else(|| self.name.as_str())
    }
}
