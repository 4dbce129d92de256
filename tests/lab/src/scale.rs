//! `cargo xtask scale`: the cost of requests and of many datasets on this machine, with either
//! database, and an estimate for ten, a hundred and a thousand times as much. Owns the order of
//! things; writes `docs/scale.md`.

mod catalog;
mod model;
mod requests;
mod share;
mod site;

use anyhow::Result;
use askama::Template;
use clap::Args;
use yearbook_xtask::checks::postgres::Postgres;
use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::tools;

use crate::load;
use crate::machine;
use crate::measurements::Measurements;
use crate::page::{self, PageHead};
use crate::product;
use site::ScaleSite;

/// Multiples of a load that are estimated.
const TIMES: [f64; 4] = [1.0, 10.0, 100.0, 1_000.0];

/// Arguments of `cargo xtask scale`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScaleArgs {
    /// Numbers of datasets to measure with, growing
    #[arg(long, value_delimiter = ',', default_values_t = [1_500, 15_000])]
    datasets: Vec<u64>,
    /// Seconds that each run of requests lasts
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
}

/// A multiple of a load, and what it takes.
struct ScaleEstimate {
    times: f64,
    needs: [f64; 10],
}

#[derive(Template)]
#[template(path = "scale.txt")]
struct ScalePage<'a> {
    page: PageHead<'a>,
    /// Most datasets that were measured with.
    datasets: u64,
    /// The database of the estimates.
    database: &'a str,
    estimates: Vec<ScaleEstimate>,
}

/// Measures with both databases and replaces the page.
pub(crate) fn run(repository: &Repository, args: &ScaleArgs) -> Result<()> {
    load::ensure_installed()?;
    let programs = tools::postgres()?;
    let machine = machine::describe(repository)?;
    repository.build_plugins()?;
    let profile = if args.debug { Profile::Debug } else { Profile::Release };
    let binary = repository.build_product(profile)?;
    let folder = repository.target().join("xtask/scale");
    product::empty(&folder)?;
    let server = Postgres::start(&programs)?;
    let mut figures = Measurements::default();
    for (database, server) in [("SQLite", None), ("PostgreSQL", Some(&server))] {
        println!("\n== {database}");
        let site = ScaleSite::new(repository, &binary, folder.join(database), database, server)?;
        measure(&site, args, &mut figures)?;
    }
    let list: Vec<String> = args.datasets.iter().map(u64::to_string).collect();
    let debug = if args.debug { " --debug" } else { "" };
    let (list, seconds) = (list.join(","), args.seconds);
    let command = format!("cargo xtask scale --datasets {list} --seconds {seconds}{debug}");
    let database = "PostgreSQL";
    let estimate =
        |times| Ok(ScaleEstimate { times, needs: model::needs(&figures, database, times)? });
    let page = ScalePage {
        page: PageHead { command: &command, machine: &machine, figures: &figures },
        datasets: args.datasets.iter().max().copied().unwrap_or_default(),
        database,
        estimates: TIMES.into_iter().map(estimate).collect::<Result<_>>()?,
    };
    page::replace(&repository.root().join("docs/scale.md"), &page)
}

fn measure(site: &ScaleSite<'_>, args: &ScaleArgs, figures: &mut Measurements) -> Result<()> {
    site.publish_million_rows()?;
    let mut published = 0;
    for &datasets in &args.datasets {
        catalog::measure(site, published, datasets, figures)?;
        share::measure_queries(site, datasets, args.seconds, figures)?;
        if published == 0 {
            requests::measure(site, args.seconds, figures)?;
        }
        published = datasets;
    }
    requests::measure_pages(site, published, args.seconds, figures)?;
    // Last, because it publishes.
    share::measure_lists(site, published, figures)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_page_has_a_line_for_each_figure_and_each_multiple() {
        let mut figures = Measurements::default();
        figures.add("request", "100 rows as JSON", "SQLite", [("cpu_us", 268.0), ("reads", 0.0)]);
        figures.add("list", "1500", "SQLite", [("lists", 3.0), ("pages", 12.0)]);
        let page = ScalePage {
            page: PageHead { command: "scale", machine: "", figures: &figures },
            datasets: 1_500,
            database: "PostgreSQL",
            estimates: vec![ScaleEstimate { times: 10.0, needs: [2.0; 10] }],
        };
        let page = page::render(&page).unwrap();
        assert!(
            page.contains("\n| 100 rows as JSON | SQLite | 268 |  | 0.000 |  |  |\n"),
            "{page}"
        );
        assert!(page.contains("\n| 1500 | SQLite | 3.00 | 12.0 |  |  |\n"), "{page}");
        assert!(page.contains("\n| 10 | 10000 | 15000 | 2.00 | 2.00 |"), "{page}");
        assert!(page.contains("HTML for a browser, with 1500 datasets"), "{page}");
    }
}
