//! The envelope of spec-2.3-envelope: where the data comes from, from the schema's metadata.

use yearbook_sdk::Schema;
use yearbook_sdk::text::Dialect as _;
use yearbook_sdk::text::json::Json;

/// Key of the schema's metadata under which the host lists every source, as JSON.
const SOURCES: &str = "yearbook.sources";

/// Everything before the first row.
pub(crate) fn head(schema: &Schema) -> Vec<u8> {
    let mut out = b"{\"data_sources\":[{".to_vec();
    for (position, (name, value)) in schema.provenance().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        Json.text(name.as_bytes(), &mut out);
        out.push(b':');
        match value {
            Some(value) => Json.text(value.as_bytes(), &mut out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(b",\"sources\":");
    out.extend_from_slice(schema.metadata(SOURCES).unwrap_or("[]").as_bytes());
    out.extend_from_slice(b"}],\"data\":[");
    out
}
