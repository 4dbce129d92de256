//! The integration `azure-data-factory`: linked services, datasets, a pipeline and a trigger in the
//! layout of a factory's Git repository, where a file's name is its resource's name.

use serde_json::Value;
use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod dataset;
mod linked_service;
mod pipeline;

use linked_service::{LAKE, PIPELINE, SECRET, TRIGGER, VAULT};

yearbook_sdk::export_generator!(AzureDataFactory);

/// Makes resources of a data factory.
#[derive(Debug)]
pub struct AzureDataFactory;

/// Way of reading rows.
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
        files.push(resource("trigger", pipeline::weekly_trigger()));
        files.push(readme(request, &warnings));
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
        warnings.extend(request.plan.row_cap_warning(&format!(
            "so these files would be cut short: {cut}. Generate again with azure-data-factory.source=rest, which reads in pages."
        )));
    }
    warnings.push(
        "Every run copies every dataset in full: statistics get revised, and old rows change too."
            .to_owned(),
    );
    warnings.push(format!(
        "Put your vault's and your lake's address into linkedService/{} and {}; the key belongs into the vault as the secret {}.",
        VAULT, LAKE, SECRET
    ));
    warnings
}

/// README.md: the steps from the files to a pipeline that runs.
fn readme(request: &Request, warnings: &[String]) -> File {
    let body = format!(
        "1. Copy the folders into the root folder of your factory's Git repository.\n\
         2. Put your key into your key vault as the secret `{SECRET}`, and let the factory's managed identity read secrets. The \
         vault's address stands in `linkedService/{VAULT}.json`.\n\
         3. Put your storage account's address into `linkedService/{LAKE}.json`, make the container `yearbook`, and give the \
         identity the role Storage Blob Data Contributor.\n\
         4. Publish, run `{PIPELINE}` by hand, then start the trigger `{TRIGGER}`.\n\n\
         The pipeline's parameter `datasets` lists what is copied. Each dataset becomes `yearbook/<name>/<name>.…`, overwritten at \
         every run.",
    );
    request.readme("Azure Data Factory resources", &body, warnings)
}

#[cfg(test)]
mod tests;
