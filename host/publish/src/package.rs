//! A Frictionless Data Package as contract-7-descriptor takes it: one descriptor, one table.
//! Parsing it is pure but for looking at the folder; nothing here reads rows, writes, or knows the
//! store.

mod columns;
mod credit;
mod extension;
pub(crate) mod file;
mod keywords;
mod licence;
mod meaning;
mod node;
mod notes;
mod planned_releases;
mod reader_source;
mod repeated_members;
mod resource;
mod source;
mod table_schema;
mod text_rules;

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use yearbook_domain::meaning::DatasetMeaning;
use yearbook_domain::{Cadence, Column, Credit, DatasetName, Namespace, TableLayout};

use crate::PublishError;
use crate::format_reader::FormatReader;
use crate::loss::MaxLoss;
use crate::wide_text::is_wide_text;
use extension::YearbookExtension;
pub(crate) use meaning::{LabelSource, PackageLabels};
use node::{DescriptorNode, DescriptorProblems};

pub(crate) use reader_source::ReaderSource;
pub(crate) use resource::InputFormat;
use resource::{PackageResource, ResourcePlace};
pub use source::{RemotePackage, SourcePackage, SourceTable};
pub(crate) use text_rules::find_label_fault;
pub use text_rules::parse_title;

/// Largest descriptor read, in bytes: thousands of described columns fit.
const MAX_DESCRIPTOR_BYTES: u64 = 16 << 20;

/// Name of a descriptor in its folder (Data Package, "Descriptor").
const DESCRIPTOR: &str = "datapackage.json";

/// A descriptor, parsed and found right in itself. Whether the table keeps to it is found out by
/// publishing.
#[derive(Clone, Debug)]
pub struct DataPackage {
    /// The file, or the address that `downloaded` came from.
    pub(crate) data: PathBuf,
    /// The rows, where `data` is an address.
    downloaded: Option<Arc<File>>,
    /// Bytes of the table at most, without its compression.
    pub(crate) max_table_bytes: u64,
    /// Largest fall against the current snapshot; `None` for any.
    pub(crate) max_loss: Option<MaxLoss>,
    pub(crate) format: InputFormat,
    /// Set where the format is none of those that publishing knows.
    pub(crate) reader_source: Option<ReaderSource>,
    pub(crate) name: DatasetName,
    pub(crate) namespace: Namespace,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) credit: Credit,
    pub(crate) refresh_cadence: Option<Cadence>,
    pub(crate) bulk_redistribution: bool,
    /// `few_values` is not known yet.
    pub(crate) columns: Vec<Column>,
    pub(crate) primary_key: Vec<String>,
    pub(crate) dimensions: Vec<String>,
    pub(crate) proportions: Vec<String>,
    pub(crate) date_column: Option<String>,
    pub(crate) layout: TableLayout,
    pub(crate) labels: PackageLabels,
    pub(crate) meaning: DatasetMeaning,
    /// Set where it is released at the end of an embargo.
    pub(crate) ends_embargo: bool,
}

impl DataPackage {
    /// Reads the descriptor at `path`; for a folder, its `datapackage.json`.
    ///
    /// # Errors
    /// [`PublishError::Io`] when it cannot be read, is no regular file, leads out of its folder or
    /// is larger than 16 MiB, [`PublishError::Descriptor`] with every problem found.
    pub fn open(path: &Path) -> Result<Self, PublishError> {
        let descriptor = DescriptorFile::read(path)?;
        let (package, _) = descriptor.parse(resource::AddressHandling::Refused)?;
        // Somebody looks at what is published by hand.
        Ok(Self { max_loss: None, ..package })
    }

    /// The dataset's address.
    #[must_use]
    pub fn name(&self) -> &DatasetName {
        &self.name
    }

    /// Its grouping.
    #[must_use]
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The file that holds the rows, or the address that they came from.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The format that a reader has to be brought for, as `resources[0].format` names it; `None`
    /// for CSV, Parquet and Arrow, and where it has been brought.
    #[must_use]
    pub fn missing_reader(&self) -> Option<&str> {
        let source = self.reader_source.as_ref()?;
        source.reader.is_none().then_some(source.format.as_str())
    }

    /// The package for a release at an instant, which ends the embargo of its values.
    #[must_use]
    pub fn with_embargo(self) -> Self {
        Self { ends_embargo: true, ..self }
    }

    /// The package with the reader of its format.
    #[must_use]
    pub fn with_reader(mut self, reader: Arc<dyn FormatReader>) -> Self {
        if let Some(source) = &mut self.reader_source {
            source.reader = Some(reader);
        }
        self
    }

    /// Opens the rows from their beginning. Handles of a download share one position, so one of
    /// them is read at a time.
    pub(crate) fn open_data(&self) -> std::io::Result<File> {
        match &self.downloaded {
            Some(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
            None => file::open_regular(&self.data),
        }
    }

    /// The columns in file order; `few_values` is not known before publishing.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
}

/// A descriptor that was read and not understood yet.
struct DescriptorFile {
    path: PathBuf,
    /// Its folder, which must hold the data.
    folder: PathBuf,
    text: Vec<u8>,
}

impl DescriptorFile {
    /// Reads the file that `path` names or that lies in it.
    fn read(path: &Path) -> Result<Self, PublishError> {
        let file = if path.is_dir() { path.join(DESCRIPTOR) } else { path.to_owned() };
        let io = |source| PublishError::Io { doing: "read", path: file.clone(), source };
        // A bare file name has the empty path for a parent, which is the current folder.
        let folder =
            file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        file::require_regular(&file).map_err(io)?;
        if !file::is_inside(&file, folder).map_err(io)? {
            return Err(io(std::io::Error::other(
                "it is a link out of its folder; give the path that it leads to",
            )));
        }
        let text = file::read_bounded(&file, MAX_DESCRIPTOR_BYTES).map_err(io)?;
        Ok(Self { folder: folder.to_owned(), text, path: file })
    }

    /// Understands it. With the package goes the address of its data, where it has one.
    fn parse(
        &self,
        addresses: resource::AddressHandling,
    ) -> Result<(DataPackage, Option<String>), PublishError> {
        let mut problems = DescriptorProblems::default();
        match parse(&self.text, &self.folder, addresses, &mut problems) {
            Some(package) if problems.0.is_empty() => Ok(package),
            _ => Err(PublishError::Descriptor { path: self.path.clone(), problems: problems.0 }),
        }
    }
}

fn parse(
    text: &[u8],
    folder: &Path,
    addresses: resource::AddressHandling,
    problems: &mut DescriptorProblems,
) -> Option<(DataPackage, Option<String>)> {
    if is_wide_text(text) {
        problems.add("", "is UTF-16 or UTF-32 text; save it as UTF-8");
        return None;
    }
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(why) => {
            problems.add("", format!("is not JSON: {why}"));
            return None;
        }
    };
    for place in repeated_members::find(text) {
        problems.add(place, "stands twice, and only one of them could hold; leave one out");
    }
    let root = DescriptorNode::root(&value);
    root.object(problems)?;
    let name = parse_dataset_name(&root, problems);
    let languages = meaning::parse_languages(&root, problems);
    let title = root
        .get("title")
        .and_then(|n| meaning::parse_text(&n, &languages, text_rules::line, problems));
    let description = root
        .get("description")
        .and_then(|n| meaning::parse_text(&n, &languages, text_rules::parse_prose, problems));
    let keywords = keywords::parse(&root, problems);
    let resource = parse_only_resource(&root, problems);
    let file = resource
        .as_ref()
        .and_then(|resource| resource::parse(resource, folder, addresses, problems));
    let schema = resource
        .and_then(|resource| resource.require("schema", "the columns as a Table Schema", problems))
        .and_then(|schema| table_schema::parse(&schema, &languages, problems));
    let extension = root
        .require("yearbook", "an object with at least `namespace`", problems)
        .and_then(|node| extension::parse(&node, schema.as_ref(), &languages, problems))?;
    let credit = credit::compose(
        &root,
        title.as_ref().map(|title| title.text.as_str()),
        &extension,
        problems,
    );
    let (file, schema) = (file?, schema?);
    let credit = credit?;
    let bulk_redistribution = decide_redistribution(&extension, &credit, problems)?;
    let layout = columns::infer_layout(&schema, &extension);
    let PackageResource { place, format, reader } = file;
    let columns = columns::build_columns(&schema, &extension);
    meaning::check_status(&columns, problems);
    meaning::check_labels(&extension.labels, &columns, problems);
    notes::check_notes(&extension.notes, &columns, problems);
    let reader_source = match reader {
        Some(format) => Some(extension.sources.for_format(&format, &columns)),
        None => {
            extension.sources.refuse(problems);
            None
        }
    };
    let (data, address) = match place {
        ResourcePlace::File(path) => (path, None),
        // What follows `?` may hold a key, and this is what messages name.
        ResourcePlace::Address(address) => {
            (PathBuf::from(address.split(['?', '#']).next().unwrap_or_default()), Some(address))
        }
    };
    let package = DataPackage {
        columns,
        reader_source,
        data,
        downloaded: None,
        max_table_bytes: u64::MAX,
        max_loss: extension.max_loss,
        format,
        name: name?,
        namespace: extension.namespace?,
        title: title.as_ref().map(|title| title.text.clone()),
        description: description.as_ref().map(|description| description.text.clone()),
        keywords,
        credit,
        refresh_cadence: extension.refresh_cadence,
        bulk_redistribution,
        primary_key: schema.primary_key,
        dimensions: extension.dimensions,
        proportions: extension.proportions,
        date_column: extension.date_column,
        layout,
        labels: extension.labels,
        meaning: DatasetMeaning {
            languages,
            title: title.unwrap_or_default().translations,
            description: description.unwrap_or_default().translations,
            notes: extension.notes,
            releases: extension.releases,
            no_derivatives: extension.no_derivatives,
            // Some are in the rows.
            label_words: String::new(),
        },
        ends_embargo: false,
    };
    Some((package, address))
}

/// Decides whether bulk downloads are allowed: as the descriptor says, else as the licence is known
/// to. A guess could break a licence, so there is none.
fn decide_redistribution(
    extension: &YearbookExtension,
    credit: &Credit,
    problems: &mut DescriptorProblems,
) -> Option<bool> {
    if let Some(said) = extension.bulk_redistribution {
        return Some(said);
    }
    if licence::allows_redistribution(&credit.licence) {
        return Some(true);
    }
    let why = format!(
        "is missing, and the licence {:?} is not known to allow redistribution; write true if it lets anybody pass the whole file on, false if not",
        credit.licence
    );
    problems.add("yearbook.bulk_redistribution", why);
    None
}

fn parse_dataset_name(
    root: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<DatasetName> {
    let node = root.require("name", "the dataset's snake_case name", problems)?;
    text_rules::parse_snake_case(&node, DatasetName::parse, problems)
}

fn parse_only_resource<'a>(
    root: &DescriptorNode<'a>,
    problems: &mut DescriptorProblems,
) -> Option<DescriptorNode<'a>> {
    let node = root.require("resources", "a list with one resource", problems)?;
    let mut list = node.list(problems)?;
    if list.len() != 1 {
        problems.add(
            node.at,
            format!("has {} resources; a dataset is published from exactly one", list.len()),
        );
        return None;
    }
    list.pop()
}

#[cfg(test)]
mod tests;
