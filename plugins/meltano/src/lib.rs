//! The integration `meltano`: a project that reads the chosen datasets through a REST tap and
//! writes them with whatever loader its owner prefers. The shape is the one that ran end to end
//! with Meltano 4.4, tap-rest-api-msdk 1.4.2 and target-jsonl; most of its oddities are the tap's.

use serde_json::json;
use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod plugin_definitions;
mod readme;
mod stream;

use plugin_definitions::{EXTRACTOR, LOADER};
use stream::TapStream;

yearbook_sdk::export_generator!(Meltano);

/// Makes Meltano projects.
#[derive(Debug)]
pub struct Meltano;

impl Generator for Meltano {
    fn describe() -> Description {
        Description {
            tool: "meltano",
            version: env!("CARGO_PKG_VERSION"),
            title: "Meltano",
            parameters: vec![
                Parameter {
                    name: "geometry",
                    kind: Kind::Boolean,
                    default: "true",
                    allowed: &[],
                    docs: "Whether spatial datasets come with `geometry_wkt`.",
                },
                Parameter {
                    name: "incremental",
                    kind: Kind::Boolean,
                    default: "false",
                    allowed: &[],
                    docs: "Whether later runs read datasets with a date on from the last date seen. That is cheaper and misses \
                           revisions of older rows.",
                },
            ],
            docs: "A Meltano project: a REST tap with a stream for each dataset, its columns typed in place so that no request \
                   is spent on discovery, and a loader that writes JSON lines. Every run reads every dataset whole, since \
                   statistics get revised; `meltano.incremental` reads on from the last date instead.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let (geometry, incremental) =
            (options.boolean("geometry")?, options.boolean("incremental")?);
        let stream = |dataset| TapStream::new(dataset, &request.plan, geometry, incremental);
        let streams: Vec<TapStream<'_>> = request.datasets.iter().map(stream).collect();
        let project = json!({
            "requires_meltano": ">=4.0.0",
            "default_environment": "dev",
            "environments": [{"name": "dev"}],
            "plugins": {
                "extractors": [plugin_definitions::extractor(&request.base_url, &streams)],
                "loaders": [plugin_definitions::loader(incremental)],
            },
            "jobs": [{"name": "load", "tasks": [format!("{EXTRACTOR} {LOADER}")]}],
        });
        let yaml = serde_saphyr::to_string(&project)
            .map_err(|error| Error::Internal(error.to_string()))?;
        let warnings = warnings(request, &streams);
        let files = vec![
            File::text("meltano.yml", "application/yaml", yaml),
            readme::file(request, &streams, incremental, &warnings),
            File::text(".gitignore", "text/plain; charset=utf-8", ".env\n.meltano/\n"),
            // The loader writes into this folder and does not make it.
            File::text("output/.gitignore", "text/plain; charset=utf-8", "*\n!.gitignore\n"),
        ];
        Ok(Project { files, warnings })
    }
}

fn warnings(request: &Request, streams: &[TapStream<'_>]) -> Vec<String> {
    let mut warnings: Vec<String> =
        request.plan.cost(streams.iter().map(TapStream::requests).sum()).into_iter().collect();
    if request.plan.monthly_requests.is_some() {
        warnings.push(
            "When the month's requests are used up, the service says when counting starts anew, and the tap waits until then: \
             stop a run that seems to hang."
                .to_owned(),
        );
    }
    let names = |wanted: fn(&TapStream<'_>) -> bool| -> String {
        streams
            .iter()
            .filter(|stream| wanted(stream))
            .map(TapStream::name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let incremental = names(|stream| stream.is_incremental());
    if !incremental.is_empty() {
        warnings.push(format!(
            "Read on from the last date seen, as asked: {incremental}. Statistics get revised; a run that reads on misses changes to \
             older rows, so run `meltano run --full-refresh load` whenever a dataset's current_snapshot_id has changed."
        ));
    }
    let whole = names(|stream| !stream.is_incremental());
    if !whole.is_empty() {
        warnings.push(format!("Read whole at every run, so that no revision is missed: {whole}."));
    }
    let dropped = names(|stream| stream.drops_geometry());
    if !dropped.is_empty() {
        warnings.push(format!("Left without geometry_wkt, as asked: {dropped}."));
    }
    warnings
}

#[cfg(test)]
mod tests;
