//! README.md of the project.

use yearbook_sdk::generator::{File, KEY_VARIABLE, Request};

use crate::plugin_definitions::LOADER;
use crate::stream::TapStream;

/// README.md with the commands to run and a row for each dataset.
pub(crate) fn file(
    request: &Request,
    streams: &[TapStream<'_>],
    incremental: bool,
    warnings: &[String],
) -> File {
    let rows: String = streams
        .iter()
        .map(|stream| {
            let way = if stream.is_incremental() { "on from the last date" } else { "whole" };
            format!("| `{}` | {} | {way} |\n", stream.name(), stream.requests())
        })
        .collect();
    let written = if incremental {
        "meltano run load         # writes on in output/<dataset>.jsonl\nmeltano run --full-refresh load"
    } else {
        "meltano run load         # writes output/<dataset>-<time>.jsonl, the whole table"
    };
    let body = format!(
        "```sh\n\
         pip install 'meltano>=4.0.0'\n\
         export {KEY_VARIABLE}=…          # your key; it stands in no file\n\
         meltano install\n\
         {written}\n\
         ```\n\n\
         Replace `{loader}` in `meltano.yml` with the loader of your warehouse (`meltano add …`). Every run brings whole tables: let \
         the loader overwrite them (`load_method: overwrite`, where it has that setting), or rows that were taken back stay.\n\n\
         | dataset | requests of a full run | later runs read |\n\
         |---|---|---|\n\
         {rows}",
        loader = LOADER,
    );
    request.readme("Meltano project", &body, warnings)
}
