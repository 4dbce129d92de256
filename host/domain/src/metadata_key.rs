//! Keys of the metadata that fields and schemas of rows carry, as `wit` names them: what is read of
//! them was written by another crate.

/// Purpose of a column.
pub const ROLE: &str = "yearbook.role";

/// `date` for text that is always a date.
pub const TYPE: &str = "yearbook.type";

/// Unit of the values.
pub const UNIT: &str = "yearbook.unit";

/// Names of the columns whose values have these statuses, as a JSON array.
pub const OF: &str = "yearbook.of";

/// The list that statuses are from: `sdmx-obs`, `sdmx-conf`, or `own`.
pub const STATUS: &str = "yearbook.status";

/// JSON array of the columns that are a table's key.
pub const PRIMARY_KEY: &str = "yearbook.primary_key";

/// JSON array of the columns whose values tell series apart.
pub const SERIES: &str = "yearbook.series";

/// Unit of the smallest distance of two dates in a series.
pub const AXIS: &str = "yearbook.axis";

/// JSON array of all statuses of a table, each an array of its column and of those that it speaks
/// of. The rows may have a part of the columns.
pub const STATUSES: &str = "yearbook.statuses";

/// JSON array of a column's distinct values. Between rooms of the host alone: a plugin is told them
/// otherwise.
pub const CODES: &str = "yearbook.codes";

/// JSON array of the labels of [`CODES`], null where a value has none. As they are.
pub const CODE_LABELS: &str = "yearbook.code_labels";
