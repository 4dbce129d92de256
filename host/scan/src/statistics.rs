//! Statistics of a stored file by column, from its footer: what a client may leave unread. Only
//! bounds that hold for every row are reported. Never reads a row.

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use yearbook_domain::{ColumnRole, ColumnType, Snapshot};

use crate::decode::ParquetFile;
use crate::{Reader, StorageFailure};

/// Longest text that serves as a bound, bytes. The writer cuts longer ones.
const MAX_BOUND_BYTES: usize = 64;

/// Statistics of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileStatistics {
    /// Number of rows.
    pub rows: u64,
    /// Columns in the snapshot's order, geometry left out.
    pub columns: Vec<ColumnStatistics>,
}

/// Statistics of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// Name of the column.
    pub name: String,
    /// Number of nulls; `None` if unknown.
    pub nulls: Option<u64>,
    /// No value is smaller; `None` if unknown, or there is no value.
    pub min: Option<StatisticValue>,
    /// No value is greater; `None` if unknown, or there is no value. Numbers have none, because NaN
    /// counts as the greatest and footers leave it out.
    pub max: Option<StatisticValue>,
}

/// A bound.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum StatisticValue {
    /// False is smaller than true.
    Boolean(bool),
    /// 64-bit signed integer.
    Integer(i64),
    /// Finite 64-bit float.
    Number(f64),
    /// UTF-8 text by its bytes; dates too.
    Text(String),
}

impl Reader {
    /// Returns the statistics of the file of `snapshot`, from memory where the footer is there.
    ///
    /// # Errors
    /// A [`StorageFailure`] that names the stored file.
    pub async fn statistics(&self, snapshot: &Snapshot) -> Result<FileStatistics, StorageFailure> {
        let source = self.open_file(snapshot).await?;
        let mut columns = Vec::with_capacity(snapshot.columns.len());
        for (position, column) in snapshot.columns.iter().enumerate() {
            if column.role != ColumnRole::Geometry {
                let leaf = source.parquet.column_index(position)?;
                columns.push(column_statistics(&source.parquet, leaf, column));
            }
        }
        Ok(FileStatistics { rows: snapshot.rows, columns })
    }
}

fn column_statistics(
    file: &ParquetFile,
    leaf: usize,
    column: &yearbook_domain::Column,
) -> ColumnStatistics {
    let groups = || file.metadata.row_groups().iter().map(|group| group.column(leaf));
    let nulls = |chunk: &ColumnChunkMetaData| chunk.statistics()?.null_count_opt();
    // A bound of the whole needs one of every group that has values.
    let has_values = |chunk: &&ColumnChunkMetaData| {
        let values = u64::try_from(chunk.num_values()).unwrap_or(u64::MAX);
        nulls(chunk).is_none_or(|nulls| nulls < values)
    };
    let bounds: Option<Vec<_>> = groups()
        .filter(has_values)
        .map(|chunk| chunk_bounds(chunk.statistics()?, column.column_type))
        .collect();
    let bounds = bounds.unwrap_or_default();
    let smaller =
        |one: StatisticValue, other: StatisticValue| if other < one { other } else { one };
    let greater =
        |one: StatisticValue, other: StatisticValue| if other > one { other } else { one };
    let min = bounds.iter().map(|(min, _)| min.clone()).reduce(smaller);
    let max = bounds.into_iter().map(|(_, max)| max).reduce(greater);
    ColumnStatistics {
        name: column.name.clone(),
        nulls: groups().map(nulls).sum(),
        min,
        max: max.filter(|_| column.column_type != ColumnType::Number),
    }
}

/// Least and greatest value of a chunk; `None` where they are unknown, cut or of another type.
fn chunk_bounds(
    statistics: &Statistics,
    column_type: ColumnType,
) -> Option<(StatisticValue, StatisticValue)> {
    let text = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BOUND_BYTES)?;
        Some(StatisticValue::Text(text.to_owned()))
    };
    let exact = statistics.min_is_exact() && statistics.max_is_exact();
    match (statistics, column_type) {
        (Statistics::Boolean(values), ColumnType::Boolean) => {
            let [min, max] = [values.min_opt(), values.max_opt()];
            Some((StatisticValue::Boolean(*min?), StatisticValue::Boolean(*max?)))
        }
        (Statistics::Int64(values), ColumnType::Integer) => {
            let [min, max] = [values.min_opt(), values.max_opt()];
            Some((StatisticValue::Integer(*min?), StatisticValue::Integer(*max?)))
        }
        (Statistics::Double(values), ColumnType::Number) => {
            let [min, max] = [values.min_opt(), values.max_opt()];
            let finite = |value: &f64| value.is_finite().then_some(StatisticValue::Number(*value));
            Some((finite(min?)?, finite(max?)?))
        }
        (Statistics::ByteArray(values), ColumnType::String | ColumnType::Date) if exact => {
            Some((text(values.min_opt()?.data())?, text(values.max_opt()?.data())?))
        }
        _ => None,
    }
}
