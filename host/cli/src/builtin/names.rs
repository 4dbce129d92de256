//! Names of the components that a binary carries, in the order in which they lie in it. The build
//! script packs them by this list.

/// Names of the built-in plugins: formats in the order in which they are listed, then integrations,
/// then transforms, then adapters.
pub const NAMES: [&str; 15] = [
    "json",
    "csv",
    "arrow",
    "parquet",
    "svg",
    "meltano",
    "fivetran",
    "azure-data-factory",
    "growth",
    "resample",
    "aggregate",
    "pivot",
    "ogc",
    "mcp",
    "sdmx",
];

/// Names of the built-in readers. They are no releases: a publisher takes them where nobody
/// installed a reader of the format.
pub(crate) const READERS: [&str; 4] =
    ["read-sdmx-csv", "read-sdmx-ml", "read-json-stat", "read-geojson"];

/// Names of the encoder and the transform that measure the crossing; they are registered nowhere.
pub(crate) const IDLE: [&str; 2] = ["idle", "idle-transform"];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(READERS).chain(IDLE)
}
