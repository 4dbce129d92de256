//! The integration `azure-data-factory`: linked services, datasets, a pipeline and a trigger in the
//! layout of a factory's Git repository, where a file's name is its resource's name.

use serde_json::Value;
use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod dataset;
mod linked_service;
mod names;
mod pipeline;
mod readme;
mod trigger;

yearbook_sdk::export_generator!(AzureDataFactory);

/// Makes resources of a data factory.
#[derive(Debug)]
pub struct AzureDataFactory;

/// How rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowSource {
    /// One Parquet file a dataset.
    Parquet,
    /// JSON in pages.
    Rest,
}

impl Generator for AzureDataFactory {
    fn describe() -> Description {
        Description {
            tool: "azure-data-factory",
            version: env!("CARGO_PKG_VERSION"),
            title: "Azure Data Factory",
            parameters: vec![Parameter {
                name: "source",
                kind: Kind::Text,
                default: "parquet",
                allowed: &["parquet", "rest"],
                docs: "`parquet`: one typed file a dataset in one request; `rest`: JSON in pages, for plans with a row cap.",
            }],
            docs: "Linked services (the service, a key vault for its key, a data lake), datasets, a pipeline that copies one \
                   dataset after the other, and a weekly trigger that is not started.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let source =
            if options.text("source")? == "rest" { RowSource::Rest } else { RowSource::Parquet };
        let warnings = warnings(request, source);
        let resource = |folder: &str, resource: Value| {
            let name = resource["name"].as_str().unwrap_or_default();
            File::text(
                &format!("{folder}/{name}.json"),
                "application/json",
                format!("{resource:#}"),
            )
        };
        let mut files: Vec<File> = linked_service::all(request, source)
            .into_iter()
            .map(|file| resource("linkedService", file))
            .collect();
        files.extend(dataset::all(source).into_iter().map(|file| resource("dataset", file)));
        files.push(resource("pipeline", pipeline::copy(request, source)));
        files.push(resource("trigger", trigger::weekly()));
        files.push(readme::file(request, &warnings));
        Ok(Project { files, warnings })
    }
}

fn warnings(request: &Request, source: RowSource) -> Vec<String> {
    let requests = request.datasets.iter().map(|dataset| match source {
        RowSource::Parquet => 1,
        RowSource::Rest => dataset.requests(pipeline::page(&request.plan)),
    });
    let mut warnings: Vec<String> = request.plan.cost(requests.sum()).into_iter().collect();
    if let (RowSource::Parquet, Some(cap)) = (source, request.plan.row_cap)
        && let Some(cut) = request.names(|dataset| dataset.rows > cap)
    {
        warnings.push(format!(
            "The {} plan caps a response at {cap} rows, so these files would be cut short: {cut}. Generate again with \
             azure-data-factory.source=rest, which reads in pages.",
            request.plan.name
        ));
    }
    warnings.push(
        "Every run copies every dataset in full: statistics get revised, and old rows change too."
            .to_owned(),
    );
    warnings.push(format!(
        "Put your vault's and your lake's address into linkedService/{} and {}; the key belongs into the vault as the secret {}.",
        names::VAULT,
        names::LAKE,
        names::SECRET
    ));
    warnings
}

#[cfg(test)]
mod tests;
