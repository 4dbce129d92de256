//! Requests to try a generator with: datasets of every shape, with texts that are hard to quote.

use crate::generator::{
    BulkFiles, Column, ColumnType, Dataset, File, Layout, Plan, Project, Request, Role,
};
use crate::{Error, Generator, Value};

/// Text that breaks what is not quoted: every quote, braces, what templates open with, a comment, a
/// break, an emoji, and words and numbers that some formats take for something else.
///
/// ```
/// use yearbook_sdk::testing::project::{self, HARD};
///
/// assert_eq!(project::long().title.as_deref(), Some(HARD));
/// ```
pub const HARD: &str = "no: \"it's\" #1 {x} [y] `z` ${HOME} $KEY \\ % @ & * ! | > 1e3 {{ a }} {% b %} {# c #} \"\"\" ''' #(lf)\n--- \u{1f33e} Māori </script>";

/// Runs a generator natively as the host would.
///
/// ```
/// use yearbook_sdk::generator::{Description, File, Project, Request};
/// use yearbook_sdk::testing::project;
/// use yearbook_sdk::{Error, Generator, Options};
///
/// struct Links;
///
/// impl Generator for Links {
///     fn describe() -> Description {
///         Description {
///             tool: "links",
///             version: "0.1.0",
///             title: "Links",
///             parameters: Vec::new(),
///             docs: "The address of each dataset.",
///         }
///     }
///     fn generate(request: &Request, _: &Options) -> Result<Project, Error> {
///         let links = request.datasets.iter().map(|set| set.data_url.as_str());
///         let links: Vec<&str> = links.collect();
///         let file = File::text("links.txt", "text/plain", links.join("\n"));
///         Ok(Project { files: vec![file], warnings: Vec::new() })
///     }
/// }
///
/// let made = project::generate::<Links>(&project::request(), &[])?;
/// assert_eq!(project::text(&made, "links.txt").lines().count(), 4);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the generator declines.
pub fn generate<G: Generator>(
    request: &Request,
    options: &[(&str, Value)],
) -> Result<Project, Error> {
    G::generate(request, &super::complete(&G::describe().parameters, options))
}

/// A request of a free key for every shape of dataset: [`long`], [`wide`], [`spatial`],
/// [`undated`].
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// assert_eq!(request.plan.name, "free");
/// ```
#[must_use]
pub fn request() -> Request {
    Request {
        base_url: "https://data.example.org".to_owned(),
        plan: Plan {
            name: "free".to_owned(),
            monthly_requests: Some(10),
            row_cap: Some(50_000),
            bulk: BulkFiles::None,
        },
        datasets: vec![long(), wide(), spatial(), undated()],
    }
}

/// A file's text.
///
/// ```
/// use yearbook_sdk::generator::{File, Project};
/// use yearbook_sdk::testing::project;
///
/// let file = File::text("a.txt", "text/plain", "a");
/// let made = Project { files: vec![file], warnings: Vec::new() };
/// assert_eq!(project::text(&made, "a.txt"), "a\n");
/// ```
///
/// # Panics
/// Panics when there is no such file or it is not UTF-8.
#[must_use]
pub fn text<'a>(project: &'a Project, path: &str) -> &'a str {
    let found = project.files.iter().find(|file: &&File| file.path == path);
    let file = found.unwrap_or_else(|| panic!("no file {path}"));
    std::str::from_utf8(&file.content).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A row an observation, with a date, a period and a primary key.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// assert_eq!(project::long().primary_key, ["date", "region"]);
/// ```
#[must_use]
pub fn long() -> Dataset {
    let columns = vec![
        column("date", ColumnType::Date, Role::Date, false),
        column("period", ColumnType::Text, Role::Period, true),
        column("region", ColumnType::Text, Role::Dimension, false),
        column("value", ColumnType::Number, Role::Value, true),
        column("final", ColumnType::Boolean, Role::Attribute, true),
    ];
    Dataset {
        primary_key: vec!["date".to_owned(), "region".to_owned()],
        ..dataset("harvest_long", columns, 120_001, Layout::Long)
    }
}

/// A column a series.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// assert_eq!(project::wide().columns.len(), 3);
/// ```
#[must_use]
pub fn wide() -> Dataset {
    let columns = vec![
        column("date", ColumnType::Date, Role::Date, false),
        column("cpi", ColumnType::Number, Role::Value, true),
        column("no", ColumnType::Integer, Role::Value, true),
    ];
    Dataset {
        primary_key: vec!["date".to_owned()],
        ..dataset("prices_wide", columns, 400, Layout::Wide)
    }
}

/// With geometry and a date, not to be redistributed in bulk.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// assert!(project::spatial().geometry().is_some());
/// ```
#[must_use]
pub fn spatial() -> Dataset {
    let columns = vec![
        column("name", ColumnType::Text, Role::Key, false),
        column("date", ColumnType::Date, Role::Date, false),
        column("geometry_wkt", ColumnType::Text, Role::Geometry, true),
    ];
    let described = dataset("places", columns, 16, Layout::Long);
    Dataset { primary_key: vec!["name".to_owned()], bulk_url: None, ..described }
}

/// Without date and without a key.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// assert_eq!(project::undated().date_column, None);
/// ```
#[must_use]
pub fn undated() -> Dataset {
    let columns = vec![
        column("code", ColumnType::Text, Role::Dimension, false),
        column("count", ColumnType::Integer, Role::Value, true),
    ];
    Dataset {
        date_column: None,
        date_range: None,
        title: None,
        source_url: None,
        ..dataset("codes", columns, 0, Layout::Long)
    }
}

fn dataset(name: &str, columns: Vec<Column>, rows: u64, layout: Layout) -> Dataset {
    Dataset {
        name: name.to_owned(),
        namespace: "tests".to_owned(),
        title: Some(HARD.to_owned()),
        description: Some(HARD.to_owned()),
        source: HARD.to_owned(),
        source_url: Some("https://agency.example/a?b=c&d=\"e\"".to_owned()),
        licence: "CC-BY-4.0".to_owned(),
        attribution: HARD.to_owned(),
        columns,
        primary_key: Vec::new(),
        layout,
        date_column: Some("date".to_owned()),
        date_range: Some(("2001-01-01".to_owned(), "2026-06-30".to_owned())),
        rows,
        snapshot_id: "0123456789abcdef0123456789abcdef".to_owned(),
        refresh_cadence: Some("weekly".to_owned()),
        data_url: format!("https://data.example.org/v1/datasets/{name}/data"),
        changes_url: format!("https://data.example.org/v1/datasets/{name}/changes"),
        bulk_url: Some(format!("https://data.example.org/v1/bulk/tests/{name}")),
    }
}

fn column(name: &str, column_type: ColumnType, role: Role, nullable: bool) -> Column {
    Column {
        name: name.to_owned(),
        column_type,
        nullable,
        role,
        unit: Some("%".to_owned()),
        description: Some(HARD.to_owned()),
    }
}
