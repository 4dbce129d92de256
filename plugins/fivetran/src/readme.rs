//! What a person needs to know to use the files.

use yearbook_sdk::generator::{File, Request};

/// README.md.
pub(crate) fn file(request: &Request, warnings: &[String]) -> File {
    const BODY: &str = "## Deploy the Connector SDK project\n\n\
         ```sh\n\
         pip install fivetran-connector-sdk\n\
         # put your key into configuration.json, and the file into no repository\n\
         fivetran debug --configuration configuration.json\n\
         fivetran deploy --api-key <FIVETRAN_KEY> --destination <DESTINATION> --connection <CONNECTION> --configuration configuration.json\n\
         ```\n\n\
         Each sync asks, at no cost, which snapshot a dataset has, and loads the dataset anew when it is a new one. Otherwise the \
         dataset is skipped.\n\n\
         ## Or let the AI Connector Agent write one\n\n\
         Give it `connector.yaml`, an OpenAPI document of these datasets.";
    request.readme("Fivetran connector", BODY, warnings)
}
