//! The tables that are served: made from packages that are the same at every run. Owns the
//! differences from the output of `cargo xtask generate`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use yearbook_generate::TableShape;
use yearbook_xtask::demo;

use super::Bench;

/// The tables that everybody serves; the last has a row for each dataset.
pub(super) const NAMES: [&str; 5] = ["long", "areas", "places", "boundaries", "datasets"];

/// The tables that selections are measured with.
pub(super) const SELECTED: [&str; 3] = ["long", "long_10m", "many_areas"];

/// Rows of `long`.
pub(super) const LONG_ROWS: u64 = demo::ROWS;
/// Rows of `areas` and `places`.
pub(super) const AREA_ROWS: u64 = 20_000;
/// Rows of `many_areas`.
const SELECTED_AREA_ROWS: u64 = 100_000;
/// Rows of `boundaries`, some 33 MB.
pub(super) const BOUNDARY_ROWS: u64 = 250;
/// All datasets together.
pub(super) const DATASET_ROWS: u64 = 1_500;
/// Rows of a series of `long` and `long_10m`: months.
pub(super) const SERIES_ROWS: u64 = 600;
/// Text that a search for the end of the table looks for: in one row of eight of its last 4 %, and
/// nowhere before.
pub(super) const LATE_MATCH: &str = "chatham";
/// A search that finds one row of each month.
pub(super) const RARE_MATCH: &str = "S0001666";

/// Packages of `long`, `areas`, `places` (the same areas, which never had geometry), `boundaries`
/// and small ones, [`DATASET_ROWS`] in all.
pub(super) fn packages(bench: &Bench<'_>) -> Result<Vec<PathBuf>> {
    let folder = bench.folder.join("packages");
    let areas = areas(bench)?;
    let mut descriptors = vec![
        long(bench, &folder.join("long"))?,
        places(&areas, &folder.join("places"))?,
        areas,
        spatial(&folder, BOUNDARY_ROWS, TableShape::Boundaries, "boundaries")?,
    ];
    for number in 5..=DATASET_ROWS {
        // One row, to be one of many datasets.
        descriptors.push(yearbook_generate::numbered_package(number, 1, 1, &folder)?);
    }
    Ok(descriptors)
}

/// The package of `areas`.
pub(super) fn areas(bench: &Bench<'_>) -> Result<PathBuf> {
    spatial(&bench.folder.join("packages"), AREA_ROWS, TableShape::Spatial, "areas")
}

/// A generated package with geometry, called `name`, in a folder of that name.
fn spatial(folder: &Path, rows: u64, shape: TableShape, name: &str) -> Result<PathBuf> {
    let generated = yearbook_generate::package(rows, shape, false, &folder.join(name))?;
    copy_renamed(&generated, &generated, name, |_| ())
}

/// Series of `long` or `long_10m`.
pub(super) fn series_of(table: &str) -> u64 {
    let rows = if table == "long" { LONG_ROWS } else { 10 * LONG_ROWS };
    rows.div_ceil(SERIES_ROWS)
}

/// Packages of [`SELECTED`].
pub(super) fn selected_packages(bench: &Bench<'_>) -> Result<Vec<PathBuf>> {
    let folder = bench.folder.join("selected");
    let areas =
        yearbook_generate::package(SELECTED_AREA_ROWS, TableShape::Spatial, false, &folder)?;
    let large = generated_long(bench, 10 * LONG_ROWS)?;
    Ok(vec![
        long(bench, &folder.join("long"))?,
        copy_renamed(&large, &large.with_file_name("long_10m.json"), "long_10m", |_| ())?,
        copy_renamed(&areas, &areas, "many_areas", |_| ())?,
    ])
}

/// The long table of so many rows, made once and kept.
pub(super) fn generated_long(bench: &Bench<'_>, rows: u64) -> Result<PathBuf> {
    let package = bench.repository.cache_dir().join("generated").join(format!("long_{rows}"));
    let descriptor = package.join("datapackage.json");
    if descriptor.exists() {
        return Ok(descriptor);
    }
    println!("-- make {rows} synthetic rows");
    yearbook_generate::package(rows, TableShape::Long, false, &package)
}

/// The generated million rows; a region of its own begins after 96 % of them, for searches to find
/// late.
fn long(bench: &Bench<'_>, folder: &Path) -> Result<PathBuf> {
    let generated = demo::million_rows(bench.repository)?;
    let from = generated.with_file_name(format!("synthetic_long_{LONG_ROWS}.csv"));
    let mut row = 0;
    rewrite_file(&from, &folder.join("long.csv"), |line| {
        if is_row(line) {
            row += 1;
            if row > LONG_ROWS * 96 / 100 {
                *line = line.replacen(",Northland,", ",Chatham Islands,", 1);
            }
        }
    })?;
    copy_renamed(&generated, &folder.join("datapackage.json"), "long", |descriptor| {
        descriptor["resources"][0]["path"] = json!("long.csv");
    })
}

/// Returns true for the first line of a row, which begins with its date: a note may hold a line
/// break.
pub(super) fn is_row(line: &str) -> bool {
    line.as_bytes().get(4) == Some(&b'-') && line.as_bytes().get(7) == Some(&b'-')
}

/// The areas without their last column.
fn places(areas: &Path, folder: &Path) -> Result<PathBuf> {
    let from = areas.with_file_name(format!("synthetic_spatial_{AREA_ROWS}.csv"));
    rewrite_file(&from, &folder.join("places.csv"), |line| {
        let geometry = line.find(",\"MULTI").or_else(|| line.rfind(','));
        line.truncate(geometry.unwrap_or(line.len()));
        line.push('\n');
    })?;
    copy_renamed(areas, &folder.join("datapackage.json"), "places", |descriptor| {
        let resource = &mut descriptor["resources"][0];
        resource["path"] = json!("places.csv");
        if let Some(fields) = resource["schema"]["fields"].as_array_mut() {
            fields.retain(|field| field["name"] != "geometry_wkt");
        }
    })
}

/// A copy of a descriptor under another name, and otherwise as `change` has it.
pub(super) fn copy_renamed(
    from: &Path,
    to: &Path,
    name: &str,
    change: impl FnOnce(&mut Value),
) -> Result<PathBuf> {
    let text =
        fs::read_to_string(from).with_context(|| format!("cannot read {}", from.display()))?;
    let mut descriptor: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", from.display()))?;
    descriptor["name"] = json!(name);
    descriptor["resources"][0]["name"] = json!(name);
    change(&mut descriptor);
    fs::write(to, descriptor.to_string())
        .with_context(|| format!("cannot write {}", to.display()))?;
    Ok(to.to_owned())
}

/// A copy of a text file; `change` is given each line with its line break.
pub(super) fn rewrite_file(
    from: &Path,
    to: &Path,
    mut change: impl FnMut(&mut String),
) -> Result<()> {
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    let mut lines = BufReader::new(File::open(from).with_context(failed)?);
    let mut out = BufWriter::new(File::create(to).with_context(failed)?);
    let mut line = String::new();
    while lines.read_line(&mut line).with_context(failed)? > 0 {
        change(&mut line);
        out.write_all(line.as_bytes()).with_context(failed)?;
        line.clear();
    }
    out.flush().with_context(failed)
}
