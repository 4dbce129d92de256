//! Lines to copy that read a dataset, one for each tool (contract-9-dataset). They name the data
//! address of the page and an environment variable or a placeholder in place of a key. A line that
//! needs a format is left out where the dataset has none of its media type.

use yearbook_domain::read_plan::UNBOUNDED_ROWS;
use yearbook_domain::{Dataset, DatasetName};

use crate::dataset_formats::DatasetFormats;

/// Media type that curl saves and Excel reads.
const COMMA_SEPARATED: &str = "text/csv";

/// Media type that DuckDB reads.
const COLUMN_FILE: &str = "application/vnd.apache.parquet";

/// Media type that both client libraries read.
const STREAM: &str = "application/vnd.apache.arrow.stream";

/// Rows that are asked for where all of them at once are refused.
const SOME_ROWS: u64 = 1_000;

/// A text to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyLine {
    /// The tool.
    pub(crate) tool: &'static str,
    /// Advice: a step before, or the place where the text goes.
    pub(crate) advice: &'static str,
    /// The text.
    pub(crate) text: String,
}

/// The lines for `dataset`, for a service at `base_url`.
pub(crate) fn copy_lines(
    base_url: &str,
    dataset: &Dataset,
    formats: &DatasetFormats,
) -> Vec<CopyLine> {
    let snapshot = &dataset.current;
    let whole = snapshot.rows <= UNBOUNDED_ROWS && !snapshot.has_geometry();
    let request =
        LineRequest { base_url, name: &dataset.name, limit: if whole { 0 } else { SOME_ROWS } };
    let of = |media_type: &str, line: fn(&LineRequest<'_>, &str) -> CopyLine| {
        let mut described = formats.iter().map(|encoder| encoder.description());
        let found = described.find(|description| description.essence() == media_type)?;
        Some(line(&request, &found.format))
    };
    [
        of(COMMA_SEPARATED, curl),
        of(STREAM, python),
        of(STREAM, r),
        of(COLUMN_FILE, duckdb),
        of(COMMA_SEPARATED, excel),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Facts that every line is made of.
struct LineRequest<'a> {
    base_url: &'a str,
    name: &'a DatasetName,
    /// 0: all rows.
    limit: u64,
}

impl LineRequest<'_> {
    fn url(&self, format: &str) -> String {
        let Self { base_url, name, limit } = self;
        format!("{base_url}/v1/series/{name}/data?format={format}&limit={limit}")
    }
}

/// A command that saves `url` as `file`, with the key from the environment. `headers` are further
/// options, each with a space at its end.
pub(crate) fn curl_command(headers: &str, file: &str, url: &str) -> String {
    format!("curl -f -H \"X-API-Key: $SERVICE_API_KEY\" {headers}-o {file} \\\n  \"{url}\"")
}

fn curl(request: &LineRequest<'_>, format: &str) -> CopyLine {
    let LineRequest { name, .. } = request;
    CopyLine {
        tool: "curl",
        advice: "Put your key into the variable SERVICE_API_KEY first.",
        text: curl_command("", &format!("{name}.{format}"), &request.url(format)),
    }
}

fn python(request: &LineRequest<'_>, _: &str) -> CopyLine {
    let LineRequest { base_url, name, .. } = request;
    CopyLine {
        tool: "Python",
        advice: "The key comes from SERVICE_API_KEY. The result is a data frame where pandas is installed.",
        text: format!(
            "# pip install yearbook_client\nimport os\nimport yearbook_client\n\nos.environ[\"SERVICE_BASE_URL\"] = \"{base_url}\"\n\
             table = yearbook_client.get(\"{name}\")"
        ),
    }
}

fn r(request: &LineRequest<'_>, _: &str) -> CopyLine {
    let LineRequest { base_url, name, .. } = request;
    CopyLine {
        tool: "R",
        advice: "The key comes from SERVICE_API_KEY, for instance in your .Renviron.",
        text: format!(
            "library(yearbook)\nSys.setenv(SERVICE_BASE_URL = \"{base_url}\")\ntable <- yb_get(\"{name}\")"
        ),
    }
}

fn duckdb(request: &LineRequest<'_>, format: &str) -> CopyLine {
    let LineRequest { name, .. } = request;
    CopyLine {
        tool: "DuckDB",
        advice: "Put your key into the variable SERVICE_API_KEY first.",
        text: format!(
            "{}\nduckdb -c \"FROM read_parquet('{name}.{format}') LIMIT 10\"",
            curl(request, format).text
        ),
    }
}

fn excel(request: &LineRequest<'_>, format: &str) -> CopyLine {
    let LineRequest { base_url, name, limit } = request;
    CopyLine {
        tool: "Excel",
        advice: "Data, Get Data, From Other Sources, Blank Query, Advanced Editor: paste this and put your key in. Sign in as Anonymous.",
        text: format!(
            "let\n  Answer = Web.Contents(\"{base_url}\", [\n    RelativePath = \"v1/series/{name}/data\",\n    \
             Query = [format = \"{format}\", limit = \"{limit}\"],\n    Headers = [#\"X-API-Key\" = \"your key\"]\n  ]),\n  \
             Rows = Csv.Document(Answer, [Delimiter = \",\", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),\n  \
             Table = Table.PromoteHeaders(Rows, [PromoteAllScalars = true])\nin\n  Table"
        ),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn request<'a>(name: &'a DatasetName, limit: u64) -> LineRequest<'a> {
        LineRequest { base_url: "https://data.example.org", name, limit }
    }

    #[test]
    fn lines_read_the_data_address_and_hold_no_key_contract_9() {
        let name = DatasetName::parse("cpi").unwrap();
        let whole = request(&name, 0);
        let url = "https://data.example.org/v1/series/cpi/data?format=F&limit=0";
        assert_eq!(
            curl(&whole, "F").text,
            format!("curl -f -H \"X-API-Key: $SERVICE_API_KEY\" -o cpi.F \\\n  \"{url}\"")
        );
        assert!(duckdb(&whole, "F").text.starts_with(&curl(&whole, "F").text));
        assert!(duckdb(&whole, "F").text.ends_with("read_parquet('cpi.F') LIMIT 10\""));
        for line in [python(&whole, "F"), r(&whole, "F")] {
            assert!(line.text.contains("\"https://data.example.org\""), "{}", line.text);
            assert!(line.text.contains("get(\"cpi\")"), "{}", line.text);
        }
        let excel = excel(&request(&name, 1_000), "F").text;
        for part in [
            "Web.Contents(\"https://data.example.org\"",
            "RelativePath = \"v1/series/cpi/data\"",
            "Query = [format = \"F\", limit = \"1000\"]",
            "#\"X-API-Key\" = \"your key\"",
        ] {
            assert!(excel.contains(part), "{part} is not in {excel}");
        }
    }
}
