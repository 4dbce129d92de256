//! The integration `r`: one script that reads the chosen datasets into data frames with typed
//! columns.

use yearbook_sdk::generator::{ColumnType, Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Options};

mod script;

yearbook_sdk::export_generator!(R);

/// Makes R scripts.
#[derive(Debug)]
pub struct R;

impl Generator for R {
    fn describe() -> Description {
        Description {
            tool: "r",
            version: env!("CARGO_PKG_VERSION"),
            title: "R",
            parameters: Vec::new(),
            docs: "read_statistics.R, a script that reads each dataset whole with httr2, page after page, into a data frame with typed \
                   columns and the credit as an attribute. The key comes from the environment.",
        }
    }

    fn generate(request: &Request, _: &Options) -> Result<Project, Error> {
        let mut warnings: Vec<String> = request.cost().into_iter().collect();
        let whole = request.names(|dataset| {
            dataset.columns.iter().any(|column| column.column_type == ColumnType::Integer)
        });
        warnings
            .extend(whole.map(|names| format!("R's integers have 32 bits, so whole numbers come as doubles, exact up to 2^53: {names}.")));
        warnings.extend(request.keyless_warning(", so rows have no names of their own"));
        let files = vec![
            File::text("read_statistics.R", "text/plain; charset=utf-8", script::script(request)),
            request.readme("R", BODY, &warnings),
        ];
        Ok(Project { files, warnings })
    }
}

const BODY: &str = "\
```sh
Rscript -e 'install.packages(c(\"httr2\", \"jsonlite\"))'
export SERVICE_API_KEY=…          # your key; it stands in no file
Rscript read_statistics.R         # reads every dataset and shows its structure
```

In a session of your own: `source(\"read_statistics.R\")`, then `read_dataset(\"<dataset>\")`. `SERVICE_BASE_URL` names another \
address of the service. `attr(frame, \"attribution\")` is the credit.
";

#[cfg(test)]
mod tests;
