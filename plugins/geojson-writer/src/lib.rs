//! Features of GeoJSON (RFC 7946), one a row: the geometry comes from the column whose role that
//! is; the other columns are properties, with the values that `json` has. Long text among them
//! stays with the host; a geometry cannot, since brackets come to stand around every position.

use yearbook_sdk::batch::Recoder;
use yearbook_sdk::generator::Role;
use yearbook_sdk::text::{Rows, first_byte, json};
use yearbook_sdk::{Batch, Column, Error, Output, Schema, Values, View};

mod id;
mod transcode;

pub use id::id_parts;
pub use transcode::WktToGeoJson;

/// Writes the features of one response.
pub struct FeatureWriter {
    geometry: usize,
    recoder: Recoder<()>,
    transcoder: WktToGeoJson,
    /// None where there is no other column.
    properties: Option<Rows<json::Json>>,
    lines: Output,
    /// Position among the columns besides the geometry of those that make the id.
    ids: Vec<usize>,
    /// The same of the column that is an id alone, and no property.
    hidden: Option<usize>,
    is_bare: bool,
}

impl FeatureWriter {
    /// A writer of features without an id.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] for a table without geometry, or with a column that JSON cannot
    /// carry.
    pub fn new(schema: Schema) -> Result<Self, Error> {
        Self::with_id(schema, &[], None)
    }

    /// A writer of features whose id the columns `ids` make. `hidden`: the one of them that is no
    /// property.
    ///
    /// # Errors
    /// As [`FeatureWriter::new`], and [`Error::InvalidOption`] for a column that is not there.
    pub fn with_id(schema: Schema, ids: &[&str], hidden: Option<&str>) -> Result<Self, Error> {
        let Some(geometry) = schema.position(Role::Geometry) else {
            return Err(Error::UnsupportedSchema(
                "there is no geometry among the columns asked for, which GeoJSON needs; leave out `geometry=false`, add the geometry to `columns`, \
                 or take `format=json` where the dataset has none"
                    .to_owned(),
            ));
        };
        let mut others = schema.fields.clone();
        others.remove(geometry);
        let position = |name: &str| others.iter().position(|field| field.name == name);
        let missing = |name| Error::InvalidOption(format!("there is no column `{name}` for ids"));
        let ids = ids.iter().map(|name| position(name).ok_or_else(|| missing(name)));
        let ids = ids.collect::<Result<Vec<usize>, Error>>()?;
        let hidden = hidden.and_then(position).filter(|at| ids.contains(at));
        hidden.inspect(|at| drop(others.remove(*at)));
        let properties =
            if others.is_empty() { None } else { Some(json::objects(&others, b"}\n")?) };
        Ok(Self {
            geometry,
            recoder: Recoder::new(schema, geometry),
            transcoder: WktToGeoJson::default(),
            properties,
            lines: Output::default(),
            ids,
            hidden,
            is_bare: false,
        })
    }

    /// The same without the braces of each feature: its members behind a comma, to stand in an
    /// object that has others.
    #[must_use]
    pub fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// The views of the columns, for [`yearbook_sdk::Encoder::views`].
    #[must_use]
    pub fn views(&self) -> Vec<View> {
        let mut views = self.properties.as_ref().map_or_else(Vec::new, Rows::views);
        if let Some(hidden) = self.hidden {
            views.insert(hidden, View::WHOLE);
        }
        for at in &self.ids {
            views[*at] = View::WHOLE;
        }
        views.insert(self.geometry, View::WHOLE);
        views
    }

    /// Writes the features of a batch with commas between them.
    ///
    /// # Errors
    /// [`Error::Internal`] for a geometry that is no WKT, which the interface promises.
    pub fn write(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let transcoder = &mut self.transcoder;
        let write = |text: &str, out: &mut Vec<u8>| {
            // The interface promises WKT, so it is not the client's fault.
            transcoder.geometry(text, out).map_err(|error| Error::Internal(error.to_string()))
        };
        let (others, geometries) = self.recoder.apply(batch, write, |()| ())?.split(self.geometry);
        let (ids, ends) = self.ids(&others);
        self.lines.clear();
        let others = match self.hidden {
            Some(hidden) => others.split(hidden).0,
            None => others,
        };
        if let Some(rows) = &mut self.properties {
            rows.write(&others, &mut self.lines);
        }
        let geometries = geometries.column(0);
        let (lines, mut written) = (&self.lines, 0);
        let (open, close): (&[u8], &[u8]) = if self.is_bare { (b",", b"") } else { (b"{", b"}") };
        for row in 0..geometries.length {
            if row > 0 {
                out.push(b',');
            }
            out.extend_from_slice(open);
            out.extend_from_slice(b"\"type\":\"Feature\",");
            if let Some(&end) = ends.get(row) {
                let begin = if row == 0 { 0 } else { ends[row - 1] };
                out.extend_from_slice(b"\"id\":");
                out.extend_from_slice(&ids[begin..end]);
                out.push(b',');
            }
            out.extend_from_slice(b"\"geometry\":");
            out.extend_from_slice(geometry_json(&geometries, row).unwrap_or(b"null"));
            out.extend_from_slice(b",\"properties\":");
            // JSON has no line feed but those between the rows.
            match first_byte(&lines[written..], |byte| byte == b'\n') {
                Some(length) => {
                    out.extend_from_output(lines, written..written + length);
                    written += length + 1;
                }
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(close);
        }
        Ok(())
    }

    /// The ids of all rows as JSON, and where each ends; none without columns for them.
    fn ids(&self, others: &Batch) -> (Vec<u8>, Vec<usize>) {
        let columns: Vec<Column<'_>> = self.ids.iter().map(|at| others.column(*at)).collect();
        let rows = if columns.is_empty() { 0 } else { others.rows() };
        let mut ids = Vec::new();
        let end = |row| {
            id::write(&columns, row, &mut ids);
            ids.len()
        };
        let ends = (0..rows).map(end).collect();
        (ids, ends)
    }
}

/// Geometry of a row in GeoJSON; `None` where it is null.
fn geometry_json<'a>(geometries: &'a Column<'_>, row: usize) -> Option<&'a [u8]> {
    match &geometries.values {
        _ if !geometries.is_valid(row) => None,
        Values::Binary(values) => Some(values.bytes(row)),
        Values::Dictionary(keyed) => {
            geometry_json(&keyed.values, usize::try_from(keyed.keys[row]).ok()?)
        }
        _ => None,
    }
}
