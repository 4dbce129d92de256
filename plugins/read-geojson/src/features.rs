//! Features as they are parsed: the properties that are asked for and the geometry of the one at
//! hand, and the rows that are done.

mod events;
mod members;
mod page;
mod property;
mod reference_system;

use std::collections::{HashMap, VecDeque};

use yearbook_json_parser::JsonEvent;
use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadRefusal, RequestedType, RowBuilder,
    match_qualified_columns, snake_case,
};

use self::members::{Members, TWICE};
use self::page::PageSigns;
use self::property::{PropertyValue, add_value, check_value, property_value};
use self::reference_system::ReferenceSystem;
use crate::geometry::Coordinates;

/// Names of the column that holds the geometry.
const GEOMETRY: [&str; 2] = ["geometry_wkt", "geometry"];

/// The member of a feature that identifies it.
const ID: &str = "id";

/// Stands before a name in a source that means a property, whatever it is called.
const PROPERTY: &str = "properties.";

/// Stands before a name in a source that means a member of the feature itself.
const MEMBER: &str = "feature.";

/// Property names that are kept for messages, and for files without requests.
const NAMES: usize = 1_024;

/// A column that is asked for.
#[derive(Debug)]
struct FeatureColumn {
    request: ColumnRequest,
    content: Content,
    /// Set once a feature had it.
    found: bool,
    /// The property that it is.
    property: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Property,
    Id,
    Geometry,
}

impl Content {
    /// The content that a request names; a property of that name goes before an id.
    fn named_by(request: &ColumnRequest) -> Self {
        let name = request.source.as_deref().unwrap_or(&request.name);
        match name.strip_prefix(MEMBER).unwrap_or(name) {
            name if GEOMETRY.contains(&name) => Self::Geometry,
            ID => Self::Id,
            _ => Self::Property,
        }
    }
}

/// A file's features.
#[derive(Debug)]
pub(crate) struct Features {
    /// None until the first feature tells, where nothing is asked for.
    columns: Option<Vec<FeatureColumn>>,
    /// Columns by the name of their property, as far as names were looked up.
    by_name: HashMap<String, Vec<usize>>,
    /// Names of properties, in the order of their first occurrence.
    names: Vec<String>,
    short_way: bool,
    is_collection: bool,
    reference_system: ReferenceSystem,
    page_signs: PageSigns,
    /// Features so far.
    count: u64,
    /// Values of the feature at hand, a place a column; every property where nothing is asked for.
    values: Vec<Option<PropertyValue>>,
    /// Set for each column whose property the feature at hand has, null or not.
    seen: Vec<bool>,
    /// Members so far of those that a file, a feature or a geometry has once.
    members: Members,
    first: Vec<(String, Option<PropertyValue>)>,
    id: Option<PropertyValue>,
    geometry: Option<Coordinates>,
    rows: VecDeque<Vec<Option<PropertyValue>>>,
}

impl Features {
    pub(crate) fn new(requests: &[ColumnRequest], short_way: bool) -> Self {
        let column = |request: &ColumnRequest| {
            let content = Content::named_by(request);
            let found = content == Content::Geometry;
            FeatureColumn { request: request.clone(), content, found, property: None }
        };
        let columns = (!requests.is_empty()).then(|| requests.iter().map(column).collect());
        Self {
            values: vec![None; requests.len()],
            seen: vec![false; requests.len()],
            members: Members::default(),
            columns,
            by_name: HashMap::new(),
            names: Vec::new(),
            short_way,
            is_collection: false,
            reference_system: ReferenceSystem::default(),
            page_signs: PageSigns::default(),
            count: 0,
            first: Vec::new(),
            id: None,
            geometry: None,
            rows: VecDeque::new(),
        }
    }

    /// The columns, as soon as they are known.
    pub(crate) fn columns(&self) -> Option<Vec<ReadColumn>> {
        let about = |column: &FeatureColumn| ReadColumn {
            name: column.request.name.clone(),
            read_type: column.request.requested_type.into(),
            role: match column.content {
                Content::Geometry => Some(Role::Geometry),
                Content::Id => Some(Role::Key),
                Content::Property => None,
            },
            unit: None,
            description: None,
        };
        Some(self.columns.as_ref()?.iter().map(about).collect())
    }

    /// Adds the rows that are done.
    pub(crate) fn add_rows(&mut self, rows: &mut RowBuilder) {
        let Some(columns) = &self.columns else { return };
        while !rows.is_full() {
            let Some(row) = self.rows.pop_front() else { return };
            for (at, (value, column)) in row.iter().zip(columns).enumerate() {
                // Values are checked as they are parsed.
                if add_value(rows, at, column.request.requested_type, value.as_ref()).is_err() {
                    rows.null(at);
                }
            }
            rows.end_row();
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Fails where it is no collection, or a column was in no feature.
    pub(crate) fn finish(&mut self) -> Result<(), ReadRefusal> {
        if !self.is_collection {
            return Err(ReadRefusal::malformed(
                FilePlace::path("$.type"),
                "is missing; a file of GeoJSON that is a table has \"type\": \"FeatureCollection\"",
            ));
        }
        if let Some((path, why)) = self.page_signs.missing(self.count) {
            return Err(ReadRefusal::unsupported(FilePlace::path(path), why));
        }
        let columns = self.columns.get_or_insert_default();
        let Some(missing) = columns.iter().find(|column| !column.found) else { return Ok(()) };
        if self.names.is_empty() && missing.content == Content::Property {
            return Err(ReadRefusal::unsupported(
                FilePlace::path(&missing.request.name),
                "the file has no features with properties",
            ));
        }
        let mut names = self.names.clone();
        names.extend(GEOMETRY.map(str::to_owned));
        let qualify = |position: usize| {
            let kind = if position < self.names.len() { PROPERTY } else { MEMBER };
            format!("{kind}{}", names[position])
        };
        // A name that only a letter tells from others is not found in the first place.
        match match_qualified_columns(&names, qualify, std::slice::from_ref(&missing.request)) {
            Err(refusal) => Err(refusal),
            Ok(_) => Err(ReadRefusal::unsupported(
                FilePlace::path(&missing.request.name),
                "no feature of the file has it",
            )),
        }
    }

    /// Columns of a property, which are looked up once a name.
    fn columns_of(&mut self, name: &str) -> Result<Vec<usize>, String> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for (at, column) in self.columns.iter_mut().flatten().enumerate() {
            let ColumnRequest { source, name: own, .. } = &column.request;
            let fits = match source {
                Some(source) => {
                    source == name || source.strip_prefix(PROPERTY).is_some_and(|own| own == name)
                }
                None => own == name || *own == snake_case(name),
            };
            if column.content == Content::Geometry || !fits {
                continue;
            }
            if let Some(first) = column.property.as_ref().filter(|first| *first != name) {
                return Err(format!(
                    "is a second property for the column {own}, which has {first}; name the one that is meant in \
                     `yearbook.source_columns`"
                ));
            }
            if column.content == Content::Id && column.found {
                return Err(format!("is a second meaning of the column {own}; {}", advise(name)));
            }
            // A property goes before the member of that name.
            column.content = Content::Property;
            column.found = true;
            column.property = Some(name.to_owned());
            found.push(at);
        }
        if self.names.len() < NAMES {
            self.names.push(name.to_owned());
            self.by_name.insert(name.to_owned(), found.clone());
        }
        Ok(found)
    }

    fn add_property(&mut self, name: &str, event: JsonEvent<'_>) -> Result<(), String> {
        let value = property_value(event);
        if self.columns.is_none() {
            if self.first.len() == NAMES {
                return Err(format!(
                    "is one of more than {NAMES} properties; ask for those that you need"
                ));
            }
            if self.first.iter().any(|(other, _)| other == name) {
                return Err(TWICE.to_owned());
            }
            self.first.push((name.to_owned(), value.unwrap_or_default()));
            return Ok(());
        }
        let columns = self.columns_of(name)?;
        for at in columns {
            if std::mem::replace(&mut self.seen[at], true) {
                return Err(TWICE.to_owned());
            }
            let Ok(value) = &value else {
                return Err(
                    "is an array or an object; a column holds plain values, so leave it out"
                        .to_owned(),
                );
            };
            let requested = self.columns.as_ref().map(|columns| columns[at].request.requested_type);
            check_value(requested.unwrap_or(RequestedType::Text), value.as_ref())?;
            self.values[at].clone_from(value);
        }
        Ok(())
    }

    fn end_feature(&mut self) -> Result<(), String> {
        if self.columns.is_none() {
            self.name_columns();
        }
        let mut row = std::mem::take(&mut self.values);
        let geometry = self.geometry.take().map(|geometry| {
            geometry.read().and_then(|geometry| geometry.within_180(self.short_way))
        });
        let geometry = geometry.transpose().map_err(|why| format!("the geometry {why}"))?;
        let wkt = geometry.map(|geometry| geometry.to_wkt());
        let cells = row.iter_mut().zip(&self.seen);
        for ((value, seen), column) in cells.zip(self.columns.iter_mut().flatten()) {
            match column.content {
                Content::Property => {
                    let had_id = !seen && self.id.is_some();
                    if had_id && Content::named_by(&column.request) == Content::Id {
                        let name = column.property.as_deref().unwrap_or(ID);
                        return Err(format!(
                            "has an id and no property {name} for the column {}; {}",
                            column.request.name,
                            advise(name)
                        ));
                    }
                }
                Content::Id => {
                    check_value(column.request.requested_type, self.id.as_ref())?;
                    column.found = column.found || self.id.is_some();
                    value.clone_from(&self.id);
                }
                Content::Geometry => *value = wkt.clone().map(PropertyValue::Text),
            }
        }
        self.values = vec![None; row.len()];
        self.seen.fill(false);
        self.rows.push_back(row);
        self.count += 1;
        self.id = None;
        Ok(())
    }

    /// Takes the columns of the first feature: its properties as text, its id and its geometry.
    fn name_columns(&mut self) {
        let first = std::mem::take(&mut self.first);
        let mut columns: Vec<FeatureColumn> = Vec::new();
        let mut add = |name: &str, content| {
            let request = ColumnRequest {
                name: name.to_owned(),
                source: Some(name.to_owned()),
                requested_type: RequestedType::Text,
            };
            columns.push(FeatureColumn { request, content, found: true, property: None });
        };
        for (name, _) in &first {
            add(name, Content::Property);
        }
        if self.id.is_some() && first.iter().all(|(name, _)| name != ID) {
            add(ID, Content::Id);
        }
        // A property may have one of the names.
        let is_free = |name: &&str| first.iter().all(|(other, _)| other != name);
        if let Some(name) = GEOMETRY.iter().rev().copied().find(is_free) {
            add(name, Content::Geometry);
        }
        self.values = vec![None; columns.len()];
        self.seen = vec![false; columns.len()];
        for (name, value) in first {
            let at = columns.iter().position(|column| column.request.name == name);
            if let Some(at) = at {
                self.by_name.insert(name, vec![at]);
                self.values[at] = value;
                self.seen[at] = true;
            }
        }
        self.columns = Some(columns);
    }
}

/// Advice where a column is the id of some features and a property of others.
fn advise(property: &str) -> String {
    format!(
        "write {PROPERTY}{property} or {MEMBER}{ID} in `yearbook.source_columns`, whichever is meant in all features"
    )
}
