//! The integration `airbyte`: a declarative (low-code) connector, `manifest.yaml`, with a typed
//! stream for each dataset. Airbyte's Connector Builder imports it as it is.

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod manifest;

yearbook_sdk::export_generator!(Airbyte);

/// Makes Airbyte connectors.
#[derive(Debug)]
pub struct Airbyte;

impl Generator for Airbyte {
    fn describe() -> Description {
        Description {
            tool: "airbyte",
            version: env!("CARGO_PKG_VERSION"),
            title: "Airbyte",
            parameters: vec![Parameter {
                name: "incremental",
                kind: Kind::Boolean,
                default: "false",
                allowed: &[],
                docs: "Whether datasets with a date offer an incremental sync, on from the last date seen. That is cheaper and \
                       misses revisions of older rows.",
            }],
            docs: "manifest.yaml, a declarative source for Airbyte's Connector Builder: a stream for each dataset with its schema and \
                   primary key, so that no request is spent on discovery, and paging. Every sync is a full refresh, since statistics \
                   get revised; `airbyte.incremental` offers to read on from the last date as well.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let incremental = options.boolean("incremental")?;
        let yaml = serde_saphyr::to_string(&manifest::manifest(request, incremental))
            .map_err(|error| Error::Internal(error.to_string()))?;
        let warnings = warnings(request, incremental);
        let files = vec![
            File::text("manifest.yaml", "application/yaml", yaml),
            File::text("config.json", "application/json", "{\"api_key\": \"<YOUR_API_KEY>\"}"),
            request.readme("Airbyte source", BODY, &warnings),
        ];
        Ok(Project { files, warnings })
    }
}

const BODY: &str = "\
In Airbyte: *Builder*, *Import a YAML*, `manifest.yaml`, enter your key, publish to your workspace. It stands in no file.

From a shell:

```sh
pip install airbyte-cdk
# put your key into config.json, and the file into no repository
source-declarative-manifest check --config config.json --manifest-path manifest.yaml
source-declarative-manifest discover --config config.json --manifest-path manifest.yaml
```

Checking the connection asks for one page of the smallest dataset.
";

fn warnings(request: &Request, incremental: bool) -> Vec<String> {
    let mut warnings: Vec<String> = request.cost().into_iter().collect();
    if !incremental {
        warnings.push(
            "Every sync brings whole tables, so that no revision is missed: \"Full refresh | Overwrite\" takes rows away that were \
             taken back."
                .to_owned(),
        );
    }
    warnings.extend(request.names(manifest::is_dated).filter(|_| incremental).map(|names| {
        format!(
            "May be synced incrementally, on from the last date seen: {names}. Statistics get revised, and an incremental sync misses \
             changes to older rows and rows that were taken back: use full refresh, or refresh whenever a dataset's \
             current_snapshot_id has changed."
        )
    }));
    warnings.extend(request.keyless_warning(", so they can't be deduplicated"));
    warnings
}

#[cfg(test)]
mod tests;
