//! Members that a file, a feature or a geometry has once: of two of one name nobody knows which
//! counts. Properties are checked where their columns are.

use yearbook_json_parser::{JsonEvent, JsonPath};

pub(super) const TWICE: &str = "is there twice";

/// Depth and name of each member, those of the file first; the place of one is its bit.
const MEMBERS: [(usize, &str); 8] = [
    (1, "type"),
    (1, "features"),
    (3, "type"),
    (3, "id"),
    (3, "properties"),
    (3, "geometry"),
    (4, "type"),
    (4, "coordinates"),
];

/// The bits of the file's own members.
const OF_FILE: u8 = 0b11;

/// Members that are there so far, a bit each.
#[derive(Debug, Default)]
pub(super) struct Members(u8);

impl Members {
    /// Takes a value, which begins a feature or is a member of one, of its geometry or of the file.
    ///
    /// # Errors
    /// Fails where the member is there twice.
    pub(super) fn check(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        let parents: &[Option<&str>] = match path.depth() {
            1 => &[],
            2 if event == JsonEvent::BeginObject && path.name(0) == Some("features") => {
                self.0 &= OF_FILE;
                return Ok(());
            }
            3 => &[Some("features"), None],
            4 => &[Some("features"), None, Some("geometry")],
            _ => return Ok(()),
        };
        if matches!(event, JsonEvent::EndArray | JsonEvent::EndObject) || !path.begins_with(parents)
        {
            return Ok(());
        }
        let name = path.name(parents.len());
        let member =
            MEMBERS.iter().position(|(depth, own)| *depth == path.depth() && name == Some(own));
        let Some(member) = member else { return Ok(()) };
        let before = self.0;
        self.0 |= 1 << member;
        if before == self.0 { Err(TWICE.to_owned()) } else { Ok(()) }
    }
}
