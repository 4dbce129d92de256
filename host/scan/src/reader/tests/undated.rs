//! Reads of a table whose first rows have no date, as those of a table of revisions may have none.

use arrow::array::{AsArray, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};
use yearbook_domain::Date;
use yearbook_domain::read_plan::RowOrder;

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan};
use super::ordered::{check_pages, table};

/// A table as `shape` says, of which the first `undated` rows have no date.
async fn stored(shape: &FixtureOptions, undated: usize) -> StoredFixture {
    let dated = table(shape, 3);
    let dates = dated.column(0).as_string::<i32>().iter().enumerate();
    let dates = StringArray::from_iter(dates.map(|(row, date)| date.filter(|_| row >= undated)));
    let mut columns = dated.columns().to_vec();
    columns[0] = Arc::new(dates);
    let fields = dated.schema_ref().fields().iter();
    let fields: Vec<Field> =
        fields.map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let mut stored = StoredFixture::of_table(table, shape).await;
    stored.snapshot.columns[0].nullable = true;
    stored
}

#[tokio::test]
async fn rows_without_a_date_are_on_neither_side_of_a_bound_and_come_last_contract_21() {
    let day = Date::parse;
    let starts = [None, day("1999-01-01"), day("2000-01-20")];
    let ends = [None, day("1999-01-01"), day("2000-01-25"), day("2001-01-01")];
    // (rows without a date of 120, rows of a group, rows of a page, statistics)
    let shapes = [
        (0, 40, 10, true),
        (4, 1_000, 1_000, true),
        (13, 40, 10, true),
        (40, 40, 10, true),
        (95, 40, 10, true),
        (120, 40, 10, true),
        (33, 40, 10, false),
    ];
    for (undated, group, page, statistics) in shapes {
        let shape = FixtureOptions { group, page, statistics, ..FixtureOptions::rows(120) };
        let stored = stored(&shape, undated).await;
        for (start, end) in starts.iter().flat_map(|start| ends.iter().map(|end| (*start, *end))) {
            for order in [RowOrder::Natural, RowOrder::NewestFirst] {
                let plan = ReadPlan { start, end, order, ..plan(&stored.snapshot) };
                check_pages(&stored, plan, 9).await;
            }
        }
    }
}
