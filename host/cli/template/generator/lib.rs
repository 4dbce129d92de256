//! The integration `{{name}}`: a shell script that downloads the chosen datasets with curl. Replace
//! what it writes by what your tool reads.

use std::fmt::Write as _;

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

yearbook_sdk::export_generator!(Tool);

/// Makes the files.
pub struct Tool;

impl Generator for Tool {
    /// Description that clients see. The rules for each field stand in
    /// `yearbook/plugins/sdk/wit/1.1.0`.
    fn describe() -> Description {
        Description {
            tool: "{{name}}",
            version: env!("CARGO_PKG_VERSION"),
            title: "{{name}}",
            // Clients write `/v1/integrations/{{name}}?datasets=…&{{name}}.format=parquet`.
            parameters: vec![Parameter {
                name: "format",
                kind: Kind::Text,
                default: "csv",
                allowed: &["csv", "parquet"],
                docs: "The format to download.",
            }],
            docs: "A shell script that downloads each dataset with curl.",
        }
    }

    /// A pure function of what it is given. Keys are never in a request, and never in a file: name
    /// a variable.
    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let format = options.text("format")?;
        let mut script = "#!/bin/sh\nset -eu\n".to_owned();
        for dataset in &request.datasets {
            // Names are snake_case; addresses are made of them and of the service's own.
            let (name, url) = (&dataset.name, &dataset.data_url);
            let _ = writeln!(script, "curl --fail --output {name}.{format} --header \"X-API-Key: $SERVICE_API_KEY\" '{url}?format={format}&limit=0'");
        }
        let readme = format!("# Downloads\nRun `download.sh` with `SERVICE_API_KEY` set.\n\n## Credits\n{}", request.credits());
        let requests = u64::try_from(request.datasets.len()).unwrap_or(u64::MAX);
        Ok(Project {
            files: vec![
                File::text("download.sh", "application/x-sh", script),
                File::text("README.md", "text/markdown; charset=utf-8", readme),
            ],
            warnings: request.plan.cost(requests).into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use yearbook_sdk::testing::project::{generate, request, text};

    use super::*;

    #[test]
    fn every_dataset_is_downloaded_and_credited() {
        let request = request();
        let project = generate::<Tool>(&request, &[]).unwrap();
        for dataset in &request.datasets {
            assert!(text(&project, "download.sh").contains(&dataset.data_url));
            assert!(text(&project, "README.md").contains(&dataset.name));
        }
        assert_eq!(text(&project, "download.sh").lines().count(), 2 + request.datasets.len(), "one line a dataset");
        assert_eq!(generate::<Tool>(&request, &[]).unwrap(), project, "the same every time");
    }
}
