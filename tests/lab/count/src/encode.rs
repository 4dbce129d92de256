//! The built-in encoders, native: a whole response from batches that are already there.

use yearbook_sdk::{Batch, Encoder, testing};

use crate::tables::{self, BenchTable};
use crate::{Workload, count};

type Make = fn() -> BenchTable;

/// Tables as the benchmark has them, small enough for a simulator.
const TABLES: [(&str, u64, Make); 4] = [
    ("long", 16_384, || tables::long(16_384)),
    ("wide", 2_000, || tables::wide(2_000)),
    ("spatial", 200, || tables::spatial(200)),
    ("small", 100, || tables::long(100)),
];

/// One work for each encoder and table.
pub(crate) fn works() -> Vec<Workload> {
    let mut works = Vec::new();
    for (table, units, make) in TABLES {
        let mut work = |format: &str, run: Box<dyn Fn()>| {
            works.push(Workload { name: format!("native {format} {table}"), units, run })
        };
        work("csv", Box::new(move || encode::<yearbook_csv::CsvEncoder>(make)));
        work("json", Box::new(move || encode::<yearbook_json::JsonEncoder>(make)));
        work("arrow", Box::new(move || encode::<yearbook_arrow::ArrowEncoder>(make)));
        work("parquet", Box::new(move || encode::<yearbook_parquet::ParquetEncoder>(make)));
    }
    works
}

fn encode<E: Encoder>(make: Make) {
    let input = make();
    let [first, counted] = [(); 2].map(|()| {
        let table = input.tables.with_part_rows(E::describe().part_rows);
        testing::batches_for::<E>(&table).unwrap()
    });
    let respond = |batches: Vec<Batch>| {
        testing::respond::<E>(batches, |chunk| drop(std::hint::black_box(chunk))).unwrap();
    };
    respond(first);
    count(|| respond(counted));
}
