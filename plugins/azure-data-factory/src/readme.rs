//! What a person needs to know to use the resources.

use yearbook_sdk::generator::{File, Request};

use crate::names::{LAKE, PIPELINE, SECRET, TRIGGER, VAULT};

/// README.md.
pub(crate) fn file(request: &Request, warnings: &[String]) -> File {
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
