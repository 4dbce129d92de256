//! Columns of a chain as their fields describe them: roles, dates, and the columns of a series.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, RecordBatch, make_array, new_null_array,
};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use yearbook_domain::metadata_key::{ROLE, TYPE};
use yearbook_domain::read_plan::FloatKey;
use yearbook_domain::{ColumnRole, Date};

/// Value of [`TYPE`] for dates.
pub(super) const DATE: &str = "date";

/// Type of a column's values, whether they are dictionary-encoded or not.
pub(super) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    }
}

/// Returns whether a column has the role.
pub(super) fn has_role(field: &Field, role: ColumnRole) -> bool {
    field.metadata().get(ROLE).is_some_and(|found| found == role.as_str())
}

/// Returns whether all text of a column is dates.
pub(super) fn is_date(field: &Field) -> bool {
    *value_type(field.data_type()) == DataType::Utf8
        && field.metadata().get(TYPE).is_some_and(|found| found == DATE)
}

/// Position of the date axis.
pub(super) fn date_column(schema: &Schema) -> Option<usize> {
    let dated = |field: &Field| has_role(field, ColumnRole::Date) && is_date(field);
    schema.fields().iter().position(|field| dated(field))
}

/// `column` with numbers that are equal where their bits are: -0 is 0, and there is one NaN, above
/// all others, as everywhere (contract-15-order).
pub(super) fn comparable(column: &ArrayRef) -> ArrayRef {
    let Some(numbers) = column.as_primitive_opt::<Float64Type>() else {
        return Arc::clone(column);
    };
    let numbers: Float64Array =
        numbers.unary::<_, Float64Type>(|number| FloatKey::new(number).number());
    Arc::new(numbers)
}

/// `rows` whose date is one from `from` to `to`. `dates`: one for each of them.
///
/// # Errors
/// Fails for a column of another type.
pub(super) fn rows_within(
    rows: RecordBatch,
    dates: &ArrayRef,
    from: Date,
    to: Date,
) -> Result<RecordBatch, ArrowError> {
    let is_inside =
        |day: Option<&str>| day.is_some_and(|day| from.as_str() <= day && day <= to.as_str());
    let days = |column: &ArrayRef| match column.as_string_opt::<i32>() {
        Some(days) => Ok(days.iter().map(is_inside).collect::<Vec<bool>>()),
        None => Err(ArrowError::CastError("dates that are no text".to_owned())),
    };
    let inside = match dates.as_dictionary_opt::<Int32Type>() {
        Some(keyed) => {
            // Each value of a dictionary is compared once.
            let of_values = days(keyed.values())?;
            let of_key = |key: Option<i32>| of_values.get(usize::try_from(key?).ok()?).copied();
            keyed.keys().iter().map(|key| of_key(key).unwrap_or(false)).collect()
        }
        None => days(dates)?,
    };
    if inside.iter().all(|inside| *inside) {
        return Ok(rows);
    }
    filter_record_batch(&rows, &BooleanArray::from(inside))
}

/// `batch`, which has the columns `read` of `schema`, with all columns of it; those that are
/// missing have neither text nor numbers. For a failure dump.
pub(super) fn whole_batch(
    schema: &SchemaRef,
    read: &[usize],
    batch: &RecordBatch,
) -> Option<RecordBatch> {
    let columns = schema.fields().iter().enumerate().map(|(position, field)| {
        if let Ok(place) = read.binary_search(&position) {
            return Some(Arc::clone(batch.column(place)));
        }
        let nulls = new_null_array(value_type(field.data_type()), batch.num_rows());
        let blank = nulls.to_data().into_builder().nulls(None).build().ok().map(make_array)?;
        arrow::compute::cast(&blank, field.data_type()).ok()
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Option<Vec<_>>>()?).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use yearbook_domain::metadata_key::{AXIS, PRIMARY_KEY, SERIES, UNIT};

    use super::*;

    /// A table of dates, period codes, regions and values.
    pub(crate) fn table() -> Schema {
        let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let field = |name: &str, data_type: &DataType, role: &str| {
            Field::new(name, data_type.clone(), true).with_metadata([(ROLE, role)])
        };
        Schema::new_with_metadata(
            vec![
                field("date", &text, "date").with_metadata([(ROLE, "date"), (TYPE, DATE)]),
                field("period", &DataType::Utf8, "period"),
                field("region", &text, "dimension"),
                field("value", &DataType::Float64, "value")
                    .with_metadata([(ROLE, "value"), (UNIT, "NZD")]),
            ],
            [
                (PRIMARY_KEY, r#"["date","region"]"#),
                (SERIES, r#"["region"]"#),
                (AXIS, "month"),
                ("yearbook.dataset", "d"),
            ],
        )
    }
}
