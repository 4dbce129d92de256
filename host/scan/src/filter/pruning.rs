//! Pruning by statistics: what the least and the greatest value and the number of nulls of a row
//! group or a page say of a condition. Bounds may be wider than the values, since long text is cut;
//! numbers beside NaN are counted alone, so that any row may hold NaN.

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;
use yearbook_domain::read_plan::{ColumnTest, ColumnValue, FloatKey};

use super::column_predicate::{ColumnPredicate, ValueRef};
use crate::decode::{ParquetFile, pages_covering};

/// Rows that satisfy a condition, as far as statistics tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// None of them.
    Nothing,
    /// Any of them.
    Unknown,
    /// All of them.
    Everything,
}

/// Statistics of rows of a column.
struct Bounds<'a> {
    rows: u64,
    nulls: Option<u64>,
    least: Option<ValueRef<'a>>,
    greatest: Option<ValueRef<'a>>,
}

/// Rows of row group `group` that satisfy a condition, as far as its footer tells.
pub(super) fn group_coverage(
    parquet: &ParquetFile,
    group: usize,
    predicate: &ColumnPredicate,
) -> Coverage {
    let chunk = parquet.metadata.row_group(group).column(predicate.leaf);
    let rows = parquet.rows_of(group) as u64;
    let Some(statistics) = chunk.statistics() else { return Coverage::Unknown };
    let nulls = statistics.null_count_opt();
    let (least, greatest) = match statistics {
        Statistics::Boolean(values) => {
            (values.min_opt().map(boolean), values.max_opt().map(boolean))
        }
        Statistics::Int64(values) => (values.min_opt().map(integer), values.max_opt().map(integer)),
        Statistics::Double(values) => {
            (values.min_opt().and_then(number), values.max_opt().and_then(number))
        }
        Statistics::ByteArray(values) => {
            (values.min_bytes_opt().map(ValueRef::Text), values.max_bytes_opt().map(ValueRef::Text))
        }
        _ => (None, None),
    };
    coverage(predicate, &Bounds { rows, nulls, least, greatest })
}

/// The rows of row group `group` on pages that may satisfy a condition; `None` for all, as where
/// the file has no index of pages.
pub(super) fn page_rows(
    parquet: &ParquetFile,
    group: usize,
    predicate: &ColumnPredicate,
) -> Option<BooleanBuffer> {
    let index = parquet.metadata.page_index()?.column_index(group, predicate.leaf)?;
    let all = 0..parquet.rows_of(group);
    let pages = pages_covering(parquet, parquet.chunk_id(group, predicate.leaf), &all);
    let pages: Vec<_> = pages.collect();
    if pages.len() as u64 != index.num_pages() {
        return None;
    }
    let is_open = pages.iter().map(|page| {
        let bounds = page_bounds(index, page.page, page.rows.len() as u64);
        coverage(predicate, &bounds) != Coverage::Nothing
    });
    let is_open: Vec<bool> = is_open.collect();
    // Most columns are not clustered; bits of all rows would take longer than a look at all pages.
    if !is_open.contains(&false) {
        return None;
    }
    let mut rows = BooleanBufferBuilder::new(all.len());
    for (page, is_open) in pages.iter().zip(is_open) {
        rows.append_n(page.rows.len(), is_open);
    }
    let rows = rows.finish();
    (rows.len() == all.len()).then_some(rows)
}

fn page_bounds(index: &ColumnIndexMetaData, page: usize, rows: u64) -> Bounds<'_> {
    let (least, greatest) = match index {
        ColumnIndexMetaData::BOOLEAN(values) => {
            (values.min_value(page).map(boolean), values.max_value(page).map(boolean))
        }
        ColumnIndexMetaData::INT64(values) => {
            (values.min_value(page).map(integer), values.max_value(page).map(integer))
        }
        ColumnIndexMetaData::DOUBLE(values) => {
            (values.min_value(page).and_then(number), values.max_value(page).and_then(number))
        }
        ColumnIndexMetaData::BYTE_ARRAY(values) => {
            (values.min_value(page).map(ValueRef::Text), values.max_value(page).map(ValueRef::Text))
        }
        _ => (None, None),
    };
    let nulls = index.null_count(page).and_then(|nulls| u64::try_from(nulls).ok());
    Bounds { rows, nulls, least, greatest }
}

fn boolean(value: &bool) -> ValueRef<'static> {
    ValueRef::Boolean(*value)
}

fn integer(value: &i64) -> ValueRef<'static> {
    ValueRef::Integer(*value)
}

/// A bound of numbers; `None` for NaN, which stands where there is nothing else.
fn number(value: &f64) -> Option<ValueRef<'static>> {
    (!value.is_nan()).then(|| ValueRef::Number(FloatKey::new(*value)))
}

fn coverage(predicate: &ColumnPredicate, bounds: &Bounds<'_>) -> Coverage {
    let all_null = bounds.nulls == Some(bounds.rows);
    let none_null = bounds.nulls == Some(0);
    if let ColumnTest::IsNull(is_null) = predicate.test {
        return match () {
            () if !all_null && !none_null => Coverage::Unknown,
            () if is_null == all_null => Coverage::Everything,
            () => Coverage::Nothing,
        };
    }
    if all_null {
        return Coverage::Nothing;
    }
    let (Some(least), Some(greatest)) = (bounds.least, bounds.greatest) else {
        return Coverage::Unknown;
    };
    let may_be_nan = matches!(least, ValueRef::Number(_));
    // Whether no value is one of these, and whether all are.
    let membership = |values: &[ColumnValue]| {
        let first = values.partition_point(|value| least.compare(value).is_gt());
        let meets = values.get(first).is_some_and(|value| greatest.compare(value).is_ge());
        let has_nan = matches!(values.last(), Some(ColumnValue::Number(number)) if number.is_nan());
        (!(meets || has_nan), meets && least == greatest && (!may_be_nan || has_nan))
    };
    let (nothing, everything) = match &predicate.test {
        ColumnTest::AnyOf(values) => membership(values),
        ColumnTest::NoneOf(values) => {
            let (none, all) = membership(values);
            (all, none)
        }
        // What a bound accepts reaches to one end of all values.
        ColumnTest::Bound(..) => {
            let [low, high] = [least, greatest].map(|value| predicate.accepts(value));
            (!low && !high, low && high && !may_be_nan)
        }
        _ => (false, false),
    };
    match () {
        () if nothing => Coverage::Nothing,
        () if everything && none_null => Coverage::Everything,
        () => Coverage::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use yearbook_domain::read_plan::Side;

    use super::*;

    fn number(value: f64) -> ColumnValue {
        ColumnValue::Number(FloatKey::new(value))
    }

    fn text(value: &str) -> ColumnValue {
        ColumnValue::Text(value.to_owned())
    }

    #[test]
    fn bounds_decide_what_holds_whatever_they_leave_out_contract_15() {
        use Coverage::{Everything, Nothing, Unknown};
        let floats = |least, greatest| {
            let [least, greatest] = [least, greatest].map(|value| super::number(&value));
            (least, greatest)
        };
        let words = |least: &'static str, greatest: &'static str| {
            let [least, greatest] = [least, greatest].map(|word| ValueRef::Text(word.as_bytes()));
            (Some(least), Some(greatest))
        };
        let any = |values: Vec<ColumnValue>| ColumnTest::AnyOf(values);
        let none = |values: Vec<ColumnValue>| ColumnTest::NoneOf(values);
        let bound = ColumnTest::Bound;
        // (test, bounds, coverage without nulls and with some)
        let cases = [
            (any(vec![number(1.0), number(9.0)]), floats(2.0, 8.0), [Nothing; 2]),
            (any(vec![number(1.0), number(f64::NAN)]), floats(2.0, 8.0), [Unknown; 2]),
            (any(vec![number(3.0)]), floats(3.0, 3.0), [Unknown; 2]),
            (any(vec![number(3.0), number(f64::NAN)]), floats(3.0, 3.0), [Everything, Unknown]),
            (any(vec![number(0.0)]), floats(-0.0, -0.0), [Unknown; 2]),
            (any(vec![number(5.0)]), floats(f64::NAN, f64::NAN), [Unknown; 2]),
            (none(vec![number(3.0)]), floats(3.0, 3.0), [Unknown; 2]),
            (none(vec![number(3.0), number(f64::NAN)]), floats(3.0, 3.0), [Nothing; 2]),
            (none(vec![number(1.0)]), floats(2.0, 8.0), [Everything, Unknown]),
            (none(vec![number(f64::NAN)]), floats(2.0, 8.0), [Unknown; 2]),
            (bound(Side::AtLeast, number(2.0)), floats(2.0, 8.0), [Unknown; 2]),
            (bound(Side::Above, number(8.0)), floats(2.0, 8.0), [Nothing; 2]),
            (bound(Side::Below, number(0.0)), floats(-0.0, 1.0), [Nothing; 2]),
            (any(vec![text("m")]), words("b", "y"), [Unknown; 2]),
            (any(vec![text("m")]), words("m", "m"), [Everything, Unknown]),
            (none(vec![text("m")]), words("m", "m"), [Nothing; 2]),
            (bound(Side::AtLeast, text("b")), words("b", "y"), [Everything, Unknown]),
            (bound(Side::AtMost, text("az")), words("b", "y"), [Nothing; 2]),
            (ColumnTest::Starts(vec!["z".to_owned()]), words("b", "y"), [Unknown; 2]),
            (ColumnTest::IsNull(true), words("b", "y"), [Nothing, Unknown]),
            (ColumnTest::IsNull(false), words("b", "y"), [Everything, Unknown]),
        ];
        for (test, (least, greatest), expected) in cases {
            let predicate = ColumnPredicate::new(0, test);
            let found = [Some(0), Some(3)]
                .map(|nulls| coverage(&predicate, &Bounds { rows: 9, nulls, least, greatest }));
            assert_eq!(found, expected, "{:?} in {least:?} to {greatest:?}", predicate.test);
            let only_nulls = Bounds { rows: 9, nulls: Some(9), least: None, greatest: None };
            let is_null = predicate.test == ColumnTest::IsNull(true);
            let of_nulls = if is_null { Everything } else { Nothing };
            assert_eq!(coverage(&predicate, &only_nulls), of_nulls);
        }
    }
}
