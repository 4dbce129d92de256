//! The built-in encoders, native: a whole response a round, from batches that are already there.

use yearbook_sdk::{Batch, Encoder, testing};

use crate::tables::{self, BenchTable};
use crate::{ROUNDS, Workload};

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
        let mut work = |format: &str, run: Box<dyn Fn(u64)>| {
            works.push(Workload { name: format!("native {format} {table}"), units, run })
        };
        work("csv", Box::new(move |rounds| encode::<yearbook_csv::CsvEncoder>(make, rounds)));
        work("json", Box::new(move |rounds| encode::<yearbook_json::JsonEncoder>(make, rounds)));
        work("arrow", Box::new(move |rounds| encode::<yearbook_arrow::ArrowEncoder>(make, rounds)));
        work(
            "parquet",
            Box::new(move |rounds| encode::<yearbook_parquet::ParquetEncoder>(make, rounds)),
        );
    }
    works
}

fn encode<E: Encoder>(make: Make, rounds: u64) {
    let input = make();
    let prepared: Vec<Vec<Batch>> = (0..ROUNDS)
        .map(|_| {
            let table = input.tables.with_part_rows(E::describe().part_rows);
            testing::batches_for::<E>(&table).unwrap()
        })
        .collect();
    for batches in prepared.into_iter().take(usize::try_from(rounds).unwrap()) {
        testing::respond::<E>(batches, |chunk| drop(std::hint::black_box(chunk))).unwrap();
    }
}
