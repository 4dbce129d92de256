//! Selections that Yearbook and its peers are asked for under load: one series, the newest rows,
//! the values that there are, and the areas in a box. Owns how each peer wants to be asked.

use anyhow::Result;
use serde_json::{Value, json};

use super::cases::BenchCase;
use super::peers::{DATASETTE, FASTAPI, PeerServers, ROAPI, YEARBOOK};
use super::tables::{SERIES_ROWS, series_of};
use crate::http::HttpRequest;

/// More rows than any of the answers has.
const LIMIT: u64 = 20_000;

/// West, south, east and north of a hundredth of where the areas lie.
const BOX: &str = "0,40,20,60";

const NO_GEOMETRY: &str = "knows no geometry";

/// Requests of one case, by who is asked.
struct Paths {
    yearbook: String,
    /// A path, and SQL where its addresses cannot say it.
    roapi: Result<(String, Option<String>), &'static str>,
    datasette: Result<String, &'static str>,
    fastapi: String,
}

/// All cases, over tables of a million and ten million rows and over areas.
pub(super) fn cases(all: &PeerServers) -> Result<Vec<BenchCase>> {
    let mut cases = Vec::new();
    for (table, size) in [("long", "1 M rows"), ("long_10m", "10 M rows")] {
        cases.extend([
            one_series(all, table, size)?,
            newest_of_each(all, table, size)?,
            newest_rows(all, table, size)?,
            values(all, table, size)?,
        ]);
    }
    cases.push(areas_in_a_box(all)?);
    Ok(cases)
}

fn one_series(all: &PeerServers, table: &str, size: &str) -> Result<BenchCase> {
    let code = format!("S{:07}", series_of(table) / 2);
    let name = format!("one series of {size}");
    let asked = json!({ "table": table, "series": code });
    case(
        all,
        name,
        SERIES_ROWS,
        asked,
        Paths {
            yearbook: format!("/v1/datasets/{table}/data?where.series_code={code}&limit={LIMIT}"),
            roapi: Ok((
                format!("/api/tables/{table}?filter%5Bseries_code%5D=%27{code}%27&limit={LIMIT}"),
                None,
            )),
            datasette: Ok(format!("{}&series_code__exact={code}", datasette_table(table, LIMIT))),
            fastapi: format!("/data/{table}?series={code}&limit={LIMIT}"),
        },
    )
}

fn newest_of_each(all: &PeerServers, table: &str, size: &str) -> Result<BenchCase> {
    let ranked = format!(
        "SELECT *, row_number() OVER (PARTITION BY series_code ORDER BY date DESC) AS newest FROM \
         {table}"
    );
    let columns = "date, period, series_code, region, industry, measure, value, count, \
                   is_provisional, note";
    let sql = format!("SELECT {columns} FROM ({ranked}) AS ranked WHERE newest = 1");
    // SQLite gives the other columns of the row that has the maximum.
    let lite = format!("SELECT {columns}, max(date) FROM {table} GROUP BY series_code");
    let lite = format!("SELECT {columns} FROM ({lite})");
    let name = format!("newest of each series of {size}");
    case(
        all,
        name,
        series_of(table),
        json!({ "table": table, "last": true }),
        Paths {
            yearbook: format!("/v1/datasets/{table}/data?last=1&limit={LIMIT}"),
            roapi: Ok(("/api/sql".to_owned(), Some(sql))),
            datasette: Ok(datasette_sql(&lite)),
            fastapi: format!("/data/{table}?last=true&limit={LIMIT}"),
        },
    )
}

fn newest_rows(all: &PeerServers, table: &str, size: &str) -> Result<BenchCase> {
    let name = format!("newest ten of {size}");
    case(
        all,
        name,
        10,
        json!({ "table": table, "newest": 10 }),
        Paths {
            yearbook: format!("/v1/datasets/{table}/data?sort=-date&limit=10"),
            roapi: Ok((format!("/api/tables/{table}?sort=-date&limit=10"), None)),
            datasette: Ok(format!("{}&_sort_desc=date", datasette_table(table, 10))),
            fastapi: format!("/data/{table}?newest=true&limit=10"),
        },
    )
}

fn values(all: &PeerServers, table: &str, size: &str) -> Result<BenchCase> {
    let sql = format!(
        "SELECT region AS value, count(*) AS rows, min(date) AS first, max(date) AS last FROM \
         {table} GROUP BY region"
    );
    let name = format!("values of a column of {size}");
    case(
        all,
        name,
        0,
        json!({ "table": table, "values": "region" }),
        Paths {
            yearbook: format!("/v1/datasets/{table}/values?columns=region"),
            roapi: Ok(("/api/sql".to_owned(), Some(sql.clone()))),
            datasette: Ok(datasette_sql(&sql)),
            fastapi: format!("/values/{table}/region"),
        },
    )
}

fn areas_in_a_box(all: &PeerServers) -> Result<BenchCase> {
    let asked = json!({ "table": "many_areas", "bbox": BOX, "geometry": false });
    case(
        all,
        "a box of 1 % of 100,000 areas".to_owned(),
        0,
        asked,
        Paths {
            yearbook: format!(
                "/v1/datasets/many_areas/data?bbox={BOX}&geometry=false&limit={LIMIT}"
            ),
            roapi: Err(NO_GEOMETRY),
            datasette: Err(NO_GEOMETRY),
            fastapi: format!("/data/many_areas?bbox={BOX}&geometry=false&limit={LIMIT}"),
        },
    )
}

/// A case whose answers have so many rows; 0 where rows are not what is measured.
fn case(
    all: &PeerServers,
    name: String,
    rows: u64,
    asked: Value,
    paths: Paths,
) -> Result<BenchCase> {
    let roapi = match paths.roapi {
        Ok((path, sql)) => Ok(HttpRequest { body: sql, ..all.ask(ROAPI, &path)? }),
        Err(reason) => Err(reason),
    };
    let datasette = match paths.datasette {
        Ok(path) => Ok(all.ask(DATASETTE, &path)?),
        Err(reason) => Err(reason),
    };
    let ways = vec![
        (YEARBOOK, Ok(all.ask(YEARBOOK, &paths.yearbook)?)),
        (ROAPI, roapi),
        (DATASETTE, datasette),
        (FASTAPI, Ok(all.ask(FASTAPI, &paths.fastapi)?)),
    ];
    Ok(BenchCase { name, rows, asked: Some(asked), format: "json", ways })
}

/// Rows of a table of Datasette's, without the counts and facets that it makes unless forbidden.
fn datasette_table(table: &str, limit: u64) -> String {
    format!("/tables/{table}.json?_shape=array&_nocount=1&_nofacet=1&_nosuggest=1&_size={limit}")
}

fn datasette_sql(sql: &str) -> String {
    format!("/tables.json?_shape=array&sql={}", sql.replace(' ', "+"))
}
