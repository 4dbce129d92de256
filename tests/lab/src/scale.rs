//! `cargo xtask scale`: the cost of requests and of many datasets on this machine, with either
//! database, and an estimate for ten, a hundred and a thousand times as much. Owns the order of
//! things; writes `docs/scale.md`.

mod catalog_costs;
mod costs;
mod deployment;
mod model;
mod page;
mod page_costs;
mod share_costs;

use std::fs;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::{machine, wrk};
use yearbook_xtask::checks::postgres::Postgres;
use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::tools;

use catalog_costs::CatalogCosts;
use costs::RequestCosts;
use deployment::ScaleDeployment;
use page_costs::PageCost;
use share_costs::{ListCost, QueryCost};

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

/// Costs with one database.
struct DatabaseCosts {
    database: &'static str,
    catalogs: Vec<CatalogCosts>,
    costs: RequestCosts,
    /// Pages of the catalogue, with the largest number of datasets.
    pages: Vec<PageCost>,
    /// Queries of the share, with each number of datasets.
    queries: Vec<QueryCost>,
    /// Lists of the share, with the largest number of datasets.
    lists: ListCost,
}

/// Measures with both databases and replaces the page.
pub(crate) fn run(repository: &Repository, args: &ScaleArgs) -> Result<()> {
    wrk::ensure_installed()?;
    let programs = tools::postgres()?;
    let start = machine::MachineState::now(repository)?;
    repository.build_plugins()?;
    let binary =
        repository.build_product(if args.debug { Profile::Debug } else { Profile::Release })?;
    let folder = repository.target().join("xtask/scale");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let server = Postgres::start(&programs)?;
    let mut measured = Vec::new();
    for (database, server) in [("SQLite", None), ("PostgreSQL", Some(&server))] {
        println!("\n== {database}");
        let site = ScaleDeployment::new(repository, &binary, folder.join(database), server)?;
        measured.push(measure(&site, database, args)?);
    }
    let list: Vec<String> = args.datasets.iter().map(u64::to_string).collect();
    let debug = if args.debug { " --debug" } else { "" };
    let command = format!(
        "cargo xtask scale --datasets {} --seconds {}{debug}",
        list.join(","),
        args.seconds
    );
    let path = repository.root().join("docs/scale.md");
    let page = page::render(&command, &machine::line(&start), &measured)?;
    crate::page::replace(&path, &page)
}

fn measure(
    site: &ScaleDeployment<'_>,
    database: &'static str,
    args: &ScaleArgs,
) -> Result<DatabaseCosts> {
    site.publish_million_rows()?;
    let (mut catalogs, mut queries, mut costs) = (Vec::new(), Vec::new(), None);
    let mut published = 0;
    for &datasets in &args.datasets {
        catalogs.push(catalog_costs::measure(site, published, datasets)?);
        published = datasets;
        queries.push(share_costs::queries(site, datasets, args.seconds)?);
        if costs.is_none() {
            costs = Some(costs::measure(site, args.seconds)?);
        }
    }
    let costs = costs.context("`--datasets` names no number")?;
    let pages = page_costs::measure(site, published, args.seconds)?;
    // Last, because it publishes.
    let lists = share_costs::lists(site, published)?;
    Ok(DatabaseCosts { database, catalogs, costs, pages, queries, lists })
}
