//! Lines to copy that read a dataset, one for each tool (contract-9-dataset). They name the data
//! address of the page and an environment variable or a placeholder in place of a key. A line that
//! needs a format is left out where the dataset has none of its media type.

use std::fmt::Write as _;

use yearbook_domain::query::parse_pairs;
use yearbook_domain::read_plan::UNBOUNDED_ROWS;
use yearbook_domain::{CanonicalQuery, Dataset, DatasetName};

use crate::dataset_formats::DatasetFormats;

/// Media type that curl saves and spreadsheets read.
const COMMA_SEPARATED: &str = "text/csv";

/// Media type that DuckDB reads.
const COLUMN_FILE: &str = "application/vnd.apache.parquet";

/// Media type that both client libraries read.
const STREAM: &str = "application/vnd.apache.arrow.stream";

/// Rows that are asked for where all of them at once are refused.
const SOME_ROWS: u64 = 1_000;

/// A text to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyLine<'a> {
    /// The tool.
    pub(crate) tool: &'a str,
    /// Advice: a step before, or the place where the text goes.
    pub(crate) advice: &'a str,
    /// The text.
    pub(crate) text: String,
}

/// The lines of `request`, in `formats`.
pub(crate) fn copy_lines(
    request: &LineRequest<'_>,
    formats: &DatasetFormats,
) -> Vec<CopyLine<'static>> {
    let of = |media_type: &str, line: fn(&LineRequest<'_>, &str) -> CopyLine<'static>| {
        let mut described = formats.iter().map(|encoder| encoder.description());
        let found = described.find(|description| description.essence() == media_type)?;
        Some(line(request, &found.format))
    };
    [
        of(COMMA_SEPARATED, curl),
        of(STREAM, python),
        of(STREAM, r),
        of(COLUMN_FILE, duckdb),
        of(COMMA_SEPARATED, excel),
        of(COMMA_SEPARATED, spreadsheet),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Facts that every line is made of.
pub(crate) struct LineRequest<'a> {
    base_url: &'a str,
    name: &'a DatasetName,
    /// 0: all rows.
    limit: u64,
    /// True where there may be more rows than `limit`.
    is_cut: bool,
    /// The selection in its canonical text; empty: everything.
    selection: &'a str,
}

impl<'a> LineRequest<'a> {
    /// A request for what `selection` selects of `dataset`, for a service at `base_url`.
    pub(crate) fn new(
        base_url: &'a str,
        dataset: &'a Dataset,
        selection: &'a CanonicalQuery,
    ) -> Self {
        let snapshot = &dataset.current;
        let selection = selection.as_str();
        let whole = snapshot.rows <= UNBOUNDED_ROWS && !snapshot.has_geometry();
        let is_narrowed = parse_pairs(selection)
            .iter()
            .any(|(name, _)| !matches!(name.as_str(), "columns" | "geometry"));
        let limit = match (whole, is_narrowed) {
            (true, _) => 0,
            // A positive limit that leaves nothing out: only such a one relieves the guard.
            (false, true) => snapshot.rows.max(1),
            (false, false) => SOME_ROWS,
        };
        let is_cut = (1..snapshot.rows).contains(&limit);
        Self { base_url, name: &dataset.name, limit, is_cut, selection }
    }

    /// Returns the number of rows of an address that does not ask for all that are selected.
    pub(crate) fn first_rows(&self) -> Option<u64> {
        self.is_cut.then_some(self.limit)
    }

    /// Address of the rows in a format.
    pub(crate) fn url(&self, format: &str) -> String {
        self.address("series", "data", format)
    }

    /// Address of a route of the dataset with the selection and a format.
    fn address(&self, routes: &str, route: &str, format: &str) -> String {
        let Self { base_url, name, limit, selection, .. } = self;
        let separator = if selection.is_empty() { "" } else { "&" };
        format!(
            "{base_url}/v1/{routes}/{name}/{route}?{selection}{separator}format={format}&limit={limit}"
        )
    }

    /// Parameters of the selection, the values of each together, in the order of the canonical
    /// text.
    fn parameters(&self) -> Vec<(String, Vec<String>)> {
        let mut parameters: Vec<(String, Vec<String>)> = Vec::new();
        for (name, value) in parse_pairs(self.selection) {
            match parameters.last_mut() {
                Some((last, values)) if *last == name => values.push(value),
                _ => parameters.push((name, vec![value])),
            }
        }
        parameters
    }

    /// Further arguments of a client's call.
    fn arguments(&self, syntax: &Syntax) -> String {
        let Syntax { list: [begin, end], object: [open, close], is, without } = syntax;
        let listed = |values: &[String]| {
            let quoted: Vec<String> = values.iter().map(|value| quote(value)).collect();
            format!("{begin}{}{end}", quoted.join(", "))
        };
        let (mut conditions, mut arguments) = (String::new(), String::new());
        for (name, values) in self.parameters() {
            match (name.strip_prefix("where."), values.as_slice()) {
                (Some(column), values) => {
                    let separator = if conditions.is_empty() { "" } else { ", " };
                    let _ =
                        write!(conditions, "{separator}{}{is}{}", quote(column), listed(values));
                }
                (None, [value]) if name == "columns" => {
                    let names: Vec<String> = value.split(',').map(str::to_owned).collect();
                    let _ = write!(arguments, ", columns={}", listed(&names));
                }
                (None, [value]) if matches!(name.as_str(), "first" | "last") => {
                    let _ = write!(arguments, ", {name}={value}");
                }
                (None, values) => {
                    for value in values {
                        let value =
                            if name == "geometry" { (*without).to_owned() } else { quote(value) };
                        let _ = write!(arguments, ", {name}={value}");
                    }
                }
            }
        }
        if !conditions.is_empty() {
            let _ = write!(arguments, ", where={open}{conditions}{close}");
        }
        arguments
    }
}

/// Lists in the syntax of a language.
struct Syntax {
    list: [&'static str; 2],
    /// Of values with names.
    object: [&'static str; 2],
    /// Text between a name and its value.
    is: &'static str,
    /// The value of `geometry` that leaves it out; asked for in no other way.
    without: &'static str,
}

const PYTHON: Syntax = Syntax { list: ["[", "]"], object: ["{", "}"], is: ": ", without: "False" };

const R: Syntax = Syntax { list: ["c(", ")"], object: ["list(", ")"], is: " = ", without: "FALSE" };

/// A text as a literal of Python and of R, which both read the escapes of JSON.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text as a literal of Power Query's language, which doubles quotes.
fn quote_m(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace("#(", "#(#)("))
}

/// A command that saves `url` as `file`, with the key from the environment. `headers` are further
/// options, each with a space at its end.
pub(crate) fn curl_command(headers: &str, file: &str, url: &str) -> String {
    format!("curl -f -H \"X-API-Key: $SERVICE_API_KEY\" {headers}-o {file} \\\n  \"{url}\"")
}

fn curl(request: &LineRequest<'_>, format: &str) -> CopyLine<'static> {
    let LineRequest { name, .. } = request;
    CopyLine {
        tool: "curl",
        advice: "Put your key into the variable SERVICE_API_KEY first.",
        text: curl_command("", &format!("{name}.{format}"), &request.url(format)),
    }
}

fn python(request: &LineRequest<'_>, _: &str) -> CopyLine<'static> {
    let LineRequest { base_url, name, .. } = request;
    CopyLine {
        tool: "Python",
        advice: "The key comes from SERVICE_API_KEY. The result is a data frame where pandas is installed.",
        text: format!(
            "# pip install yearbook_client\nimport os\nimport yearbook_client\n\nos.environ[\"SERVICE_BASE_URL\"] = \"{base_url}\"\n\
             table = yearbook_client.get(\"{name}\"{})",
            request.arguments(&PYTHON)
        ),
    }
}

fn r(request: &LineRequest<'_>, _: &str) -> CopyLine<'static> {
    let LineRequest { base_url, name, .. } = request;
    CopyLine {
        tool: "R",
        advice: "The key comes from SERVICE_API_KEY, for instance in your .Renviron.",
        text: format!(
            "library(yearbook)\nSys.setenv(SERVICE_BASE_URL = \"{base_url}\")\ntable <- yb_get(\"{name}\"{})",
            request.arguments(&R)
        ),
    }
}

fn duckdb(request: &LineRequest<'_>, format: &str) -> CopyLine<'static> {
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

fn excel(request: &LineRequest<'_>, format: &str) -> CopyLine<'static> {
    let LineRequest { base_url, name, limit, .. } = request;
    let mut query = String::new();
    for (name, values) in request.parameters() {
        let values: Vec<String> = values.iter().map(|value| quote_m(value)).collect();
        let _ = write!(query, "#{} = {{{}}}, ", quote_m(&name), values.join(", "));
    }
    CopyLine {
        tool: "Excel",
        advice: "Data, Get Data, From Other Sources, Blank Query, Advanced Editor: paste this. Sign in as Basic with your key as user name and any password.",
        text: format!(
            "let\n  Answer = Web.Contents(\"{base_url}\", [\n    RelativePath = \"v1/series/{name}/data\",\n    \
             Query = [{query}format = \"{format}\", limit = \"{limit}\"]\n  ]),\n  \
             Rows = Csv.Document(Answer, [Delimiter = \",\", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),\n  \
             Table = Table.PromoteHeaders(Rows, [PromoteAllScalars = true])\nin\n  Table"
        ),
    }
}

/// The address that makes a link, for sheets, which take no key.
fn spreadsheet(request: &LineRequest<'_>, format: &str) -> CopyLine<'static> {
    CopyLine {
        tool: "Spreadsheet",
        advice: "Open this address in a browser and sign in with your key as user name. The answer's url is for IMPORTDATA in Google Sheets, From Web in Excel and External Links in LibreOffice; it needs no key, and is as secret as one.",
        text: format!("{}&days=366", request.address("datasets", "link", format)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn request<'a>(name: &'a DatasetName, limit: u64) -> LineRequest<'a> {
        let base_url = "https://data.example.org";
        LineRequest { base_url, name, limit, is_cut: false, selection: "" }
    }

    #[test]
    fn lines_of_a_selection_ask_for_it_contract_15() {
        let name = DatasetName::parse("cpi").unwrap();
        let selection = "columns=date%2Cvalue&last=1&where.region=a%20%22b%22&where.region=c&where.value.ge=1.5";
        let request = LineRequest { selection, ..request(&name, 0) };
        let url =
            format!("https://data.example.org/v1/series/cpi/data?{selection}&format=F&limit=0");
        assert!(curl(&request, "F").text.ends_with(&format!("\"{url}\"")));
        assert!(python(&request, "F").text.ends_with(
            r#"get("cpi", columns=["date", "value"], last=1, where={"region": ["a \"b\"", "c"], "value.ge": ["1.5"]})"#
        ));
        assert!(r(&request, "F").text.ends_with(
            r#"yb_get("cpi", columns=c("date", "value"), last=1, where=list("region" = c("a \"b\"", "c"), "value.ge" = c("1.5")))"#
        ));
        assert!(excel(&request, "F").text.contains(
            r##"#"where.region" = {"a ""b""", "c"}, #"where.value.ge" = {"1.5"}, format = "F""##
        ));
        assert_eq!(
            spreadsheet(&request, "F").text,
            format!("{}&days=366", url.replace("series/cpi/data", "datasets/cpi/link"))
        );
        let request = LineRequest { selection: "geometry=false", ..request };
        assert!(python(&request, "F").text.ends_with(r#"get("cpi", geometry=False)"#));
        assert!(r(&request, "F").text.ends_with(r#"yb_get("cpi", geometry=FALSE)"#));
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
        ] {
            assert!(excel.contains(part), "{part} is not in {excel}");
        }
        // A program of tables keeps keys beside its document, and not in it.
        assert!(!excel.contains("key"), "{excel}");
    }
}
