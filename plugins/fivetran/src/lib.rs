//! The integration `fivetran`: an OpenAPI description of the chosen datasets for Fivetran's AI
//! Connector Agent, and a Connector SDK project that can be deployed as it is. Fivetran has no
//! public low-code YAML of its own.

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Options};

mod connector;
mod openapi;

yearbook_sdk::export_generator!(Fivetran);

/// Makes Fivetran connectors.
#[derive(Debug)]
pub struct Fivetran;

impl Generator for Fivetran {
    fn describe() -> Description {
        Description {
            tool: "fivetran",
            version: env!("CARGO_PKG_VERSION"),
            title: "Fivetran",
            parameters: Vec::new(),
            docs: "connector.yaml, an OpenAPI 3.0 document of the chosen datasets for the AI Connector Agent; and connector.py, \
                   configuration.json and requirements.txt, a Connector SDK project that loads each dataset anew when it has a \
                   new snapshot and skips it otherwise.",
        }
    }

    fn generate(request: &Request, _: &Options) -> Result<Project, Error> {
        let yaml = serde_saphyr::to_string(&openapi::document(request))
            .map_err(|error| Error::Internal(error.to_string()))?;
        let warnings = warnings(request);
        let files = vec![
            File::text("connector.yaml", "application/yaml", yaml),
            File::text("connector.py", "text/x-python; charset=utf-8", connector::program(request)),
            File::text("configuration.json", "application/json", connector::configuration(request)),
            // `requests` and the SDK are there already, and Fivetran asks not to list them.
            File::text(
                "requirements.txt",
                "text/plain; charset=utf-8",
                "# Nothing beyond what Fivetran provides.\n",
            ),
            request.readme("Fivetran connector", BODY, &warnings),
        ];
        Ok(Project { files, warnings })
    }
}

/// Body of README.md.
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

fn warnings(request: &Request) -> Vec<String> {
    let mut warnings: Vec<String> = request.cost().into_iter().collect();
    warnings.push(
        "Deploy connector.py with the Connector SDK. connector.yaml is for Fivetran's AI Connector Agent, which reads OpenAPI; \
         it has been validated, but not tried in an account."
            .to_owned(),
    );
    warnings
        .extend(request.keyless_warning(", so Fivetran tells rows apart by a hash of all columns"));
    warnings
}

#[cfg(test)]
mod tests;
