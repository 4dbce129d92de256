//! The integration `python`: one script that reads the chosen datasets into typed tables of pandas
//! or polars.

use yearbook_sdk::generator::{Description, File, Project, Request};
use yearbook_sdk::{Error, Generator, Kind, Options, Parameter};

mod script;

yearbook_sdk::export_generator!(Python);

/// Makes Python scripts.
#[derive(Debug)]
pub struct Python;

/// The library whose tables the script gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameLibrary {
    Pandas,
    Polars,
}

impl Generator for Python {
    fn describe() -> Description {
        Description {
            tool: "python",
            version: env!("CARGO_PKG_VERSION"),
            title: "Python",
            parameters: vec![Parameter {
                name: "frame",
                kind: Kind::Text,
                default: "pandas",
                allowed: &["pandas", "polars"],
                docs: "The library whose tables the script gives.",
            }],
            docs: "read_statistics.py, a script and a module: reads each dataset whole with httpx, page after page of Parquet, into a \
                   table with typed columns. The key comes from the environment.",
        }
    }

    fn generate(request: &Request, options: &Options) -> Result<Project, Error> {
        let frame = if options.text("frame")? == "polars" {
            FrameLibrary::Polars
        } else {
            FrameLibrary::Pandas
        };
        let mut warnings: Vec<String> = request.cost().into_iter().collect();
        warnings.extend(request.keyless_warning(", so rows have no names of their own"));
        let requirements = match frame {
            FrameLibrary::Pandas => "httpx>=0.27\npandas>=2.2\npyarrow>=16\n",
            FrameLibrary::Polars => "httpx>=0.27\npolars>=1\npyarrow>=16\n",
        };
        let files = vec![
            File::text(
                "read_statistics.py",
                "text/x-python; charset=utf-8",
                script::script(request, frame),
            ),
            File::text("requirements.txt", "text/plain; charset=utf-8", requirements),
            request.readme("Python", BODY, &warnings),
        ];
        Ok(Project { files, warnings })
    }
}

const BODY: &str = "\
```sh
pip install -r requirements.txt
export SERVICE_API_KEY=…          # your key; it stands in no file
python read_statistics.py         # reads every dataset and shows its first rows
```

In a program of your own: `from read_statistics import read`, then `read(\"<dataset>\")`. `SERVICE_BASE_URL` names another address \
of the service. `DATASETS` has each dataset's credit.
";

#[cfg(test)]
mod tests;
