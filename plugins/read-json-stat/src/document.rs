//! The members of a file of JSON-stat, gathered while it is parsed and checked by nothing but their
//! shape. Members that a table has no use for are passed over.

use std::collections::{BTreeMap, BTreeSet};

use yearbook_json_parser::{JsonEvent, JsonHandler, JsonPath};
use yearbook_sdk::reader::MissingValues;

use crate::cells::{CellValue, Cells};

/// Statuses at most: each takes some 100 bytes.
const MAX_STATUSES: usize = 1_000_000;

/// Categories of all dimensions at most.
const MAX_CATEGORIES: usize = 1_000_000;

/// Dimensions at most.
const MAX_DIMENSIONS: usize = 64;

/// Text of a category, a label or a unit at most, bytes.
const MAX_LABEL_BYTES: usize = 4_096;

/// Categories of a dimension.
#[derive(Debug, Default)]
pub(crate) struct Categories {
    /// Codes in their order, where `index` is an array.
    pub(crate) order: Vec<String>,
    /// Position by code, where `index` is an object.
    pub(crate) positions: Vec<(String, u64)>,
    /// Code and label, in the order of the file.
    pub(crate) labels: Vec<(String, String)>,
    /// Unit by code, as far as the file says it: its base, label and symbol.
    pub(crate) units: BTreeMap<String, [Option<String>; 3]>,
}

/// A dimension as far as the file tells it.
#[derive(Debug, Default)]
pub(crate) struct DimensionEntry {
    pub(crate) label: Option<String>,
    pub(crate) categories: Categories,
}

/// The parts of a file that a table is made of.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) ids: Vec<String>,
    pub(crate) sizes: Vec<u64>,
    pub(crate) time: Vec<String>,
    pub(crate) geo: Vec<String>,
    pub(crate) metric: Vec<String>,
    pub(crate) dimensions: BTreeMap<String, DimensionEntry>,
    pub(crate) cells: Cells,
    /// Statuses by position.
    pub(crate) statuses: BTreeMap<u64, String>,
    /// Number of entries, where the statuses are an array.
    pub(crate) status_entries: Option<u64>,
    /// The status of every cell.
    pub(crate) common_status: Option<String>,
    /// A member of the root that JSON-stat before 2.0 has.
    pub(crate) old: bool,
    missing_values: MissingValues,
    categories: usize,
    /// Members that a file has once, by their names from the root.
    members: BTreeSet<Vec<String>>,
}

impl JsonHandler for Document {
    fn event(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        if !matches!(event, JsonEvent::EndArray | JsonEvent::EndObject) {
            self.add_member(path)?;
        }
        match (path.depth(), path.name(0)) {
            (0, _) if !matches!(event, JsonEvent::BeginObject | JsonEvent::EndObject) => {
                Err("a file of JSON-stat is an object".to_owned())
            }
            (1, Some("version")) => set(&mut self.version, event),
            (1, Some("class")) => set(&mut self.class, event),
            (1, Some("dataset")) => {
                self.old = true;
                Ok(())
            }
            (2, Some("id")) => add_name(&mut self.ids, MAX_DIMENSIONS, event),
            (2, Some("size")) => self.add_size(event),
            (3, Some("role")) => match path.name(1) {
                Some("time") => add_name(&mut self.time, MAX_DIMENSIONS, event),
                Some("geo") => add_name(&mut self.geo, MAX_DIMENSIONS, event),
                Some("metric") => add_name(&mut self.metric, MAX_DIMENSIONS, event),
                _ => Ok(()),
            },
            (3.., Some("dimension")) => self.add_dimension(event, path),
            (1.., Some("value")) => self.add_value(event, path),
            (1.., Some("status")) => self.add_status(event, path),
            _ => Ok(()),
        }
    }
}

impl Document {
    /// Of a file in which these texts stand for a missing value.
    pub(crate) fn new(missing_values: MissingValues) -> Self {
        Self { missing_values, ..Self::default() }
    }

    /// Returns whether the statuses are there, if only as nulls or as none.
    pub(crate) fn has_status(&self) -> bool {
        self.members.contains(["status".to_owned()].as_slice())
    }

    /// Refuses a member that is there twice: of two values of one name nobody knows which counts.
    fn add_member(&mut self, path: JsonPath<'_>) -> Result<(), String> {
        let name = |depth| path.name(depth);
        let once = match (path.depth(), name(0)) {
            (1, Some("version" | "class" | "id" | "size" | "role")) => true,
            (1, Some("dimension" | "value" | "status")) => true,
            (2, Some("role" | "dimension")) => true,
            (3, Some("dimension")) => matches!(name(2), Some("label" | "category")),
            (4, Some("dimension")) => {
                name(2) == Some("category") && matches!(name(3), Some("index" | "label" | "unit"))
            }
            _ => false,
        };
        if !once {
            return Ok(());
        }
        let names = (0..path.depth()).filter_map(name);
        names.clone().try_for_each(short)?;
        let member = names.map(str::to_owned).collect();
        if !self.members.insert(member) {
            return Err("is there twice".to_owned());
        }
        bounded(self.members.len(), 10 * MAX_DIMENSIONS, "members")
    }

    fn add_size(&mut self, event: JsonEvent<'_>) -> Result<(), String> {
        let size = match event {
            JsonEvent::Number(text) => text.parse::<u64>().ok(),
            _ => None,
        };
        self.sizes.push(size.ok_or("is no number of categories; write a whole number")?);
        bounded(self.sizes.len(), MAX_DIMENSIONS, "dimensions")
    }

    fn add_dimension(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        let Some(id) = path.name(1) else { return Ok(()) };
        if !self.dimensions.contains_key(id) {
            bounded(self.dimensions.len() + 1, MAX_DIMENSIONS, "dimensions")?;
            short(id)?;
            self.dimensions.insert(id.to_owned(), DimensionEntry::default());
        }
        let Some(dimension) = self.dimensions.get_mut(id) else { return Ok(()) };
        let Categories { order, positions, labels, units } = &mut dimension.categories;
        let code = || {
            let code = path.name(4).unwrap_or_default();
            short(code).map(|()| code.to_owned())
        };
        match (path.depth(), path.name(2), path.name(3)) {
            (3, Some("label"), _) => return set(&mut dimension.label, event),
            (5, Some("category"), Some("index")) if path.position(4).is_some() => {
                add_name(order, MAX_CATEGORIES, event)?;
            }
            (5, Some("category"), Some("index")) => {
                let position = match event {
                    JsonEvent::Number(text) => text.parse::<u64>().ok(),
                    _ => None,
                };
                let position = position.ok_or("is no position; write a whole number from 0")?;
                positions.push((code()?, position));
            }
            (5, Some("category"), Some("label")) => {
                if let JsonEvent::Text(text) = event {
                    short(text)?;
                    labels.push((code()?, text.to_owned()));
                }
            }
            (6, Some("category"), Some("unit")) => {
                let which = ["base", "label", "symbol"];
                let which = which.iter().position(|name| path.name(5) == Some(name));
                if let (JsonEvent::Text(text), Some(which)) = (event, which) {
                    short(text)?;
                    let unit = &mut units.entry(code()?).or_default()[which];
                    if unit.replace(text.to_owned()).is_some() {
                        return Err("is there twice".to_owned());
                    }
                }
            }
            _ => return Ok(()),
        }
        self.categories += 1;
        bounded(self.categories, 4 * MAX_CATEGORIES, "categories")
    }

    fn add_value(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        if path.depth() == 1 {
            match event {
                JsonEvent::BeginArray => self.cells = Cells::dense(),
                JsonEvent::BeginObject => self.cells = Cells::sparse(),
                JsonEvent::EndArray | JsonEvent::EndObject => {}
                _ => return Err("is neither an array nor an object".to_owned()),
            }
            return Ok(());
        }
        let value = match event {
            JsonEvent::Null => CellValue::Missing,
            JsonEvent::Number(text) | JsonEvent::Text(text)
                if self.missing_values.contains(text) =>
            {
                CellValue::Missing
            }
            JsonEvent::Number(text) => CellValue::Number(text),
            JsonEvent::Text(text) => CellValue::Text(text),
            _ => return Err("is no value; write a number, a text or null".to_owned()),
        };
        self.cells.push(position(path)?, value)
    }

    fn add_status(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        let entry = match (path.depth(), event) {
            (1, JsonEvent::BeginArray) => {
                self.status_entries = Some(0);
                return Ok(());
            }
            (1, JsonEvent::BeginObject | JsonEvent::EndArray | JsonEvent::EndObject) => {
                return Ok(());
            }
            (_, JsonEvent::Null) => None,
            (_, JsonEvent::Text(text) | JsonEvent::Number(text)) => Some(text),
            _ => return Err("is no status; write a text or null".to_owned()),
        };
        if let Some(text) = entry {
            short(text)?;
        }
        let text = entry.map(str::to_owned);
        if path.depth() == 1 {
            self.common_status = text;
            return Ok(());
        }
        let cell = position(path)?;
        self.status_entries = self.status_entries.map(|entries| entries + 1);
        if text.is_some_and(|text| self.statuses.insert(cell, text).is_some()) {
            return Err("is there twice".to_owned());
        }
        bounded(self.statuses.len(), MAX_STATUSES, "statuses")
    }
}

/// The position of a cell: its place in an array, or its name in an object.
fn position(path: JsonPath<'_>) -> Result<u64, String> {
    if let Some(position) = path.position(1) {
        return Ok(position);
    }
    let name = path.name(1).unwrap_or_default();
    let good = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse()
        .ok()
        .filter(|_| good)
        .ok_or_else(|| "is under a name that is no position of a cell".to_owned())
}

fn set(to: &mut Option<String>, event: JsonEvent<'_>) -> Result<(), String> {
    if let JsonEvent::Text(text) = event {
        short(text)?;
        *to = Some(text.to_owned());
    }
    Ok(())
}

fn add_name(names: &mut Vec<String>, most: usize, event: JsonEvent<'_>) -> Result<(), String> {
    let JsonEvent::Text(text) = event else {
        return Err("is no text; write an id in quotes".to_owned());
    };
    short(text)?;
    names.push(text.to_owned());
    bounded(names.len(), most, "entries")
}

pub(crate) fn short(text: &str) -> Result<(), String> {
    if text.len() <= MAX_LABEL_BYTES {
        return Ok(());
    }
    Err(format!("is a text of more than {MAX_LABEL_BYTES} bytes"))
}

pub(crate) fn bounded(count: usize, most: usize, of: &str) -> Result<(), String> {
    if count <= most {
        return Ok(());
    }
    Err(format!("has more than {most} {of}; ask the source for a part of the cube"))
}
