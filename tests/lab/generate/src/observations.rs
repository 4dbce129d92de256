//! One table of observations twice: as SDMX-CSV, as agencies serve it, and as CSV. Both packages
//! are the same snapshot, so that the ways that they are read can be compared.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::cell;
use super::random::SplitMix64;

/// Months of each series, from 1976-01.
const MONTHS: u64 = 600;

/// Buffer before each of the files, bytes.
const BUFFER_BYTES: usize = 1 << 20;

const AREAS: [&str; 12] = ["AU", "CA", "CL", "DE", "FI", "FR", "GB", "IE", "JP", "KR", "NZ", "USA"];
const MEASURES: [&str; 4] = ["COUNT", "INDEX", "RATE", "SHARE_OF_TOTAL"];
const STATUSES: [&str; 4] = ["A", "A", "E", "P"];
const COMMENTS: [&str; 4] = ["revised", "a \"quoted\" word", "one, two, three", "Te Ika-a-Māui"];

/// Packages of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationPackages {
    /// Descriptor of the package in SDMX-CSV.
    pub sdmx: PathBuf,
    /// Descriptor of the package in CSV.
    pub csv: PathBuf,
    /// Bytes of the SDMX-CSV.
    pub sdmx_bytes: u64,
    /// Bytes of the CSV.
    pub csv_bytes: u64,
    /// Rows of each.
    pub rows: u64,
}

/// A table on its way to disk.
struct TableFile {
    out: BufWriter<File>,
    line: Vec<u8>,
    bytes: u64,
}

impl TableFile {
    fn create(path: &Path, header: &[u8]) -> Result<Self> {
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        let mut table = Self { out, line: header.to_vec(), bytes: 0 };
        table.end_line()?;
        Ok(table)
    }

    fn end_line(&mut self) -> std::io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.bytes += self.line.len() as u64;
        self.line.clear();
        Ok(())
    }
}

/// Writes the packages `sdmx` and `csv` of dataset `name` below `directory`: whole series of 600
/// months, until the SDMX-CSV has `bytes` at least. Rows are streamed.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn observations(name: &str, bytes: u64, directory: &Path) -> Result<ObservationPackages> {
    let package = |form: &str, extension: &str| {
        let folder = directory.join(form);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let table = format!("{name}.{extension}");
        let path = folder.join("datapackage.json");
        let text = serde_json::to_string_pretty(&descriptor(name, form, &table))
            .context("cannot print the descriptor")?;
        fs::write(&path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
        anyhow::Ok((path, folder.join(table)))
    };
    let ((sdmx, sdmx_table), (csv, csv_table)) =
        (package("sdmx", "sdmx.csv")?, package("csv", "csv")?);
    let mut first = TableFile::create(
        &sdmx_table,
        b"STRUCTURE,STRUCTURE_ID,ACTION,FREQ,REF_AREA,SERIES,MEASURE,TIME_PERIOD,OBS_VALUE,OBS_STATUS,COMMENT_OBS",
    )?;
    let mut second = TableFile::create(
        &csv_table,
        b"date,period,freq,ref_area,series,measure,obs_value,obs_status,comment_obs",
    )?;
    let rows = write_rows(bytes, &mut first, &mut second)
        .with_context(|| format!("cannot write below {}", directory.display()))?;
    let (sdmx_bytes, csv_bytes) = (first.bytes, second.bytes);
    Ok(ObservationPackages { sdmx, csv, sdmx_bytes, csv_bytes, rows })
}

fn write_rows(bytes: u64, sdmx: &mut TableFile, csv: &mut TableFile) -> std::io::Result<u64> {
    let mut random = SplitMix64::new(19);
    let mut rest = Vec::new();
    let mut series = 0;
    while series == 0 || sdmx.bytes < bytes {
        let choose = |list: &[&'static str], at: u64| {
            list[usize::try_from(at).unwrap_or_default() % list.len()]
        };
        let area = choose(&AREAS, series);
        let measure = choose(&MEASURES, series / 12);
        for row in 0..MONTHS {
            let (year, month) = (1976 + row / 12, row % 12 + 1);
            rest.clear();
            cell::number(&mut rest, &mut random, 100_000.0)?;
            write!(rest, ",{},", random.choose(&STATUSES))?;
            if random.next_below(8) == 0 {
                cell::text(&mut rest, random.choose(&COMMENTS))?;
            }
            write!(
                sdmx.line,
                "dataflow,YEARBOOK:OBSERVATIONS(1.0),I,M,{area},S{series:07},{measure},{year:04}-{month:02},"
            )?;
            sdmx.line.extend_from_slice(&rest);
            sdmx.end_line()?;
            write!(
                csv.line,
                "{year:04}-{month:02}-01,{year:04}-{month:02},M,{area},S{series:07},{measure},"
            )?;
            csv.line.extend_from_slice(&rest);
            csv.end_line()?;
        }
        series += 1;
    }
    sdmx.out.flush()?;
    csv.out.flush()?;
    Ok(series * MONTHS)
}

fn descriptor(name: &str, form: &str, table: &str) -> Value {
    let fields = json!([
        { "name": "date", "type": "date", "description": "First day of the month." },
        { "name": "period", "type": "string", "description": "Month, YYYY-MM." },
        { "name": "freq", "type": "string", "description": "Frequency." },
        { "name": "ref_area", "type": "string", "description": "Area." },
        { "name": "series", "type": "string", "description": "Code of the series." },
        { "name": "measure", "type": "string", "description": "What the value measures." },
        { "name": "obs_value", "type": "number", "description": "Made-up value." },
        { "name": "obs_status", "type": "string", "description": "Made-up status." },
        { "name": "comment_obs", "type": "string", "description": "Null, or a text that tries quoting." },
    ]);
    let mut more = json!({
        "date_filter_column": "date",
        "dimensions": ["ref_area", "series", "measure"],
        "layout": "long",
    });
    if form == "sdmx" {
        more["source_columns"] = json!({ "date": "TIME_PERIOD", "period": "TIME_PERIOD" });
    }
    let key = ["date", "series"];
    let mut descriptor =
        super::descriptor(name, table, "observations as agencies serve them", &key, fields, &more);
    if form == "sdmx" {
        descriptor["resources"][0]["format"] = json!("sdmx-csv");
    }
    descriptor
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn both_files_have_the_same_observations() {
        let folder =
            std::env::temp_dir().join(format!("yearbook-observations-{}", std::process::id()));
        let made = observations("observations", 100_000, &folder).unwrap();
        let read = |path: &Path, table: &str| {
            let text = fs::read_to_string(path.with_file_name(table)).unwrap();
            (text.len() as u64, text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
        };
        let (sdmx_bytes, sdmx) = read(&made.sdmx, "observations.sdmx.csv");
        let (csv_bytes, csv) = read(&made.csv, "observations.csv");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((sdmx_bytes, csv_bytes), (made.sdmx_bytes, made.csv_bytes));
        assert!((100_000..200_000).contains(&sdmx_bytes), "{sdmx_bytes}");
        assert_eq!((sdmx.len() as u64, csv.len() as u64), (made.rows, made.rows));
        for (sdmx, csv) in sdmx.iter().zip(&csv) {
            let fields: Vec<&str> = sdmx.splitn(9, ',').collect();
            let [_, _, _, freq, area, series, measure, month, rest] = fields[..] else {
                panic!("{sdmx}")
            };
            let expected = format!("{month}-01,{month},{freq},{area},{series},{measure},{rest}");
            assert_eq!(*csv, expected);
        }
    }
}
