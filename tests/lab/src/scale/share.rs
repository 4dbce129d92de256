//! The speed of the warehouse share among so many tables: queries of another table each time, and
//! lists of all tables in pages while datasets are published. Owns what is asked; a list that
//! leaves a table out or has one twice ends the measurement.

use std::collections::HashSet;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use super::site::ScaleSite;
use crate::http::{self, HttpRequest};
use crate::load::{Load, LoadRuns};
use crate::measurements::{Measurements, median, quantile};
use crate::product::ProductServer;

/// Connections that query at the same time.
pub(super) const CONNECTIONS: u32 = 16;

/// Tables of a page of a list.
pub(super) const PAGE_TABLES: u64 = 500;

/// Datasets that are published during the lists: the first half are new versions, the others new
/// tables.
pub(super) const PUBLISHED: u64 = 100;

/// Edition of the new versions, which no other measurement publishes.
const NEXT_EDITION: u64 = 1_000;

/// Longest time until lists have what was published.
const LIST_TIMEOUT: Duration = Duration::from_secs(300);

/// The share as the settings call it by default, and the namespace of what is generated.
const TABLES: &str = "/share/delta/shares/yearbook/all-tables";
const QUERY: &str = "/share/delta/shares/yearbook/schemas/synthetic/tables/synthetic_%06d/query";

/// Measures queries on a host of its own, once each of `datasets` tables was asked for.
pub(super) fn measure_queries(
    site: &ScaleSite<'_>,
    datasets: u64,
    seconds: u32,
    figures: &mut Measurements,
) -> Result<()> {
    let host = site.serve()?;
    let ask = HttpRequest { body: Some("{}".to_owned()), ..authorized(site, &host, "/")? };
    let numbered = Some((QUERY, datasets));
    let load = Load { ask: &ask, numbered, connections: CONNECTIONS };
    let mut warm_up = 1;
    while site.generator.run(load, warm_up)?.requests < datasets as f64 {
        warm_up *= 2;
    }
    let mut runs = LoadRuns::default();
    runs.run(&site.generator, &host.process, load, seconds)?;
    figures.add("query", &datasets.to_string(), site.database, runs.values());
    Ok(())
}

/// Lists all tables again and again until lists have everything that is published meanwhile.
pub(super) fn measure_lists(
    site: &ScaleSite<'_>,
    datasets: u64,
    figures: &mut Measurements,
) -> Result<()> {
    let host = site.serve()?;
    let ask = authorized(site, &host, TABLES)?;
    let mut pages = Vec::new();
    let before = read_list(&ask, &mut Vec::new())?;
    check_order(&before)?;
    ensure!(before.len() as u64 >= datasets, "a list has {} of {datasets}", before.len());
    let packages: Vec<_> = (1..=PUBLISHED / 2)
        .map(|number| site.package(number, NEXT_EDITION))
        .chain((1..=PUBLISHED / 2).map(|number| site.package(datasets + number, 1)))
        .collect::<Result<_>>()?;
    let complete = before.len() as u64 + PUBLISHED / 2;
    let mut publish = site.product.command();
    publish.arg("publish").args(&packages).stdout(Stdio::null()).stderr(Stdio::null());
    let mut publishing = PublishCommand(publish.spawn().context("cannot run yearbook publish")?);
    let (begun, mut lists) = (Instant::now(), 0.0);
    loop {
        let published = publishing.0.try_wait().context("cannot look after yearbook publish")?;
        if let Some(status) = published {
            ensure!(status.success(), "yearbook publish ended with {status}");
        }
        let list = read_list(&ask, &mut pages)?;
        check_order(&list)?;
        check_contains(&list, &before)?;
        lists += 1.0;
        if published.is_some() && list.len() as u64 == complete {
            break;
        }
        ensure!(begun.elapsed() < LIST_TIMEOUT, "lists have {} of {complete}", list.len());
    }
    let values = [
        ("lists", lists),
        ("pages", pages.len() as f64),
        ("median_ms", median(&pages)),
        ("p99_ms", quantile(&pages, 0.99)),
    ];
    figures.add("list", &datasets.to_string(), site.database, values);
    Ok(())
}

/// A publication under way; ended where a measurement fails.
struct PublishCommand(Child);

impl Drop for PublishCommand {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn authorized(site: &ScaleSite<'_>, host: &ProductServer, path: &str) -> Result<HttpRequest> {
    let token = format!("Bearer {}", site.product.key("enterprise")?);
    Ok(HttpRequest::get(format!("{}{path}", host.process.base)).with("Authorization", token))
}

/// A page as the protocol has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TablePage {
    items: Vec<TableName>,
    next_page_token: Option<String>,
}

/// A table in a list, in the order of lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
struct TableName {
    schema: String,
    name: String,
}

/// Reads every page; adds the milliseconds of each to `times`.
fn read_list(ask: &HttpRequest, times: &mut Vec<f64>) -> Result<Vec<TableName>> {
    let mut list = Vec::new();
    let mut token = String::new();
    loop {
        let url = format!("{}?maxResults={PAGE_TABLES}&pageToken={token}", ask.url);
        let begun = Instant::now();
        let body = http::body(&HttpRequest { url, ..ask.clone() })?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        let page: TablePage = serde_json::from_slice(&body).context("a page is no list")?;
        list.extend(page.items);
        match page.next_page_token {
            Some(next) => token = next,
            None => return Ok(list),
        }
    }
}

/// Fails where a table is there twice or out of order.
fn check_order(list: &[TableName]) -> Result<()> {
    match list.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => bail!("{:?} is followed by {:?}", pair[0], pair[1]),
        None => Ok(()),
    }
}

/// Fails where `list` lacks one of `before`.
fn check_contains(list: &[TableName], before: &[TableName]) -> Result<()> {
    let there: HashSet<&TableName> = list.iter().collect();
    match before.iter().find(|table| !there.contains(table)) {
        Some(table) => bail!("{table:?} is missing from a list of {}", list.len()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<TableName> {
        let table =
            |name: &&str| TableName { schema: "synthetic".to_owned(), name: (*name).to_owned() };
        names.iter().map(table).collect()
    }

    #[test]
    fn a_list_with_a_gap_or_a_repeat_is_found() {
        let whole = list(&["a", "b", "c"]);
        assert!(check_order(&whole).is_ok() && check_contains(&whole, &whole).is_ok());
        assert!(check_contains(&list(&["a", "b", "c", "d"]), &whole).is_ok());
        assert!(check_order(&list(&["a", "b", "b"])).is_err());
        assert!(check_order(&list(&["b", "a"])).is_err());
        assert!(check_contains(&list(&["a", "c"]), &whole).is_err());
    }
}
