//! The header: what the message columns are, which components there are, and which of them are
//! asked for. Checks what every row says of the message.

use yearbook_csv_records::CsvRecord;
use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{
    ColumnMatch, ColumnRequest, FilePlace, ReadColumn, ReadRefusal, RequestedType,
    match_qualified_columns,
};
use yearbook_sdmx_values::{REPORTING_YEAR, quote};

/// The component that is the time (SDMX 3.0, section 2).
const TIME: &str = "TIME_PERIOD";

/// The component that is the observation.
const VALUE: &str = "OBS_VALUE";

/// The day of the message, which Eurostat puts before the dimensions.
const LAST_UPDATE: &str = "LAST UPDATE";

/// Separator of a code from its label, where an agency sends both.
const LABEL: &str = ": ";

/// Name of a column of labels, behind that of its component.
const LABEL_SUFFIX: &str = " label";

/// Mark behind the id of a component that has several values (SDMX-CSV 2.0).
const MANY: &str = "[]";

/// A component that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    /// Name that was asked for.
    pub(crate) name: String,
    /// Position in a record.
    pub(crate) position: usize,
    /// Type of its values.
    pub(crate) requested_type: RequestedType,
    /// Set where its values are ids.
    pub(crate) is_escaped: bool,
    part: Part,
    has_many: bool,
    role: Role,
    description: Option<String>,
    /// The column as the header spells it.
    spelling: String,
}

/// The part of a field that is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Code,
    Label,
}

/// A component of the file, or the labels of one.
struct FileComponent {
    name: String,
    position: usize,
    part: Part,
    /// Set where a field has several values.
    has_many: bool,
    role: Role,
    title: Option<String>,
    spelling: String,
}

/// The header, read.
#[derive(Debug)]
pub(crate) struct Header {
    width: usize,
    structure: Option<usize>,
    action: Option<usize>,
    /// Position of the day on which reporting years begin.
    reporting_year: Option<usize>,
    /// Position of the first component.
    first: usize,
    requested: Vec<Component>,
}

impl Header {
    /// Reads the first record. `escaped` names components whose values are ids.
    ///
    /// # Errors
    /// [`ReadRefusal`], where it is no header of SDMX-CSV or lacks what is asked for.
    pub(crate) fn read(
        record: &CsvRecord<'_>,
        requests: &[ColumnRequest],
        escaped: &[String],
    ) -> Result<Self, ReadRefusal> {
        let names = names(record)?;
        let first_name = names.first().map_or("", |name| id_of(name));
        // Version 2 may name what separates the values of one field: `STRUCTURE[;]`.
        let version_2 = first_name.split('[').next() == Some("STRUCTURE");
        if !version_2 && first_name != "DATAFLOW" {
            return Err(ReadRefusal::malformed(
                FilePlace::line(record.line(), ""),
                format!(
                    "the first column is {}; SDMX-CSV begins with STRUCTURE (version 2) or DATAFLOW (version 1)",
                    quote(names.first().map_or("", String::as_str))
                ),
            ));
        }
        let find = |id: &str| names.iter().position(|name| id_of(name) == id);
        let structure = if version_2 { find("STRUCTURE_ID") } else { Some(0) };
        if structure.is_none() {
            return Err(ReadRefusal::malformed(
                FilePlace::line(record.line(), "STRUCTURE_ID"),
                "is missing; it stands behind STRUCTURE",
            ));
        }
        let action = if version_2 { find("ACTION") } else { None };
        let reporting_year = find(REPORTING_YEAR);
        let message = |name: &str| {
            version_2
                && ["STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY"]
                    .contains(&id_of(name))
        };
        let first = (1..names.len()).find(|at| !message(&names[*at])).unwrap_or(names.len());
        let mut components = components(&names, first);
        if requests.is_empty() {
            // Codes and labels are all that the file has; ids have no colon.
            components.retain(|component| !component.name.contains(':'));
        }
        let labels: Vec<&str> =
            components.iter().map(|component| component.name.as_str()).collect();
        // With `labels=name` the name of one component may be the id of another.
        let qualify = |at: usize| {
            let FileComponent { name, position, .. } = &components[at];
            format!("{name} (column {})", position + 1)
        };
        let found = match_qualified_columns(&labels, qualify, requests)
            .map_err(|refusal| on_line(refusal, record))?;
        if let Some(name) = escaped.iter().find(|name| !labels.contains(&name.as_str())) {
            return Err(ReadRefusal::unsupported(
                FilePlace::line(record.line(), name),
                "stands in the option `escaped` and is no component of the file; take it out",
            ));
        }
        let is_escaped =
            |file: &FileComponent| file.part != Part::Label && escaped.contains(&file.name);
        let component = |found: ColumnMatch| {
            let file = &components[found.position];
            Component::new(file, found, is_escaped(file))
        };
        let requested = found.into_iter().map(component).collect();
        Ok(Self { width: names.len(), structure, action, reporting_year, first, requested })
    }

    /// The columns that the reader gives.
    pub(crate) fn columns(&self) -> Vec<ReadColumn> {
        let column = |component: &Component| ReadColumn {
            name: component.name.clone(),
            read_type: component.requested_type.into(),
            role: Some(component.role),
            unit: None,
            description: component.description.clone(),
        };
        self.requested.iter().map(column).collect()
    }

    /// The components that are asked for.
    pub(crate) fn requested(&self) -> &[Component] {
        &self.requested
    }

    /// The day on which a record's reporting years begin; empty where it has none.
    pub(crate) fn reporting_year<'a>(&self, record: &CsvRecord<'a>) -> &'a str {
        let cell = self.reporting_year.and_then(|position| record.cell(position));
        // What is no text is no first of January either.
        cell.map_or("", |cell| std::str::from_utf8(cell).unwrap_or("?"))
    }

    /// Refuses a record that has another number of fields than the header.
    pub(crate) fn check_width(&self, record: &CsvRecord<'_>) -> Result<(), ReadRefusal> {
        if record.len() == self.width {
            return Ok(());
        }
        Err(ReadRefusal::malformed(
            FilePlace::line(record.line(), ""),
            format!(
                "has {} fields where the header has {}; the file may be cut off, or a delimiter not quoted",
                record.len(),
                self.width
            ),
        ))
    }

    /// Refuses a row of another structure than those before, and one that deletes.
    pub(crate) fn check_message(
        &self,
        record: &CsvRecord<'_>,
        known: &mut Option<Vec<u8>>,
    ) -> Result<(), ReadRefusal> {
        if let Some(position) = self.structure {
            let found = record.cell(position).unwrap_or_default();
            match known {
                None => *known = Some(found.to_vec()),
                Some(known) if known.as_slice() == found => {}
                Some(known) => {
                    return Err(ReadRefusal::unsupported(
                        FilePlace::line(record.line(), "STRUCTURE_ID"),
                        format!(
                            "{} follows rows of {}; split the file, a dataset has one structure",
                            quote(&String::from_utf8_lossy(found)),
                            quote(&String::from_utf8_lossy(known))
                        ),
                    ));
                }
            }
        }
        let action =
            self.action.map_or(&b"I"[..], |position| record.cell(position).unwrap_or_default());
        match action {
            b"" | b"I" | b"A" | b"M" | b"R" => Ok(()),
            b"D" => Err(ReadRefusal::unsupported(
                FilePlace::line(record.line(), "ACTION"),
                "deletes observations; publish the whole of the data, not what changed since an earlier message",
            )),
            other => Err(ReadRefusal::malformed(
                FilePlace::line(record.line(), "ACTION"),
                format!("{} is none of I, A, M, R and D", quote(&String::from_utf8_lossy(other))),
            )),
        }
    }

    /// True for the row without any component that some agencies send where nothing matches.
    pub(crate) fn is_empty_match(&self, record: &CsvRecord<'_>) -> bool {
        (self.first..self.width)
            .all(|position| record.cell(position).unwrap_or_default().is_empty())
    }
}

impl Component {
    fn new(file: &FileComponent, found: ColumnMatch, is_escaped: bool) -> Self {
        let ColumnMatch { name, requested_type, .. } = found;
        Self {
            name,
            position: file.position,
            requested_type,
            is_escaped,
            part: file.part,
            has_many: file.has_many,
            role: file.role,
            description: file.title.clone(),
            spelling: file.spelling.clone(),
        }
    }

    /// The value in a field's text. `None` where it has no label.
    ///
    /// # Errors
    /// A sentence, where the text is not one code with its label: of components without a codelist
    /// agencies send plain text, and of some several values.
    pub(crate) fn part_of<'a>(&self, text: &'a str) -> Result<Option<&'a str>, String> {
        if self.part == Part::Whole {
            return Ok(Some(text));
        }
        let Some((code, label)) = text.split_once(LABEL) else {
            let code = text.trim_end_matches(':');
            let code = if code.is_empty() || is_id(code) { code } else { text };
            return Ok((self.part == Part::Code).then_some(code));
        };
        let is_empty = code.is_empty() && label.is_empty();
        if self.has_many || !(is_id(code) || is_empty) {
            return Err(format!(
                "is not one code with its label; name the whole column in `yearbook.source_columns`: {}",
                self.spelling
            ));
        }
        Ok(Some(if self.part == Part::Code { code } else { label }))
    }
}

/// Returns whether a code may be written so (IDType of SDMX 3.0).
fn is_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"@_-$".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

/// The header's fields as text.
fn names(record: &CsvRecord<'_>) -> Result<Vec<String>, ReadRefusal> {
    let name = |position: usize| {
        let text = String::from_utf8(record.cell(position).unwrap_or_default().to_vec());
        text.map_err(|_| {
            ReadRefusal::malformed(
                FilePlace::line(record.line(), format!("field {}", position + 1)),
                "is not UTF-8; convert the file",
            )
        })
    };
    (0..record.len()).map(name).collect()
}

/// The id in `FREQ`, `FREQ:Frequency`, `FREQ: Frequency` and `CONTACT[]`.
fn id_of(name: &str) -> &str {
    let id = name.split(':').next().unwrap_or_default().trim();
    id.strip_suffix(MANY).unwrap_or(id)
}

/// The components, and behind each that has labels its labels, and both as they stand under the
/// whole name of the header.
fn components(names: &[String], first: usize) -> Vec<FileComponent> {
    let time = names.iter().position(|name| id_of(name) == TIME);
    let mut components = Vec::new();
    for (position, spelling) in names.iter().enumerate().skip(first) {
        let id = id_of(spelling);
        let titled = spelling.split_once(':');
        let title = titled.map(|(_, title)| title.trim().to_owned());
        let has_many = titled.is_some_and(|(id, _)| id.trim().ends_with(MANY));
        let role = match id {
            TIME => Role::Period,
            VALUE => Role::Value,
            LAST_UPDATE => Role::Attribute,
            // Dimensions stand before the time, attributes behind the observation.
            _ if time.is_some_and(|time| position < time) => Role::Dimension,
            _ => Role::Attribute,
        };
        // Time and observations have no labels (SDMX-CSV 2.0, "labels").
        let labelled = title.is_some() && !matches!(id, TIME | VALUE);
        let component = |name: String, part, role, title| FileComponent {
            name,
            position,
            part,
            has_many,
            role,
            title,
            spelling: spelling.clone(),
        };
        if !labelled {
            components.push(component(id.to_owned(), Part::Whole, role, title));
            continue;
        }
        let label = format!("{id}{LABEL_SUFFIX}");
        components.push(component(id.to_owned(), Part::Code, role, title.clone()));
        components.push(component(label, Part::Label, Role::Attribute, None));
        components.push(component(spelling.clone(), Part::Whole, role, title));
    }
    components
}

/// The refusal with the header's line.
fn on_line(refusal: ReadRefusal, record: &CsvRecord<'_>) -> ReadRefusal {
    match refusal {
        ReadRefusal::Unsupported(mut fault) => {
            fault.place.line = Some(record.line());
            ReadRefusal::Unsupported(fault)
        }
        other => other,
    }
}
