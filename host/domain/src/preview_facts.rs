//! Facts that previews of a snapshot state: figures of value columns, series to draw, centroids,
//! the latest rows (contract-9-facts). They are a pure function of the table, computed when it is
//! published and stored as one JSON text. Columns, units, roles, date range and bounding box stand
//! in [`crate::Snapshot`]. Never touches Arrow or a database.

mod figure;
mod fit;
mod latest_rows;
mod series;
mod status_runs;

use serde::{Deserialize, Serialize};

use crate::read_plan::MAX_SERIES;
use crate::{CalendarUnit, ResultDigest};

pub use figure::{DatedFigure, Figure};
pub use latest_rows::{
    LATEST_ROWS, LatestRows, MAX_CELL_CHARACTERS, MAX_TABLE_COLUMNS, PreviewCell, cut_text,
};
pub use series::{
    DrawnSeries, LinePoint, LineReducer, MAX_DRAWN_SERIES, MAX_KEY_PARTS, MAX_NAMED_POINTS,
    MAX_OTHER_POINTS, SeriesPreview, day_number, series_id,
};
pub use status_runs::{
    LineStatuses, MAX_STATUS_RUNS, StatusRun, StatusRuns, StatusTotal, status_column,
};

/// Bytes of the stored JSON at most (contract-9-facts).
pub const MAX_FACTS_BYTES: usize = 64 << 10;

/// Number of the way in which facts are computed.
pub const FACTS_VERSION: u32 = 3;

/// Value columns with figures at most; the others are counted.
pub const MAX_VALUE_COLUMNS: usize = 50;

/// Features with centroids at most (contract-9-spatial-preview).
pub const MAX_CENTROIDS: u64 = 100;

/// Facts of one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreviewFacts {
    /// [`FACTS_VERSION`] of the computation.
    pub version: u32,
    /// Number of rows.
    pub rows: u64,
    /// Figures of the value columns that hold numbers, in the order of the columns.
    pub values: Vec<ValueFacts>,
    /// Number of further such columns, for "and N more".
    pub values_left_out: u64,
    /// Lines to draw; `None` without a date column or without numbers.
    pub series: Option<SeriesPreview>,
    /// Number of series (contract-15-series); one more than [`MAX_SERIES`] for any number above.
    /// `None` without a date axis, and in facts that were stored before it was counted.
    #[serde(default)]
    pub series_number: Option<u64>,
    /// Unit of the smallest distance of two dates in a series (contract-16-axis). `None` without a
    /// date axis, and where no unit has this distance.
    #[serde(default)]
    pub axis: Option<CalendarUnit>,
    /// Sample of the geometry; `None` without a geometry column.
    pub centroids: Option<CentroidSample>,
    /// Digest of all rows and columns (contract-13-digest).
    pub digest: ResultDigest,
    /// The newest rows where there is a date, else the first ones.
    pub latest: LatestRows,
}

/// Figures of a value column over all rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueFacts {
    /// Name of the column.
    pub column: String,
    /// Number of finite values.
    pub points: u64,
    /// Number of NaN and infinite values, which no other figure counts.
    pub excluded: u64,
    /// Value at the last date that has one. None without a date column, and where several series
    /// share their dates: each series has its own.
    pub latest: Option<DatedFigure>,
    /// Smallest value; `None` without points.
    pub min: Option<Figure>,
    /// Greatest value; `None` without points.
    pub max: Option<Figure>,
}

/// Centroids of some features, EPSG:4326.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CentroidSample {
    /// Number of all features, which is that of rows.
    pub features: u64,
    /// Longitude and latitude in degrees, rounded to six digits after the point, of the rows
    /// `floor(i * features / 100)`. A row without geometry has none.
    pub points: Vec<[f64; 2]>,
}

impl CentroidSample {
    /// Returns the rows of the sample of `features` rows, ascending and each once.
    pub fn sampled_rows(features: u64) -> impl Iterator<Item = u64> {
        let sample = features.min(MAX_CENTROIDS);
        let row = move |index: u64| {
            u64::try_from(u128::from(index) * u128::from(features) / u128::from(sample))
                .unwrap_or(u64::MAX)
        };
        (0..sample).map(row)
    }
}

impl PreviewFacts {
    /// Returns the figures of the column called `name`.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&ValueFacts> {
        self.values.iter().find(|value| value.column == name)
    }

    /// Returns the number of lines that there are: a series has one for each value column. `None`
    /// where series were not counted, or not to their end.
    #[must_use]
    pub fn line_count(&self) -> Option<u64> {
        let columns = self.values.len() as u64 + self.values_left_out;
        self.series_number.filter(|number| *number <= MAX_SERIES).map(|number| number * columns)
    }

    /// Returns the stored form: JSON of [`MAX_FACTS_BYTES`] at most once [`PreviewFacts::fit`] has
    /// passed over it.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Neither a map with other keys than text nor a float that JSON cannot write is in it.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// Fails with the words of serde where this version does not understand the text.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests;
