//! Ids of features: the values of the columns that tell rows apart. An integer is a number; all
//! else is text, and of several columns their values with commas between them, `,` and `~` in them
//! as `~,` and `~~`.

use yearbook_sdk::Column;
use yearbook_sdk::text::{json, render};

/// Writes the id of a row as JSON. Null is empty: no key has it.
pub(crate) fn write(columns: &[Column<'_>], row: usize, out: &mut Vec<u8>) {
    if let [only] = columns
        && only.integer(row).is_some()
    {
        return render(&json::Json, only, row, out);
    }
    out.push(b'"');
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let mut cell = Vec::new();
        if column.is_valid(row) {
            render(&json::Json, column, row, &mut cell);
        }
        // Text has its quotes, and no escape of JSON has one of the two signs.
        let text = cell.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        for &byte in text.unwrap_or(&cell) {
            if columns.len() > 1 && matches!(byte, b'~' | b',') {
                out.push(b'~');
            }
            out.push(byte);
        }
    }
    out.push(b'"');
}

/// The values of so many columns that make this id; `None` where it is the id of no row.
#[must_use]
pub fn id_parts(id: &str, columns: usize) -> Option<Vec<String>> {
    if columns == 1 {
        return Some(vec![id.to_owned()]);
    }
    let (mut parts, mut part, mut characters) = (Vec::new(), String::new(), id.chars());
    while let Some(character) = characters.next() {
        match character {
            ',' => parts.push(std::mem::take(&mut part)),
            '~' => part.push(characters.next().filter(|next| matches!(next, '~' | ','))?),
            other => part.push(other),
        }
    }
    parts.push(part);
    (parts.len() == columns).then_some(parts)
}
