//! Ids of features: the values of the columns that tell rows apart. An integer is a number; all
//! else is text, and of several columns their values with commas between them, `,` and `~` in them
//! as `~,` and `~~`.

use yearbook_sdk::Column;
use yearbook_sdk::text::{Dialect as _, json};

/// The id of a row as JSON.
pub(crate) fn json(columns: &[Column<'_>], row: usize) -> Vec<u8> {
    let text = match columns {
        [only] => match only.integer(row) {
            Some(number) => return number.to_string().into(),
            None => cell(only, row),
        },
        several => {
            let parts = several.iter().map(|column| cell(column, row));
            let parts = parts.map(|part| part.replace('~', "~~").replace(',', "~,"));
            parts.collect::<Vec<_>>().join(",")
        }
    };
    let mut id = Vec::new();
    json::Json.text(text.as_bytes(), &mut id);
    id
}

/// A value as clients write it in a condition. Null is empty: no key has it.
fn cell(column: &Column<'_>, row: usize) -> String {
    let text = || column.text(row).map(str::to_owned);
    let integer = || column.integer(row).map(|number| number.to_string());
    let boolean = || column.boolean(row).map(|boolean| boolean.to_string());
    let number = || column.number(row).map(|number| number.to_string());
    text().or_else(integer).or_else(boolean).or_else(number).unwrap_or_default()
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
