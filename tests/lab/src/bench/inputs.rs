//! One table, made once, published as CSV and as SDMX-CSV, each in a process of its own, with its
//! time and its peak of memory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use yearbook_generate::TableShape;
use yearbook_xtask::demo;

use super::Bench;
use super::peers::YEARBOOK;
use super::tables::{copy_renamed, is_row, rewrite_file};
use crate::measurements::{Measurements, median};
use crate::process::MeasuredRun;
use crate::product::{self, Product};

/// Names of the forms, and of their folders.
const FORMS: [&str; 2] = ["CSV", "SDMX-CSV"];

/// Publishes both forms in turns. Both have to become the same snapshot.
pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let folder = bench.folder.join("inputs");
    let packages = packages(&demo::million_rows(bench.repository)?, &folder.join("table"))?;
    let small = yearbook_generate::package(1_000, TableShape::Long, false, &folder.join("small"))?;
    // Published first, so that no run pays for compiling the reader.
    let [_, small] = self::packages(&small, &folder.join("small"))?;
    let mut runs = FORMS.map(|_| Vec::new());
    let mut snapshots = Vec::new();
    for run in 0..=bench.args.runs {
        for (package, runs) in packages.iter().zip(&mut runs) {
            let product = Product::new(binary, folder.join("data"))?;
            product.publish(std::slice::from_ref(&small))?;
            let mut publish = product.command();
            let publish = publish.arg("publish").arg(package).arg("--json");
            let published = MeasuredRun::run_to_end(publish, &folder)?;
            let said: Value =
                serde_json::from_str(&published.output).context("yearbook answers no JSON")?;
            snapshots.push((said["snapshot_id"].clone(), said["rows"].clone()));
            if run > 0 {
                runs.push(published);
            }
        }
    }
    ensure!(
        snapshots.iter().all(|same| *same == snapshots[0] && same.1 == demo::ROWS),
        "the same table is not the same snapshot: {snapshots:?}"
    );
    for ((form, package), runs) in FORMS.iter().zip(&packages).zip(&runs) {
        let seconds = median(&runs.iter().map(|run| run.seconds).collect::<Vec<_>>());
        let table = package.with_file_name("table.csv");
        let bytes = fs::metadata(&table).context("the table is gone")?.len();
        let (megabytes, million_rows) = (bytes as f64 / 1e6, demo::ROWS as f64 / 1e6);
        let values = [
            ("megabytes", megabytes),
            ("million_rows", million_rows),
            ("seconds", seconds),
            ("megabytes_a_second", megabytes / seconds),
            ("million_rows_a_second", million_rows / seconds),
            ("peak_mib", runs.iter().map(|run| run.peak_mebibytes).fold(0.0, f64::max)),
        ];
        figures.add("inputs", form, YEARBOOK, values);
    }
    product::empty(&folder)
}

/// A generated package of the long shape in both forms: without notes that are empty and not null,
/// which SDMX-CSV cannot tell apart.
fn packages(generated: &Path, folder: &Path) -> Result<[PathBuf; 2]> {
    let text = fs::read_to_string(generated).context("cannot read a descriptor")?;
    let descriptor: Value = serde_json::from_str(&text).context("a descriptor is not JSON")?;
    let name = descriptor["name"].as_str().context("a descriptor without a name")?;
    let from = generated.with_file_name(format!("{name}.csv"));
    let [csv, sdmx] = FORMS.map(|form| folder.join(form));
    rewrite_file(&from, &csv.join("table.csv"), without_empty_note)?;
    rewrite_file(&from, &sdmx.join("table.csv"), |line| {
        without_empty_note(line);
        if is_row(line) {
            line.replace_range(.."1976-01-01,".len(), "dataflow,YEARBOOK:LONG(1.0),I,");
        } else if let Some(names) = line.strip_prefix("date,period,") {
            *line = format!("STRUCTURE,STRUCTURE_ID,ACTION,TIME_PERIOD,{}", names.to_uppercase());
        }
    })?;
    Ok([
        copy_renamed(generated, &csv.join("datapackage.json"), name, |descriptor| {
            descriptor["resources"][0]["path"] = json!("table.csv");
        })?,
        copy_renamed(generated, &sdmx.join("datapackage.json"), name, |descriptor| {
            descriptor["resources"][0]["path"] = json!("table.csv");
            descriptor["resources"][0]["format"] = json!("sdmx-csv");
            descriptor["yearbook"]["source_columns"] =
                json!({ "date": "TIME_PERIOD", "period": "TIME_PERIOD" });
        })?,
    ])
}

fn without_empty_note(line: &mut String) {
    if line.ends_with(",\"\"\n") {
        line.truncate(line.len() - "\"\"\n".len());
        line.push('\n');
    }
}
