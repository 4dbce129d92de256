//! What a person needs to know to run the project.

use yearbook_sdk::generator::Request;

use crate::stream::Stream;
use crate::{KEY, loader};

/// README.md.
pub(crate) fn text(request: &Request, streams: &[Stream<'_>], warnings: &[String]) -> String {
    let base = &request.base_url;
    let rows: String = streams
        .iter()
        .map(|stream| {
            let way = if stream.is_incremental() { "on from the last date" } else { "whole" };
            format!("| `{}` | {} | {way} |\n", stream.name(), stream.requests())
        })
        .collect();
    let notes: String = warnings.iter().map(|warning| format!("- {warning}\n")).collect();
    format!(
        "# Meltano project for {base}\n\n\
         ```sh\n\
         pip install 'meltano>=4.0.0'\n\
         export {KEY}=…          # your key; it stands in no file\n\
         meltano install\n\
         meltano run load         # writes output/<dataset>.jsonl\n\
         meltano run --full-refresh load\n\
         ```\n\n\
         Replace `{loader}` in `meltano.yml` with the loader of your warehouse (`meltano add …`).\n\n\
         | dataset | requests of a full run | later runs read |\n\
         |---|---|---|\n\
         {rows}\n\
         ## To know\n\n\
         {notes}\n\
         ## Credits\n\n\
         These must be passed on with the data, word for word.\n\n\
         {credits}",
        loader = loader::NAME,
        credits = request.credits(),
    )
}
