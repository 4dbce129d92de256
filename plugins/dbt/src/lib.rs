//! The integration `dbt`: the loaded tables as dbt sources with descriptions and tests, and a
//! staging model for each. Loading them is another tool's work.

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod model;
mod sources;

yearbook_sdk::export_generator!(Dbt);

/// Makes dbt sources.
#[derive(Debug)]
pub struct Dbt;

impl Generator for Dbt {
    fn describe() -> Description {
        Description {
            tool: "dbt",
            version: env!("CARGO_PKG_VERSION"),
            title: "dbt",
            parameters: vec![
                Parameter {
                    name: "staging",
                    kind: Kind::Boolean,
                    default: "true",
                    allowed: &[],
                    docs: "Whether each source comes with a staging model that casts its columns.",
                },
                Parameter {
                    name: "loaded_at",
                    kind: Kind::Text,
                    default: "",
                    allowed: &[],
                    docs: "The column in which your loader writes when it loaded a row, such as `_fivetran_synced`; with it, freshness \
                           is checked where a dataset's cadence is known.",
                },
            ],
            docs: "A dbt project for tables that were loaded from this service: sources with types, descriptions, licence and credit, \
                   tests of keys and of columns that are never null, and staging models.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let loaded_at = options.text("loaded_at")?;
        if !loaded_at.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        {
            return Err(Error::InvalidOption(
                "dbt.loaded_at must be a column's name: letters, digits and underscores".to_owned(),
            ));
        }
        let yaml = |value| {
            serde_saphyr::to_string(&value).map_err(|error| Error::Internal(error.to_string()))
        };
        let warnings = warnings(request, loaded_at);
        let mut files = vec![
            File::text("dbt_project.yml", "application/yaml", yaml(sources::project())?),
            File::text(
                "models/sources.yml",
                "application/yaml",
                yaml(sources::sources(request, loaded_at))?,
            ),
            File::text(".gitignore", "text/plain; charset=utf-8", "target/\nlogs/\n"),
        ];
        for dataset in &request.datasets {
            if options.boolean("staging")? {
                files.push(sql(
                    &format!("models/staging/stg_{}.sql", dataset.name),
                    model::staging(dataset),
                ));
            }
            if let Some(test) = model::key_is_unique(dataset) {
                files.push(sql(&format!("tests/{}_key_is_unique.sql", dataset.name), test));
            }
        }
        files.push(request.readme("dbt sources", BODY, &warnings));
        Ok(Project { files, warnings })
    }
}

fn sql(path: &str, content: String) -> File {
    File::text(path, "application/sql", content)
}

const BODY: &str = "\
These sources are tables that another tool loads from the service; the integrations `dlt`, `airbyte`, `meltano` and `fivetran` \
are such tools.

```sh
pip install 'dbt-core>=1.10' dbt-duckdb      # or your warehouse's adapter
# add a profile called `statistics` to profiles.yml
dbt build --vars '{statistics_schema: statistics}'
```

`statistics_schema` is where the tables are, `statistics_database` the database, where it isn't the profile's. The tests say whether \
keys are unique and nothing is missing; staging models cast every column to its type.
";

fn warnings(request: &Request, loaded_at: &str) -> Vec<String> {
    let mut warnings =
        vec!["dbt reads what is loaded already: generate a project for a loader, too.".to_owned()];
    warnings.extend(request.keyless_warning(", so nothing tests for repeated rows"));
    if loaded_at.is_empty()
        && request.datasets.iter().any(|dataset| sources::freshness(dataset).is_some())
    {
        warnings.push(
            "Freshness is not checked: the service doesn't know in which column your loader writes its time. Name it with dbt.loaded_at."
                .to_owned(),
        );
    }
    warnings
}

#[cfg(test)]
mod tests;
