//! `cargo xtask scale`: what requests and many datasets cost on this machine, with either database,
//! and what follows for ten, a hundred and a thousand times as much. Owns the order of things;
//! writes `docs/scale.md`.

mod catalog_costs;
mod costs;
mod deployment;
mod model;
mod page;

use std::fs;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::bench::{self, machine};
use crate::repository::{Profile, Repository};
use crate::test::postgres::Postgres;
use crate::test::tools;

use catalog_costs::CatalogCosts;
use costs::RequestCosts;
use deployment::ScaleDeployment;

/// What may be chosen.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScaleArgs {
    /// How many datasets to measure with, growing
    #[arg(long, value_delimiter = ',', default_values_t = [1_500, 15_000])]
    datasets: Vec<u64>,
    /// Seconds that each run of requests lasts
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
}

/// What was measured with one database.
struct DatabaseCosts {
    database: &'static str,
    catalogues: Vec<CatalogCosts>,
    costs: RequestCosts,
}

/// Measures with both databases and replaces the page.
pub(crate) fn run(repository: &Repository, wanted: &ScaleArgs) -> Result<()> {
    bench::ensure_tools()?;
    let programs = tools::postgres()?;
    let start = machine::MachineState::now(repository)?;
    repository.build_plugins()?;
    let binary =
        repository.build_product(if wanted.debug { Profile::Debug } else { Profile::Release })?;
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
        measured.push(measure(&site, database, wanted)?);
    }
    let list: Vec<String> = wanted.datasets.iter().map(u64::to_string).collect();
    let debug = if wanted.debug { " --debug" } else { "" };
    let command = format!(
        "cargo xtask scale --datasets {} --seconds {}{debug}",
        list.join(","),
        wanted.seconds
    );
    let path = repository.root().join("docs/scale.md");
    let page = page::render(&command, &machine::line(&start), &measured)?;
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    println!("\nwrote {}", path.display());
    Ok(())
}

fn measure(
    site: &ScaleDeployment<'_>,
    database: &'static str,
    wanted: &ScaleArgs,
) -> Result<DatabaseCosts> {
    site.publish_million_rows()?;
    let (mut catalogues, mut costs) = (Vec::new(), None);
    let mut published = 0;
    for &datasets in &wanted.datasets {
        catalogues.push(catalog_costs::measure(site, published, datasets)?);
        published = datasets;
        if costs.is_none() {
            costs = Some(costs::measure(site, wanted.seconds)?);
        }
    }
    Ok(DatabaseCosts {
        database,
        catalogues,
        costs: costs.context("`--datasets` names no number")?,
    })
}
