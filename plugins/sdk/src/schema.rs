//! A response's schema as a tree, from the flat pre-order that crosses.

use std::sync::Arc;

use crate::generator::Role;
use crate::{Error, View, wire};

pub use code::Code;
pub use data_type::{DataType, TimeUnit};

mod code;
mod data_type;

/// Names of [`Schema::provenance`]; the metadata has them after `yearbook.`.
const PROVENANCE: [&str; 9] = [
    "dataset",
    "namespace",
    "source",
    "source_url",
    "licence",
    "licence_title",
    "licence_url",
    "attribution",
    "snapshot_id",
];

/// Columns and metadata of a response.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("day", &[Some("2026-01-31")])
///     .about("day", "yearbook.role", "date")
///     .about("day", "yearbook.type", "date")
///     .about("day", "yearbook.unit", "UTC")
///     .metadata("yearbook.source", "Stats NZ");
/// let schema = batches(&table, false)?.remove(0).schema().clone();
/// assert_eq!(schema.fields.len(), 1);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The columns.
    pub fields: Vec<Field>,
    /// `yearbook.dataset`, `yearbook.namespace`, `yearbook.snapshot_id`, `yearbook.source`,
    /// `yearbook.source_url` (absent when unknown), `yearbook.licence`, `yearbook.attribution`;
    /// where the publisher gave them, `yearbook.licence_title`, `yearbook.licence_url`, and
    /// `yearbook.sources`, a JSON array of objects with `title` and `path` (text or null).
    pub metadata: Vec<(String, String)>,
}

/// A column, or a child of one.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("day", &[Some("2026-01-31")])
///     .about("day", "yearbook.role", "date")
///     .about("day", "yearbook.type", "date")
///     .about("day", "yearbook.unit", "UTC")
///     .metadata("yearbook.source", "Stats NZ");
/// let schema = batches(&table, false)?.remove(0).schema().clone();
/// let field = &schema.fields[0];
/// assert_eq!((field.name.as_str(), field.format.as_str()), ("day", "u"));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The column's name.
    pub name: String,
    /// The format string of the Arrow C data interface, as it crossed.
    pub format: String,
    /// The same, parsed. [`DataType::Int32`] where the field is dictionary-encoded: the keys.
    pub data_type: DataType,
    /// Set where nulls may occur.
    pub nullable: bool,
    /// The type of the values where the field is dictionary-encoded.
    pub dictionary: Option<Box<Field>>,
    /// Children of lists, structs, maps and unions.
    pub children: Vec<Field>,
    /// Key and value: `yearbook.role`, `yearbook.type`, `yearbook.unit`, as far as they are known.
    pub metadata: Vec<(String, String)>,
    /// Distinct values of the column, ascending: of an encoder that exports its
    /// [`crate::export_codelists!`], where they are known before rows are read.
    pub codes: Option<Arc<[Code]>>,
}

impl Schema {
    /// Builds the tree.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] for a format string that this version of the SDK does not know;
    /// [`Error::Internal`] when the flat fields do not form a tree.
    pub(crate) fn from_wire(schema: wire::RawSchema) -> Result<Self, Error> {
        let mut flat = schema.fields.into_iter();
        let mut fields = Vec::new();
        while let Some(first) = flat.next() {
            fields.push(Field::from_wire(first, &mut flat)?);
        }
        Ok(Self { fields, metadata: schema.metadata })
    }

    /// The schema of batches that cross as `views` say: fields of dictionaries that arrive plain
    /// are those of their values, under the column's own name and metadata.
    ///
    /// ```
    /// use yearbook_sdk::View;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let regions = [Some("north"), Some("south"), Some("north")];
    /// let table = Table::new().dictionary("region", &regions);
    /// let batch = batches(&table, true)?.remove(0);
    /// let plain = batch.schema().as_viewed(&[View { plain: true, ..View::WHOLE }]);
    /// assert!(batch.schema().fields[0].dictionary.is_some());
    /// assert!(plain.fields[0].dictionary.is_none());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn as_viewed(&self, views: &[View]) -> Self {
        let mut schema = self.clone();
        schema.apply_views(views);
        schema
    }

    /// Makes it that of batches that cross as `views` say.
    pub(crate) fn apply_views(&mut self, views: &[View]) {
        for (field, _) in self.fields.iter_mut().zip(views).filter(|(_, view)| view.plain) {
            if let Some(values) = field.dictionary.take() {
                let values = *values;
                field.nullable |= values.nullable;
                (field.format, field.data_type) = (values.format, values.data_type);
                field.children = values.children;
            }
        }
    }

    /// The same with the distinct values of its columns.
    pub(crate) fn with_codes(mut self, codes: impl IntoIterator<Item = Option<Vec<Code>>>) -> Self {
        for (field, codes) in self.fields.iter_mut().zip(codes) {
            field.codes = codes.map(Arc::from);
        }
        self
    }

    /// The value of a metadata key.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// assert_eq!(schema.metadata("yearbook.source"), Some("Stats NZ"));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        find(&self.metadata, key)
    }

    /// Facts of where the data comes from, in the order in which formats show them: each name with
    /// its text, `None` if the dataset has none.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// let found: Vec<_> = schema.provenance().filter(|(_, text)| text.is_some()).collect();
    /// assert_eq!(found, [("source", Some("Stats NZ"))]);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn provenance(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        PROVENANCE.into_iter().map(|name| (name, self.metadata(&format!("yearbook.{name}"))))
    }

    /// Names of the columns that tell rows apart, where the host says so: to transforms, and to
    /// encoders that are told distinct values ([`crate::export_codelists!`]).
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north")])
    ///     .metadata("yearbook.primary_key", r#"["date","region"]"#);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.schema().primary_key(), Some(vec!["date", "region"]));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn primary_key(&self) -> Option<Vec<&str>> {
        // Names are snake_case, so nothing in this array of JSON is escaped.
        let names = self.metadata("yearbook.primary_key")?.split('"').skip(1).step_by(2);
        Some(names.collect())
    }

    /// Position of the column of a role, the first one if there are several.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// use yearbook_sdk::generator::Role;
    ///
    /// assert_eq!(schema.position(Role::Date), Some(0));
    /// assert_eq!(schema.position(Role::Geometry), None);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn position(&self, role: Role) -> Option<usize> {
        self.fields.iter().position(|field| field.role() == Some(role))
    }
}

fn find<'a>(metadata: &'a [(String, String)], key: &str) -> Option<&'a str> {
    metadata.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

impl Field {
    fn from_wire(
        field: wire::RawField,
        rest: &mut std::vec::IntoIter<wire::RawField>,
    ) -> Result<Self, Error> {
        let data_type = DataType::parse(&field.format).ok_or_else(|| {
            Error::UnsupportedSchema(format!(
                "column `{}` has the Arrow type `{}`, which this plugin does not know; leave the column out with `columns`",
                field.name, field.format
            ))
        })?;
        let mut next = || match rest.next() {
            Some(next) => Field::from_wire(next, rest),
            None => Err(Error::Internal(format!("field `{}` lacks a child", field.name))),
        };
        let dictionary = if field.dictionary { Some(Box::new(next()?)) } else { None };
        let children = (0..field.children).map(|_| next()).collect::<Result<_, _>>()?;
        Ok(Self {
            name: field.name,
            format: field.format,
            data_type,
            nullable: field.nullable,
            dictionary,
            children,
            metadata: field.metadata,
            codes: None,
        })
    }

    /// The value of a metadata key.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// assert_eq!(schema.fields[0].metadata("yearbook.unit"), Some("UTC"));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        find(&self.metadata, key)
    }

    /// Role of the column; `None` for columns that the host adds.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// use yearbook_sdk::generator::Role;
    ///
    /// assert_eq!(schema.fields[0].role(), Some(Role::Date));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.metadata("yearbook.role").and_then(Role::parse)
    }

    /// Returns whether it holds text that is always a date `YYYY-MM-DD`.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// assert!(schema.fields[0].is_date());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn is_date(&self) -> bool {
        self.metadata("yearbook.type") == Some("date")
    }

    /// Unit of the values, where it is known.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// assert_eq!(schema.fields[0].unit(), Some("UTC"));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.metadata("yearbook.unit")
    }

    /// The type of the values: of the dictionary where there is one.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("day", &[Some("2026-01-31")])
    ///     .about("day", "yearbook.role", "date")
    ///     .about("day", "yearbook.type", "date")
    ///     .about("day", "yearbook.unit", "UTC")
    ///     .metadata("yearbook.source", "Stats NZ");
    /// let schema = batches(&table, false)?.remove(0).schema().clone();
    /// use yearbook_sdk::DataType;
    ///
    /// assert_eq!(schema.fields[0].value_type(), &DataType::Utf8);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn value_type(&self) -> &DataType {
        self.dictionary.as_ref().map_or(&self.data_type, |values| &values.data_type)
    }
}
