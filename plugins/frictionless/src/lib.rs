//! The integration `frictionless`: a Data Package of the chosen datasets, `datapackage.json`.

use yearbook_sdk::generator::{BulkFiles, Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod package;

yearbook_sdk::export_generator!(Frictionless);

/// Makes Data Packages.
#[derive(Debug)]
pub struct Frictionless;

/// Place of a resource's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceSource {
    /// CSV of `/data`.
    Rows,
    /// The stored Parquet file, where it may be downloaded.
    Files,
}

impl Generator for Frictionless {
    fn describe() -> Description {
        Description {
            tool: "frictionless",
            version: env!("CARGO_PKG_VERSION"),
            title: "Frictionless Data Package",
            parameters: vec![Parameter {
                name: "source",
                kind: Kind::Text,
                default: "data",
                allowed: &["data", "bulk"],
                docs: "`data`: a resource's path is its rows as CSV; `bulk`: the whole Parquet file, where plan and licence allow it.",
            }],
            docs: "datapackage.json, a Data Package 2.0: a resource for each dataset with a Table Schema of its columns, primary key, \
                   licence, source and credit. Paths are addresses of this service; the key goes into a header when they are read.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let source = if options.text("source")? == "bulk" {
            ResourceSource::Files
        } else {
            ResourceSource::Rows
        };
        let warnings = warnings(request, source);
        let files = vec![
            File::text(
                "datapackage.json",
                "application/json",
                format!("{:#}", package::package(request, source)),
            ),
            request.readme("Data Package", BODY, &warnings),
        ];
        Ok(Project { files, warnings })
    }
}

const BODY: &str = r#"`datapackage.json` describes the datasets: columns and their types, keys, licences, sources. To check it and to read rows in
Python, with your key (it stands in no file):

```python
import os
import requests
from frictionless import Package, system
from requests.adapters import HTTPAdapter, Retry

session = requests.Session()
# Waits and asks again when the service says that it is busy.
for scheme in ["http://", "https://"]:
    session.mount(scheme, HTTPAdapter(max_retries=Retry(5, status_forcelist=[429, 503])))
session.headers["X-API-Key"] = os.environ["SERVICE_API_KEY"]
with system.use_context(http_session=session, trusted=True):
    package = Package("datapackage.json")
    print(package.validate().flatten(["type", "note"]))
    rows = package.resources[0].read_rows()
```
"#;

fn warnings(request: &Request, source: ResourceSource) -> Vec<String> {
    let mut warnings: Vec<String> = request
        .plan
        .cost(u64::try_from(request.datasets.len()).unwrap_or(u64::MAX))
        .into_iter()
        .collect();
    let plan = &request.plan;
    if let Some(cap) = plan.row_cap {
        let cut = request
            .names(|dataset| dataset.rows > cap && package::file(dataset, plan, source).is_none());
        warnings.extend(cut.and_then(|names| {
            plan.row_cap_warning(&format!(
                "and a resource is one response, so these are cut short: {names}. Read them in pages, with the integration \
                 `python` or `r`."
            ))
        }));
    }
    if source == ResourceSource::Files {
        if plan.bulk == BulkFiles::None {
            warnings.push(format!(
                "The {} plan has no bulk files; every resource's path is its rows as CSV.",
                plan.name
            ));
        } else {
            let forbidden = request.names(|dataset| dataset.bulk_url.is_none());
            warnings.extend(forbidden.map(|names| {
                format!("The licence forbids bulk files, so the path is the rows as CSV: {names}.")
            }));
        }
        if plan.bulk == BulkFiles::Monthly {
            warnings.push(format!(
                "On the {} plan, a bulk file is the dataset as it was when the month began.",
                plan.name
            ));
        }
    }
    warnings.extend(request.keyless_warning(""));
    warnings
}

#[cfg(test)]
mod tests;
