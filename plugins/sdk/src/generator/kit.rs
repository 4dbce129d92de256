//! Needs of most generators: files of text, pages of rows, what a run costs, and the credits that
//! must be passed on.

use super::{BulkFiles, Column, ColumnType, Dataset, File, Plan, Request, Role};

/// The environment variable that generated programs take the key from, where their tool has no
/// place for secrets.
///
/// ```
/// use yearbook_sdk::generator::KEY_VARIABLE;
///
/// assert_eq!(format!("os.environ[{KEY_VARIABLE:?}]"), "os.environ[\"SERVICE_API_KEY\"]");
/// ```
pub const KEY_VARIABLE: &str = "SERVICE_API_KEY";

/// Cells of a page: a tool holds a page in memory, parsed, which takes some 100 bytes a cell.
const CELLS: u64 = 500_000;
/// Rows of a page at least and at most.
const ROWS: (u64, u64) = (1_000, 50_000);
/// Rows of a page with geometry: a row may have hundreds of kilobytes.
const SPATIAL_ROWS: u64 = 500;

impl File {
    /// A file of text; a line break at its end is added where it lacks one.
    ///
    /// ```
    /// use yearbook_sdk::generator::File;
    ///
    /// assert_eq!(File::text("a.txt", "text/plain", "a").content, b"a\n");
    /// ```
    #[must_use]
    pub fn text(path: &str, media_type: &str, content: impl Into<String>) -> Self {
        let mut content = content.into();
        if !content.ends_with('\n') {
            content.push('\n');
        }
        Self {
            path: path.to_owned(),
            media_type: media_type.to_owned(),
            content: content.into_bytes(),
        }
    }
}

impl Plan {
    /// Rows of a page: `wanted`, or what the plan lets a request have.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.plan.page(80_000), 50_000, "the cap of the plan");
    /// ```
    #[must_use]
    pub fn page(&self, wanted: u64) -> u64 {
        self.row_cap.map_or(wanted, |cap| cap.min(wanted)).max(1)
    }

    /// A warning that responses end at the plan's row cap, continued by `consequence`; `None`
    /// without a cap.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let warning = request.plan.row_cap_warning("so pages are read one by one.");
    /// let warning = warning.unwrap_or_default();
    /// assert!(warning.contains("50000 rows"));
    /// ```
    #[must_use]
    pub fn row_cap_warning(&self, consequence: &str) -> Option<String> {
        let cap = self.row_cap?;
        Some(format!("The {} plan caps a response at {cap} rows, {consequence}", self.name))
    }

    /// A warning about a run of `requests` on a plan with a monthly limit; `None` without a limit.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let warning = request.plan.cost(5).unwrap_or_default();
    /// assert!(warning.ends_with("2 such runs fit into a month."));
    /// ```
    #[must_use]
    pub fn cost(&self, requests: u64) -> Option<String> {
        let monthly = self.monthly_requests?;
        let (name, plural) = (&self.name, if requests == 1 { "" } else { "s" });
        let fits = match monthly.checked_div(requests).unwrap_or(monthly) {
            0 => "more than a month has: choose fewer datasets, or another plan".to_owned(),
            1 => "one such run fits into a month".to_owned(),
            runs => format!("{runs} such runs fit into a month"),
        };
        Some(format!(
            "A full run costs {requests} request{plural}, and the {name} plan has {monthly} a month: {fits}."
        ))
    }
}

impl ColumnType {
    /// The type's name in JSON Schema; a date is a string there.
    ///
    /// ```
    /// use yearbook_sdk::generator::ColumnType;
    ///
    /// assert_eq!(ColumnType::Number.json_type(), "number");
    /// ```
    #[must_use]
    pub fn json_type(self) -> &'static str {
        match self {
            Self::Text | Self::Date => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

impl Column {
    /// True where rows in JSON may have null: in a nullable column, and in every column of
    /// numbers, since JSON has null for one that is not finite.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert!(!request.datasets[0].columns[0].is_nullable_in_json());
    /// ```
    #[must_use]
    pub fn is_nullable_in_json(&self) -> bool {
        self.nullable || self.column_type == ColumnType::Number
    }

    /// Names of the types in JSON Schema that a value may have: `null` is one where
    /// [`Column::is_nullable_in_json`].
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.datasets[0].columns[3].json_types(), ["number", "null"]);
    /// ```
    #[must_use]
    pub fn json_types(&self) -> Vec<&'static str> {
        let null = self.is_nullable_in_json().then_some("null");
        std::iter::once(self.column_type.json_type()).chain(null).collect()
    }
}

impl Dataset {
    /// Requests that read all rows in pages of `page`; at least one.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.datasets[0].requests(50_000), 3);
    /// ```
    #[must_use]
    pub fn requests(&self, page: u64) -> u64 {
        self.rows.div_ceil(page.max(1)).max(1)
    }

    /// Rows of a request that any tool can hold parsed: fewer where rows are wide, few with
    /// `geometry` where there is one, and never more than the plan allows.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let places = &request.datasets[2];
    /// assert_eq!(places.page(&request.plan, true), 500, "geometries are large");
    /// ```
    #[must_use]
    pub fn page(&self, plan: &Plan, geometry: bool) -> u64 {
        let columns = u64::try_from(self.columns.len()).unwrap_or(u64::MAX).max(1);
        let spatial = geometry && self.geometry().is_some();
        plan.page(if spatial { SPATIAL_ROWS } else { (CELLS / columns).clamp(ROWS.0, ROWS.1) })
    }

    /// The address of the whole file, where both licence and plan allow it.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.datasets[0].file(&request.plan), None, "the plan has no files");
    /// ```
    #[must_use]
    pub fn file(&self, plan: &Plan) -> Option<&str> {
        self.bulk_url.as_deref().filter(|_| plan.bulk != BulkFiles::None)
    }

    /// The geometry column of a spatial dataset.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let geometry = request.datasets[2].geometry().map(|column| column.name.as_str());
    /// assert_eq!(geometry, Some("geometry_wkt"));
    /// ```
    #[must_use]
    pub fn geometry(&self) -> Option<&Column> {
        self.columns.iter().find(|column| column.role == Role::Geometry)
    }

    /// Title, or name where there is none, on one line.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.datasets[3].label(), "codes", "it has no title");
    /// ```
    #[must_use]
    pub fn label(&self) -> String {
        one_line(self.title.as_deref().unwrap_or(&self.name))
    }
}

impl Request {
    /// Cost of reading every dataset in pages of [`Dataset::page`]; nothing without a monthly
    /// limit.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert!(request.cost().is_some_and(|warning| warning.contains("requests")));
    /// ```
    #[must_use]
    pub fn cost(&self) -> Option<String> {
        self.plan.cost(
            self.datasets
                .iter()
                .map(|dataset| dataset.requests(dataset.page(&self.plan, true)))
                .sum(),
        )
    }

    /// Names of the datasets that are `wanted`, with commas; `None` when there is none.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let spatial = request.names(|dataset| dataset.geometry().is_some());
    /// assert_eq!(spatial.as_deref(), Some("places"));
    /// ```
    #[must_use]
    pub fn names(&self, wanted: impl Fn(&Dataset) -> bool) -> Option<String> {
        let names: Vec<&str> = self
            .datasets
            .iter()
            .filter(|dataset| wanted(dataset))
            .map(|dataset| dataset.name.as_str())
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Names of the datasets without a primary key.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.keyless().as_deref(), Some("codes"));
    /// ```
    #[must_use]
    pub fn keyless(&self) -> Option<String> {
        self.names(|dataset| dataset.primary_key.is_empty())
    }

    /// A warning that names the datasets without a primary key: `Without a primary key`, then
    /// `consequence`, which is empty or begins with a comma; `None` where all have a key.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let warning = request.keyless_warning(", so rows are appended").unwrap_or_default();
    /// assert_eq!(warning, "Without a primary key, so rows are appended: codes.");
    /// ```
    #[must_use]
    pub fn keyless_warning(&self, consequence: &str) -> Option<String> {
        self.keyless().map(|names| format!("Without a primary key{consequence}: {names}."))
    }

    /// README.md: `# <title> for <service>`, then `body` (Markdown), the warnings and the credits.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// let readme = request.readme("A project", "Run it.", &[]);
    /// assert!(readme.content.starts_with(b"# A project for https://data.example.org"));
    /// ```
    #[must_use]
    pub fn readme(&self, title: &str, body: &str, warnings: &[String]) -> File {
        let notes: String = warnings.iter().map(|warning| format!("- {warning}\n")).collect();
        let notes = if notes.is_empty() { notes } else { format!("## To know\n\n{notes}\n") };
        let text = format!(
            "# {title} for {base}\n\n{body}\n\n{notes}## Credits\n\nThese must be passed on with the data, word for word.\n\n{credits}",
            base = self.base_url,
            body = body.trim_end(),
            credits = self.credits(),
        );
        File::text("README.md", "text/markdown; charset=utf-8", text)
    }

    /// A Markdown list with what must be passed on with each dataset.
    ///
    /// ```
    /// use yearbook_sdk::testing::project;
    ///
    /// let request = project::request();
    /// assert_eq!(request.credits().matches("Licence: CC-BY-4.0").count(), 4);
    /// ```
    #[must_use]
    pub fn credits(&self) -> String {
        let line = |dataset: &Dataset| {
            let source = dataset
                .source_url
                .as_ref()
                .map_or_else(String::new, |url| format!(", <{}>", one_line(url)));
            format!(
                "- `{}` ({}): {}  \n  Source: {}{source}. Licence: {}.\n",
                dataset.name,
                dataset.label(),
                one_line(&dataset.attribution),
                one_line(&dataset.source),
                one_line(&dataset.licence)
            )
        };
        self.datasets.iter().map(line).collect()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_json_may_be_null_whatever_is_required_contract_4() {
        let column = |column_type| Column {
            name: "a".to_owned(),
            column_type,
            nullable: false,
            role: Role::Value,
            unit: None,
            description: None,
        };
        assert_eq!(column(ColumnType::Number).json_types(), ["number", "null"]);
        for other in [ColumnType::Text, ColumnType::Integer, ColumnType::Boolean, ColumnType::Date]
        {
            assert_eq!(column(other).json_types(), [other.json_type()]);
        }
    }

    #[test]
    fn a_limited_plan_hears_what_a_run_costs() {
        let plan = |monthly_requests| Plan {
            name: "free".to_owned(),
            monthly_requests,
            row_cap: Some(50_000),
            bulk: BulkFiles::None,
        };
        let end = |monthly, requests| {
            plan(Some(monthly))
                .cost(requests)
                .map(|text| text.rsplit(": ").next().map(str::to_owned))
        };
        assert_eq!(plan(None).cost(4), None);
        assert_eq!(end(10, 3).flatten().as_deref(), Some("3 such runs fit into a month."));
        assert_eq!(end(10, 10).flatten().as_deref(), Some("one such run fits into a month."));
        assert!(plan(Some(10)).cost(11).is_some_and(|text| text.contains("more than a month has")));
        assert_eq!((plan(None).page(7), plan(None).page(80_000)), (7, 50_000));
    }
}
