//! Made-up data packages of any size, the same at every run and on every machine. Owns what the
//! rows look like; never reads or needs real data. Every package says that it is synthetic.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};

mod boundaries;
mod cell;
mod long;
mod observations;
mod random;
mod spatial;
mod wide;

pub use boundaries::boundary;
pub use observations::{ObservationPackages, observations};
pub use random::SplitMix64;

/// Columns and rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableShape {
    /// One value a row, named by dimension columns; months.
    Long,
    /// Thirty series a row; days.
    Wide,
    /// Areas without dates, with boundaries of much the same size.
    Spatial,
    /// Areas without dates, with boundaries of 200 bytes to 5 MB.
    Boundaries,
}

impl TableShape {
    /// Every name that [`str::parse`] takes.
    pub const NAMES: [&str; 3] = ["long", "wide", "spatial"];

    fn name(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Wide => "wide",
            Self::Spatial => "spatial",
            Self::Boundaries => "boundaries",
        }
    }

    /// Start of the random numbers. Another seed makes other values of the same keys.
    fn seed(self) -> u64 {
        match self {
            Self::Long => 1,
            Self::Wide => 2,
            Self::Spatial => 3,
            Self::Boundaries => 4,
        }
    }
}

impl FromStr for TableShape {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        [Self::Long, Self::Wide, Self::Spatial, Self::Boundaries]
            .into_iter()
            .find(|shape| shape.name() == name)
            .with_context(|| format!("`{name}` is no shape of a table"))
    }
}

/// Writes `count` packages of `rows` rows each below `directory`, no two alike.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn datasets(count: u64, rows: u64, directory: &Path) -> Result<()> {
    for number in 1..=count {
        numbered_package(number, rows, 1, directory)?;
    }
    Ok(())
}

/// Writes the package of dataset `number`, in long form, into a folder of its own below
/// `directory`, and returns the path of its descriptor. Another `edition` has other values.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn numbered_package(number: u64, rows: u64, edition: u64, directory: &Path) -> Result<PathBuf> {
    let name = format!("synthetic_{number:06}");
    write_package(
        &name,
        TableShape::Long,
        rows,
        number << 20 | edition,
        false,
        &directory.join(&name),
    )
}

/// Writes a package of `rows` rows into `directory`, its table compressed with `gzip` or not, and
/// returns the path of its descriptor. Rows are streamed: memory does not grow with their number.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn package(rows: u64, shape: TableShape, gzip: bool, directory: &Path) -> Result<PathBuf> {
    write_package(
        &format!("synthetic_{}_{rows}", shape.name()),
        shape,
        rows,
        shape.seed(),
        gzip,
        directory,
    )
}

fn write_package(
    name: &str,
    shape: TableShape,
    rows: u64,
    seed: u64,
    gzip: bool,
    directory: &Path,
) -> Result<PathBuf> {
    let table = format!("{name}.csv{}", if gzip { ".gz" } else { "" });
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;

    let path = directory.join(&table);
    let failed = || format!("cannot write {}", path.display());
    let file = BufWriter::new(File::create(&path).with_context(failed)?);
    if gzip {
        // No time stamp: the same rows are the same bytes.
        let mut out = GzBuilder::new().mtime(0).write(file, Compression::fast());
        write_rows(shape, rows, seed, &mut out).with_context(failed)?;
        out.finish().and_then(|mut file| file.flush()).with_context(failed)?;
    } else {
        let mut out = file;
        write_rows(shape, rows, seed, &mut out).and_then(|()| out.flush()).with_context(failed)?;
    }

    let descriptor = directory.join("datapackage.json");
    let value = match shape {
        TableShape::Long => long::descriptor(name, &table),
        TableShape::Wide => wide::descriptor(name, &table),
        TableShape::Spatial => spatial::descriptor(name, &table, "areas with boundaries"),
        TableShape::Boundaries => {
            spatial::descriptor(name, &table, "areas with boundaries of very different sizes")
        }
    };
    let text = serde_json::to_string_pretty(&value).context("cannot print the descriptor")?;
    fs::write(&descriptor, text + "\n")
        .with_context(|| format!("cannot write {}", descriptor.display()))?;
    Ok(descriptor)
}

fn write_rows(shape: TableShape, rows: u64, seed: u64, out: &mut dyn Write) -> std::io::Result<()> {
    match shape {
        TableShape::Long => long::write(rows, seed, out),
        TableShape::Wide => wide::write(rows, seed, out),
        TableShape::Spatial => spatial::write(rows, seed, out),
        TableShape::Boundaries => boundaries::write(rows, seed, out),
    }
}

/// The descriptor that all shapes share; `fields` and the rest of `yearbook` differ.
fn descriptor(
    name: &str,
    table: &str,
    title: &str,
    key: &[&str],
    fields: serde_json::Value,
    more: &serde_json::Value,
) -> serde_json::Value {
    let mut yearbook = serde_json::json!({
        "namespace": "synthetic",
        "source": "Yearbook generator",
        "attribution_text": "Synthetic rows made by `cargo xtask generate rows`; not a statistic",
        "refresh_cadence": "none",
        "bulk_redistribution": true,
    });
    if let (Some(into), Some(from)) = (yearbook.as_object_mut(), more.as_object()) {
        into.extend(from.clone());
    }
    serde_json::json!({
        "name": name,
        "title": format!("SYNTHETIC: {title}"),
        "description": "SYNTHETIC data, made up by a random number generator to try large tables with. It says nothing about the world.",
        "licenses": [{
            "name": "CC0-1.0",
            "title": "CC0 1.0 Universal",
            "path": "https://creativecommons.org/publicdomain/zero/1.0/",
        }],
        "sources": [{ "title": "Made by cargo xtask generate rows" }],
        "resources": [{
            "name": name,
            "path": table,
            "format": "csv",
            "mediatype": "text/csv",
            "encoding": "utf-8",
            "schema": { "fields": fields, "primaryKey": key },
        }],
        "yearbook": yearbook,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::HashSet;

    use super::*;

    fn text(shape: TableShape, rows: u64) -> String {
        let mut out = Vec::new();
        write_rows(shape, rows, shape.seed(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_same_rows_every_time() {
        for shape in [TableShape::Long, TableShape::Wide, TableShape::Spatial] {
            assert_eq!(text(shape, 500), text(shape, 500), "{shape:?}");
        }
    }

    #[test]
    fn another_seed_has_the_same_keys_and_other_values() {
        for shape in [TableShape::Long, TableShape::Wide, TableShape::Spatial] {
            let mut other = Vec::new();
            write_rows(shape, 500, shape.seed() + 1, &mut other).unwrap();
            let (other, text) = (String::from_utf8(other).unwrap(), text(shape, 500));
            assert_ne!(other, text, "{shape:?}");
            assert_eq!(other.split(',').next(), text.split(',').next(), "{shape:?}");
        }
    }

    #[test]
    fn exactly_as_many_rows_as_asked_for() {
        for rows in [0, 1, 599, 600, 601, 5_000] {
            // Wide and spatial tables have no line break inside a cell.
            for shape in [TableShape::Wide, TableShape::Spatial] {
                assert_eq!(text(shape, rows).lines().count() as u64, rows + 1, "{shape:?}");
            }
            let starts = text(TableShape::Long, rows)
                .lines()
                .filter(|line| line.get(4..5) == Some("-") && line.get(7..8) == Some("-"))
                .count();
            assert_eq!(starts as u64, rows, "long");
        }
    }

    #[test]
    fn primary_keys_are_unique() {
        let wide = text(TableShape::Wide, 20_000);
        let keys: HashSet<_> =
            wide.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>()).collect();
        assert_eq!(keys.len(), 20_000);
        let spatial = text(TableShape::Spatial, 2_000);
        let keys: HashSet<_> = spatial.lines().skip(1).map(|line| line.split(',').next()).collect();
        assert_eq!(keys.len(), 2_000);
    }
}
