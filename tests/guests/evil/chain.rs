//! Chains of transforms: the rows that each is given, and those that come out.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::StreamExt as _;
use yearbook_domain::Date;
use yearbook_sandbox::{
    BoxError, GuestError, RowWindow, TransformChain, TransformFailure, TransformStep,
};
use yearbook_shares::CallerShare;

use crate::guest::{MadeColumn, TransformGuest};
use crate::transform_arena::{Table, TransformArena};

/// Days of the table: two a year.
const DAYS: &[&str] = &[
    "2017-01-01",
    "2017-07-01",
    "2018-01-01",
    "2018-07-01",
    "2019-01-01",
    "2019-07-01",
    "2020-01-01",
    "2020-07-01",
];

/// Unit of spans: years.
const YEARS: u32 = 5;

/// A guest that gives a row for each row of the table's batches, which have one.
fn same(name: &str) -> TransformGuest {
    TransformGuest::named(name).with(|guest| {
        guest.relation = 0;
        guest.made.take.clear();
    })
}

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn selected(text: &str) -> RowWindow {
    RowWindow::Selected { start: Some(day(text)), most: None }
}

impl TransformArena {
    async fn plan(
        &self,
        table: &Arc<Table>,
        guests: Vec<TransformGuest>,
    ) -> Result<TransformChain, TransformFailure> {
        let step = |guest: TransformGuest| TransformStep {
            transform: self.sandbox.load_transform(&guest.build()).unwrap(),
            options: Vec::new(),
        };
        let steps = guests.into_iter().map(step).collect();
        let schema = Arc::clone(&table.schema);
        TransformChain::plan(&CallerShare::default(), steps, schema, Arc::clone(table) as _).await
    }

    /// Rows from 2020 on, and the names of their columns.
    async fn rows(&self, chain: &TransformChain) -> Result<Vec<RecordBatch>, BoxError> {
        self.first_rows(chain, Some("2020-01-01"), None).await
    }

    /// Rows from `start` on, of which `most` suffice.
    async fn first_rows(
        &self,
        chain: &TransformChain,
        start: Option<&str>,
        most: Option<u64>,
    ) -> Result<Vec<RecordBatch>, BoxError> {
        let holder = CallerShare::default();
        let mut places = self.encoder.admit(&holder, chain.places()).await?;
        let mut rows = chain.start(&holder, &mut places, start.map(day), most);
        let mut batches = Vec::new();
        while let Some(batch) = rows.next().await {
            batches.push(batch?);
        }
        Ok(batches)
    }

    /// Rows that guests of a name were given, those of priming included.
    fn rows_given(&self, name: &str) -> u64 {
        let all = self.sandbox.metrics_snapshots();
        all.iter().filter(|counts| counts.release.id.name == name).map(|counts| counts.rows).sum()
    }
}

fn count(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_before_start_are_seen_as_far_back_as_each_transform_asks_and_left_out_contract_16() {
    let arena = TransformArena::open();
    let table = Table::new(DAYS, 1);
    let guest = |name, years| {
        same(name).with(|guest| {
            guest.needs.before = Some((years, YEARS));
            guest.needs.columns = vec![(0, 2)];
        })
    };
    let second = guest("two", 2).with(|guest| guest.needs.columns = vec![(1, 0)]);
    let chain = arena.plan(&table, vec![guest("one", 1), second]).await.unwrap();
    let windows = chain.windows(Some(day("2020-01-01")));
    assert_eq!(windows, [selected("2017-01-01")]);
    assert_eq!(count(&arena.rows(&chain).await.unwrap()), 2);
    assert_eq!(table.asked.lock().unwrap()[0].0, windows[0]);
    assert_eq!(arena.rows_given("one"), 8);
    assert_eq!(arena.rows_given("two"), 6, "what the first gives of 2017 is left out");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transform_is_primed_before_its_first_row_by_those_before_it_contract_16() {
    let arena = TransformArena::open();
    // Traps where rows come before all of those that prime it.
    let primed = |prime, batches: u32| {
        let prime_call = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
            (call $nothing)";
        let push = format!(
            "(if (i32.ne (global.get $calls) (i32.const {batches})) (then (unreachable)))
             (i32.const 2304)"
        );
        same("primed")
            .with(|guest| {
                guest.needs.prime = prime;
                guest.needs.dates = ["2018-01-01", "2018-12-31"];
                guest.needs.columns = vec![(1, 0)];
            })
            .does("prime", prime_call)
            .does("push", &push)
    };
    let first = || same("one").with(|g| g.needs.before = Some((1, YEARS)));
    let dates = |from, to| RowWindow::Dates { from: day(from), to: day(to) };
    for (prime, windows, batches) in [
        (1, [dates("2017-01-01", "2018-12-31"), selected("2019-01-01")], 2),
        (2, [selected("2019-01-01"), selected("2019-01-01")], 2),
    ] {
        let table = Table::new(DAYS, 1);
        let chain = arena.plan(&table, vec![first(), primed(prime, batches)]).await.unwrap();
        assert_eq!((chain.places(), chain.windows(Some(day("2020-01-01")))), (2, windows.to_vec()));
        assert_eq!(count(&arena.rows(&chain).await.unwrap()), 2, "{prime}");
        let asked: Vec<_> = table.asked.lock().unwrap().iter().map(|(window, _)| *window).collect();
        assert_eq!(asked, windows);
        assert_eq!(arena.sandbox.free_instances(), 8);
    }
    // Behind rows of its own, dates are those of these rows.
    let own = same("one").with(|guest| {
        guest.relation = 2;
        guest.needs.groups = Some(vec![0]);
        guest.columns[0].source = (1, 0);
        guest.made.groups = vec![0];
    });
    let chain = arena.plan(&Table::new(DAYS, 1), vec![own, primed(1, 0)]).await.unwrap();
    let all = RowWindow::Dates { from: Date::MIN, to: Date::MAX };
    assert_eq!(chain.windows(Some(day("2020-01-01"))), [all, selected("2020-01-01")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_behind_a_page_are_not_read_where_each_row_gives_one_contract_16() {
    let arena = TransformArena::open();
    let before = |guest: &mut TransformGuest| guest.needs.before = Some((1, YEARS));
    let primed = |guest: &mut TransformGuest| guest.needs.prime = 2;
    let chosen = |guest: &mut TransformGuest| {
        guest.relation = 1;
        guest.made.take = vec![0];
    };
    type Change = fn(&mut TransformGuest);
    let (start, few) = (Some("2017-07-01"), Some(3));
    for (what, change, start, asked, rows) in [
        ("each gives one", None, start, &[few][..], 3),
        ("some are left out", Some(before as Change), start, &[None], 7),
        ("none is left out", Some(before), None, &[few], 3),
        ("primed with all", Some(primed), start, &[None, few], 3),
        ("some are chosen", Some(chosen), start, &[None], 7),
    ] {
        let table = Table::new(DAYS, 1);
        let guest = change.map_or_else(|| same("one"), |change| same("one").with(change));
        let chain = arena.plan(&table, vec![guest]).await.unwrap();
        assert_eq!(count(&arena.first_rows(&chain, start, few).await.unwrap()), rows, "{what}");
        let windows = table.asked.lock().unwrap();
        let most = windows.iter().map(|(window, _)| match window {
            RowWindow::Selected { most, .. } => *most,
            RowWindow::Dates { .. } => unreachable!(),
        });
        assert_eq!(most.collect::<Vec<_>>(), asked, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_columns_that_somebody_needs_are_read_and_made_contract_16() {
    let arena = TransformArena::open();
    let table = Table::new(DAYS, 1);
    let guest = same("one").with(|guest| {
        guest.columns.push(MadeColumn::new("area", (0, 1)));
        guest.needs.columns.clear();
    });
    let mut chain = arena.plan(&table, vec![guest]).await.unwrap();
    let names = |chain: &TransformChain| {
        chain.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&chain), ["date", "rate", "area"]);
    assert!(chain.is_row_for_row() && chain.order().is_empty());
    let all = arena.rows(&chain).await.unwrap();
    chain.restrict(&[1, 2]);
    assert_eq!(names(&chain), ["rate", "area"]);
    let some = arena.rows(&chain).await.unwrap();
    assert_eq!(some, all.iter().map(|b| b.project(&[1, 2]).unwrap()).collect::<Vec<_>>());
    chain.restrict(&[0]);
    assert_eq!(names(&chain), ["rate"]);
    arena.rows(&chain).await.unwrap();
    let asked = table.asked.lock().unwrap();
    let columns: Vec<&[usize]> = asked.iter().map(|(_, columns)| columns.as_slice()).collect();
    assert_eq!(columns, [&[0, 1][..], &[1], &[0]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_are_those_of_the_table_s_column_as_far_as_values_are_its_own_contract_16() {
    let arena = TransformArena::open();
    let coded = |column| same("coded").with(|guest| guest.needs.columns = vec![(column, 1)]);
    let passes = |guest: &mut TransformGuest| guest.columns.push(MadeColumn::new("area", (0, 1)));
    let groups = |guest: &mut TransformGuest| {
        guest.relation = 2;
        guest.needs.groups = Some(vec![0, 1]);
        guest.columns[0].source = (1, 0);
        guest.columns.push(MadeColumn::new("area", (1, 1)));
        guest.made.groups = vec![0];
    };
    let values_of = |guest: &mut TransformGuest| {
        let mut area = MadeColumn::new("area", (2, 0));
        area.values_of = Some(1);
        guest.columns.push(area);
    };
    type Change = fn(&mut TransformGuest);
    for change in [passes as Change, groups, values_of] {
        let table = Table::new(DAYS, 1);
        let first = same("one").with(change);
        let chain = arena.plan(&table, vec![first, coded(2)]).await;
        assert!(chain.is_ok(), "{:?}", chain.err());
        assert_eq!(table.coded.lock().unwrap().last().map(String::as_str), Some("region"));
    }
    let made = |guest: &mut TransformGuest| guest.columns.push(MadeColumn::new("area", (2, 0)));
    let first = same("one").with(made);
    let failure = arena.plan(&Table::new(DAYS, 1), vec![first, coded(2)]).await.err().unwrap();
    assert_eq!(failure.transform.name(), "coded");
    assert!(matches!(failure.error, GuestError::Declined(said) if said.contains("column area")));
}
