//! The integration `dlt`: a pipeline that loads each dataset whole once and then what `/changes`
//! tells. Everything about the datasets stands in a JSON file, so that no publisher's text reaches
//! the program.

use serde_json::{Map, Value, json};
use yearbook_sdk::generator::{ColumnType, Dataset, Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Options};

yearbook_sdk::export_generator!(Dlt);

/// Makes dlt projects.
#[derive(Debug)]
pub struct Dlt;

impl Generator for Dlt {
    fn describe() -> Description {
        Description {
            tool: "dlt",
            version: env!("CARGO_PKG_VERSION"),
            title: "dlt",
            parameters: Vec::new(),
            docs: "A dlt pipeline with a resource for each dataset, its columns typed. The first run reads everything; later runs \
                   merge what changed since, deleted rows included, and ask nothing that counts where nothing is new. Loads into \
                   DuckDB until another destination is named.",
        }
    }

    fn generate(request: &Request, _: &Options) -> Result<Project, Error> {
        let warnings = warnings(request);
        let datasets: Map<String, Value> = request
            .datasets
            .iter()
            .map(|dataset| (dataset.name.clone(), described(dataset, request)))
            .collect();
        let config = format!(
            "[sources.yearbook]\nbase_url = {}\n\n[schema]\n# Column names as the service has them.\nnaming = \"sql_ci_v1\"\n\n\
             [runtime]\ndlthub_telemetry = false\n",
            // A JSON text of an address is one of TOML, too.
            json!(request.base_url)
        );
        let files = vec![
            File::text(
                "yearbook_pipeline.py",
                "text/x-python; charset=utf-8",
                include_str!("pipeline.py"),
            ),
            File::text(
                "datasets.json",
                "application/json",
                format!("{:#}", Value::Object(datasets)),
            ),
            File::text(".dlt/config.toml", "application/toml", config),
            File::text(
                ".dlt/secrets.toml",
                "application/toml",
                "[sources.yearbook]\napi_key = \"<YOUR_API_KEY>\"\n",
            ),
            File::text(".gitignore", "text/plain; charset=utf-8", ".dlt/secrets.toml\n*.duckdb\n"),
            File::text("requirements.txt", "text/plain; charset=utf-8", "dlt[duckdb]>=1.31,<2\n"),
            request.readme("dlt pipeline", BODY, &warnings),
        ];
        Ok(Project { files, warnings })
    }
}

const BODY: &str = "\
```sh
pip install -r requirements.txt
export SOURCES__YEARBOOK__API_KEY=…   # your key, or put it into .dlt/secrets.toml and that into no repository
python yearbook_pipeline.py           # writes yearbook.duckdb
```

The first run reads each dataset whole. A later run first asks, at no cost, which snapshot there is; where it is a new one, the \
run reads what changed and merges it by primary key, deleted rows included. A dataset without a primary key is read whole again.

The tables are typed and have two columns more: `_deleted`, by which dlt removes rows, and `_change_number`, by which the last of \
several changes wins. Name another destination in `yearbook_pipeline.py`.
";

fn described(dataset: &Dataset, request: &Request) -> Value {
    let columns: Map<String, Value> = dataset
        .columns
        .iter()
        .map(|column| {
            let data_type = match column.column_type {
                ColumnType::Text => "text",
                ColumnType::Integer => "bigint",
                ColumnType::Number => "double",
                ColumnType::Boolean => "bool",
                ColumnType::Date => "date",
            };
            let mut hints =
                json!({"data_type": data_type, "nullable": column.is_nullable_in_json()});
            if let Some(description) = &column.description {
                hints["description"] = json!(description);
            }
            (column.name.clone(), hints)
        })
        .collect();
    json!({
        "title": dataset.label(),
        "attribution": dataset.attribution,
        "licence": dataset.licence,
        "rows": dataset.page(&request.plan, true),
        "primary_key": dataset.primary_key,
        "columns": columns,
    })
}

fn warnings(request: &Request) -> Vec<String> {
    let mut warnings: Vec<String> = request.cost().into_iter().collect();
    warnings.extend(request.keyless_warning(", so read whole whenever there is something new"));
    warnings
}

#[cfg(test)]
mod tests;
