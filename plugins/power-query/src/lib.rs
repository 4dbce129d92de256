//! The integration `power-query`: queries in M for Excel, Power BI and dataflows, one for each
//! dataset.

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Options};

mod query;

yearbook_sdk::export_generator!(PowerQuery);

/// Makes queries in M.
#[derive(Debug)]
pub struct PowerQuery;

const MEDIA_TYPE: &str = "text/plain; charset=utf-8";

impl Generator for PowerQuery {
    fn describe() -> Description {
        Description {
            tool: "power-query",
            version: env!("CARGO_PKG_VERSION"),
            title: "Power Query",
            parameters: Vec::new(),
            docs: "Queries in M for Excel, Power BI and dataflows: a function that reads page after page, and for each dataset a query \
                   with typed columns. The key is a parameter of the workbook and stands in no text.",
        }
    }

    fn generate(request: &Request, _: &Options) -> Result<Project, Error> {
        let mut warnings: Vec<String> = request.cost().into_iter().collect();
        if request.plan.monthly_requests.is_some() {
            warnings.push("Power Query may evaluate a query more than once, for its preview and again to load it: each counts.".to_owned());
        }
        warnings.extend(request.keyless_warning(""));
        let mut files = vec![
            File::text(
                "ApiKey.pq",
                MEDIA_TYPE,
                "\"\" meta [IsParameterQuery = true, IsParameterQueryRequired = true, Type = \"Text\"]",
            ),
            File::text("BaseUrl.pq", MEDIA_TYPE, query::base_url(&request.base_url)),
            File::text("ReadDataset.pq", MEDIA_TYPE, include_str!("read_dataset.pq")),
        ];
        for dataset in &request.datasets {
            // A dataset may be called `apikey`, or `aux`, which no file can be on Windows.
            files.push(File::text(
                &format!("dataset_{}.pq", dataset.name),
                MEDIA_TYPE,
                query::dataset(dataset, &request.plan),
            ));
        }
        files.push(request.readme("Power Query", BODY, &warnings));
        Ok(Project { files, warnings })
    }
}

const BODY: &str = "\
1. *Manage Parameters*, *New Parameter*: `ApiKey`, text, required; its value is your key. `BaseUrl` likewise, with the address above. \
(Or make two blank queries of these names from `ApiKey.pq` and `BaseUrl.pq`.)
2. *New Source*, *Blank Query*, *Advanced Editor*: paste `ReadDataset.pq` and call the query `ReadDataset`.
3. Likewise one query for each dataset: paste its file and call it after the dataset.
4. When you are asked how to sign in, choose *Anonymous*: the key travels in a header.

Each table carries its credit: `Value.Metadata(<query>)[Attribution]`.
";

#[cfg(test)]
mod tests;
