//! Made-up data packages of any size, the same at every run and on every machine. Owns what the
//! rows look like; never reads or needs real data. Every package says that it is synthetic.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use serde_json::Value;

mod boundaries;
mod cell;
mod long;
mod random;
mod spatial;
mod wide;

pub use boundaries::boundary;
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

    /// Every shape.
    const ALL: [Self; 4] = [Self::Long, Self::Wide, Self::Spatial, Self::Boundaries];

    fn parts(self) -> ShapeParts {
        let parts = |name, seed, title, write, descriptor| ShapeParts {
            name,
            seed,
            title,
            write,
            descriptor,
        };
        let (long, wide, areas) = (
            include_str!("descriptors/long.json"),
            include_str!("descriptors/wide.json"),
            include_str!("descriptors/spatial.json"),
        );
        match self {
            Self::Long => parts("long", 1, "monthly values in long form", long::write, long),
            Self::Wide => parts("wide", 2, "daily series in wide form", wide::write, wide),
            Self::Spatial => parts("spatial", 3, "areas with boundaries", spatial::write, areas),
            Self::Boundaries => parts(
                "boundaries",
                4,
                "areas with boundaries of very different sizes",
                boundaries::write,
                areas,
            ),
        }
    }
}

/// Everything that is a shape's own.
struct ShapeParts {
    name: &'static str,
    /// Start of the random numbers. Another seed makes other values of the same keys.
    seed: u64,
    title: &'static str,
    write: WriteRows,
    /// Schema and settings, as JSON.
    descriptor: &'static str,
}

/// Writes so many rows, from a seed, below a line of names.
type WriteRows = fn(u64, u64, &mut dyn Write) -> std::io::Result<()>;

impl FromStr for TableShape {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|shape| shape.parts().name == name)
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
    let (name, seed) = (format!("synthetic_{number:06}"), number << 20 | edition);
    write_package(&name, TableShape::Long, rows, seed, false, &directory.join(&name))
}

/// Writes a package of `rows` rows into `directory`, its table compressed with `gzip` or not, and
/// returns the path of its descriptor. Rows are streamed: memory does not grow with their number.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn package(rows: u64, shape: TableShape, gzip: bool, directory: &Path) -> Result<PathBuf> {
    let ShapeParts { name, seed, .. } = shape.parts();
    write_package(&format!("synthetic_{name}_{rows}"), shape, rows, seed, gzip, directory)
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

    let ShapeParts { title, write, descriptor, .. } = shape.parts();
    let path = directory.join(&table);
    let failed = || format!("cannot write {}", path.display());
    let file = BufWriter::new(File::create(&path).with_context(failed)?);
    if gzip {
        // No time stamp: the same rows are the same bytes.
        let mut out = GzBuilder::new().mtime(0).write(file, Compression::fast());
        write(rows, seed, &mut out).with_context(failed)?;
        out.finish().and_then(|mut file| file.flush()).with_context(failed)?;
    } else {
        let mut out = file;
        write(rows, seed, &mut out).and_then(|()| out.flush()).with_context(failed)?;
    }

    let path = directory.join("datapackage.json");
    let text = serde_json::to_string_pretty(&describe(name, title, &table, descriptor)?)
        .context("cannot print the descriptor")?;
    fs::write(&path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// The descriptor that all shapes share, with what is the shape's own.
fn describe(name: &str, title: &str, table: &str, shape: &str) -> Result<Value> {
    let mut descriptor: Value = serde_json::from_str(include_str!("descriptors/all.json"))?;
    let shape: Value = serde_json::from_str(shape)?;
    descriptor["name"] = name.into();
    descriptor["title"] = format!("SYNTHETIC: {title}").into();
    descriptor["resources"][0]["name"] = name.into();
    descriptor["resources"][0]["path"] = table.into();
    descriptor["resources"][0]["schema"] = shape["schema"].clone();
    for (setting, value) in shape["yearbook"].as_object().into_iter().flatten() {
        descriptor["yearbook"][setting] = value.clone();
    }
    Ok(descriptor)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::HashSet;

    use super::*;

    /// A table with a seed that is so much larger than that of its shape.
    fn seeded(shape: TableShape, rows: u64, more: u64) -> String {
        let ShapeParts { seed, write, .. } = shape.parts();
        let mut out = Vec::new();
        write(rows, seed + more, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_same_rows_every_time_and_another_seed_has_the_same_keys_and_other_values() {
        for shape in TableShape::ALL {
            let (text, other) = (seeded(shape, 12, 0), seeded(shape, 12, 1));
            assert_eq!(text, seeded(shape, 12, 0), "{shape:?}");
            assert_ne!(other, text, "{shape:?}");
            assert_eq!(other.split(',').next(), text.split(',').next(), "{shape:?}");
        }
    }

    #[test]
    fn exactly_as_many_rows_as_asked_for() {
        for rows in [0, 1, 599, 600, 601, 5_000] {
            // Wide and spatial tables have no line break inside a cell.
            for shape in [TableShape::Wide, TableShape::Spatial] {
                assert_eq!(seeded(shape, rows, 0).lines().count() as u64, rows + 1, "{shape:?}");
            }
            let starts = seeded(TableShape::Long, rows, 0)
                .lines()
                .filter(|line| line.get(4..5) == Some("-") && line.get(7..8) == Some("-"))
                .count();
            assert_eq!(starts as u64, rows, "long");
        }
    }

    #[test]
    fn primary_keys_are_unique() {
        let wide = seeded(TableShape::Wide, 20_000, 0);
        let keys: HashSet<_> =
            wide.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>()).collect();
        assert_eq!(keys.len(), 20_000);
        let spatial = seeded(TableShape::Spatial, 2_000, 0);
        let keys: HashSet<_> = spatial.lines().skip(1).map(|line| line.split(',').next()).collect();
        assert_eq!(keys.len(), 2_000);
    }
}
