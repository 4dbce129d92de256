//! The trait behind an integration, and what it is given.

mod kit;

pub use kit::KEY_VARIABLE;

use crate::{Error, Options, Parameter};

/// An integration: descriptions of datasets in, files for some data tool out.
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
pub trait Generator: 'static {
    /// Says what the plugin makes. Called once when the plugin is loaded.
    fn describe() -> Description;

    /// Makes the files of one answer.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] or [`Error::UnsupportedSchema`] reach the client as a 422.
    fn generate(request: &Request, options: &Options) -> Result<Project, Error>;
}

/// Description of a generator; must be the same every time.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Name that clients write in `/v1/integrations/<tool>`: `[a-z][a-z0-9-]*`, at most 32
    /// characters.
    pub tool: &'static str,
    /// The plugin's own version, semantic versioning.
    pub version: &'static str,
    /// The tool's name as its makers write it.
    pub title: &'static str,
    /// Query parameters, at most 32.
    pub parameters: Vec<Parameter>,
    /// A paragraph for the API's documentation.
    pub docs: &'static str,
}

/// Types of columns on the wire. Dates are text of the form `YYYY-MM-DD`.
///
/// ```
/// use yearbook_sdk::generator::ColumnType;
///
/// assert_eq!(ColumnType::Date.json_type(), "string");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ColumnType {
    Text,
    Integer,
    Number,
    Boolean,
    Date,
}

/// Role of a column.
///
/// ```
/// use yearbook_sdk::generator::Role;
///
/// assert_eq!(Role::parse("dimension"), Some(Role::Dimension));
/// assert_eq!(Role::parse("colour"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Role {
    Date,
    Period,
    Dimension,
    Value,
    Geometry,
    Key,
    Attribute,
}

impl Role {
    /// The role of a name on the wire.
    ///
    /// ```
    /// use yearbook_sdk::generator::Role;
    ///
    /// assert_eq!(Role::parse("dimension"), Some(Role::Dimension));
    /// assert_eq!(Role::parse("colour"), None);
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "period" => Self::Period,
            "dimension" => Self::Dimension,
            "value" => Self::Value,
            "geometry" => Self::Geometry,
            "key" => Self::Key,
            "attribute" => Self::Attribute,
            _ => return None,
        })
    }

    /// Its name on the wire.
    ///
    /// ```
    /// use yearbook_sdk::generator::Role;
    ///
    /// assert_eq!(Role::Dimension.as_str(), "dimension");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Period => "period",
            Self::Dimension => "dimension",
            Self::Value => "value",
            Self::Geometry => "geometry",
            Self::Key => "key",
            Self::Attribute => "attribute",
        }
    }
}

/// A column of a dataset.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// let value = &request.datasets[0].columns[3];
/// assert_eq!((value.name.as_str(), value.nullable), ("value", true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in the WIT package")]
pub struct Column {
    pub name: String,
    pub column_type: ColumnType,
    pub nullable: bool,
    pub role: Role,
    pub unit: Option<String>,
    pub description: Option<String>,
}

/// Layout of a dataset: a row an observation, or a column a series.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// use yearbook_sdk::generator::Layout;
///
/// assert_eq!(request.datasets[1].layout, Layout::Wide);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Layout {
    Long,
    Wide,
}

/// A dataset that the client named.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// let harvest = &request.datasets[0];
/// assert_eq!((harvest.name.as_str(), harvest.rows), ("harvest_long", 120_001));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// snake_case.
    pub name: String,
    /// Grouping used in bulk download paths.
    pub namespace: String,
    /// For people.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The publishing agency.
    pub source: String,
    /// Address at which it publishes the data.
    pub source_url: Option<String>,
    /// The licence's name.
    pub licence: String,
    /// Must be passed on with the data, verbatim.
    pub attribution: String,
    /// In the order of the table.
    pub columns: Vec<Column>,
    /// Empty when the dataset has none.
    pub primary_key: Vec<String>,
    /// Long or wide.
    pub layout: Layout,
    /// The column that `start` and `end` filter.
    pub date_column: Option<String>,
    /// First and last date.
    pub date_range: Option<(String, String)>,
    /// Number of rows.
    pub rows: u64,
    /// Of the snapshot that is served now.
    pub snapshot_id: String,
    /// Interval at which the source is checked, such as `weekly`.
    pub refresh_cadence: Option<String>,
    /// Absolute address of the rows.
    pub data_url: String,
    /// Absolute address of the changes.
    pub changes_url: String,
    /// Absolute address of the file; `None` where the licence forbids bulk redistribution.
    pub bulk_url: Option<String>,
}

/// Whole files that a plan may download.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// use yearbook_sdk::generator::BulkFiles;
///
/// assert_eq!(request.plan.bulk, BulkFiles::None, "a free key");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkFiles {
    /// None: the address answers 402.
    None,
    /// The file as it was when the month began.
    Monthly,
    /// The file as the month began, and the newest, which the address gives by itself.
    Current,
}

/// Limits of the caller's plan: a generated project should say what a run costs.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// assert_eq!(request.plan.row_cap, Some(50_000));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Such as `free`.
    pub name: String,
    /// Requests a calendar month; `None` is unlimited.
    pub monthly_requests: Option<u64>,
    /// Rows a request; `None` is uncapped.
    pub row_cap: Option<u64>,
    /// Files behind [`Dataset::bulk_url`], where a dataset has one.
    pub bulk: BulkFiles,
}

/// A client's request.
///
/// ```
/// use yearbook_sdk::testing::project;
///
/// let request = project::request();
/// assert_eq!(request.datasets.len(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Without a trailing slash.
    pub base_url: String,
    /// The caller's plan.
    pub plan: Plan,
    /// In the order that the client named them.
    pub datasets: Vec<Dataset>,
}

/// A file to hand out.
///
/// ```
/// use yearbook_sdk::generator::File;
///
/// let file = File {
///     path: "config/tap.json".to_owned(),
///     media_type: "application/json".to_owned(),
///     content: b"{}\n".to_vec(),
/// };
/// assert_eq!(file, File::text("config/tap.json", "application/json", "{}"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative, `/` between folders, no `..`.
    pub path: String,
    /// Such as `application/json`.
    pub media_type: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// Output of a generator.
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// The files.
    pub files: Vec<File>,
    /// Sentences for the person who asked.
    pub warnings: Vec<String>,
}
