//! Text in rows and fields (RFC 4180), whatever separates them. Readers of libraries do not tell an
//! empty text (`""`) from no value, nor keep rows of one empty field, and our responses do both; so
//! fields are walked here.

use std::borrow::Cow;

use arrow::datatypes::{DataType, Schema};

use super::{ValueComparison, quote};

/// Characters that may separate fields.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

pub(super) fn compare(schema: &Schema, one: &[u8], other: &[u8]) -> ValueComparison {
    let columns = schema.fields().len();
    let unread = || {
        ValueComparison::Unsupported(
            "which character separates its fields cannot be told".to_owned(),
        )
    };
    let Some(separator) = separator(one, columns) else { return unread() };
    if self::separator(other, columns) != Some(separator) {
        return ValueComparison::Different("its header has other fields".to_owned());
    }
    let (mut ones, mut others) =
        (Fields { text: one, separator }, Fields { text: other, separator });
    let (mut row, mut column) = (0_usize, 0_usize);
    loop {
        let (one, other) = match (ones.next(), others.next()) {
            (None, None) => return ValueComparison::Equal,
            (Some(one), Some(other)) => (one, other),
            (Some(_), None) => {
                return ValueComparison::Different(format!("it ends before row {row}"));
            }
            (None, Some(_)) => {
                return ValueComparison::Different(format!("it goes on at row {row}"));
            }
        };
        let number = row > 0
            && schema.fields().get(column).is_some_and(|field| is_number(field.data_type()));
        if !one.equals(&other, number) {
            let name = schema.fields().get(column).map_or("", |field| field.name().as_str());
            let values = format!("{} instead of {}", other.quote(), one.quote());
            return ValueComparison::Different(format!(
                "{values} in row {row}, column {}",
                quote(name)
            ));
        }
        if one.last != other.last {
            return ValueComparison::Different(format!("row {row} has another number of fields"));
        }
        (row, column) = if one.last { (row + 1, 0) } else { (row, column + 1) };
    }
}

/// The character that cuts the first row into as many fields as there are columns.
fn separator(text: &[u8], columns: usize) -> Option<u8> {
    let counts = |separator: &u8| {
        let mut fields = Fields { text, separator: *separator };
        let before_last =
            fields.by_ref().take(columns.max(1)).take_while(|field| !field.last).count();
        before_last + 1 == columns.max(1)
    };
    SEPARATORS.into_iter().find(counts)
}

fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

/// A field without its quotes.
struct Field<'a> {
    text: Cow<'a, [u8]>,
    quoted: bool,
    /// Set where its row ends with it.
    last: bool,
}

impl Field<'_> {
    /// Returns whether both hold the same; as numbers where `number`.
    fn equals(&self, other: &Self, number: bool) -> bool {
        let parse = |field: &Self| std::str::from_utf8(&field.text).ok()?.parse::<f64>().ok();
        let same =
            self.text == other.text && (!self.text.is_empty() || self.quoted == other.quoted);
        same || (number && parse(self).is_some_and(|value| Some(value) == parse(other)))
    }

    fn quote(&self) -> String {
        if self.quoted && self.text.is_empty() {
            "an empty text".to_owned()
        } else {
            quote(&String::from_utf8_lossy(&self.text))
        }
    }
}

/// Fields from left to right, rows from top to bottom. Anything is a field: what is malformed is
/// compared as it stands.
struct Fields<'a> {
    text: &'a [u8],
    separator: u8,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        if self.text.is_empty() {
            return None;
        }
        let quoted = self.text[0] == b'"';
        let (text, rest) =
            if quoted { unquote(&self.text[1..]) } else { (Cow::Borrowed(&b""[..]), self.text) };
        // Up to what ends the field: all of it where it is not quoted, nothing as a rule where it
        // is.
        let end = rest
            .iter()
            .position(|byte| *byte == self.separator || *byte == b'\n')
            .unwrap_or(rest.len());
        let (tail, rest) = rest.split_at(end);
        let tail = if rest.first() == Some(&b'\n') {
            tail.strip_suffix(b"\r").unwrap_or(tail)
        } else {
            tail
        };
        let text = if quoted && tail.is_empty() {
            text
        } else if quoted {
            Cow::Owned([&text, tail].concat())
        } else {
            Cow::Borrowed(tail)
        };
        let last = rest.first() != Some(&self.separator);
        self.text = rest.get(1..).unwrap_or_default();
        Some(Field { text, quoted, last })
    }
}

/// Text before the closing quote, and the rest after it.
fn unquote(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut out = Cow::Borrowed(&b""[..]);
    let mut from = 0;
    while let Some(quote) = text[from..].iter().position(|byte| *byte == b'"').map(|at| from + at) {
        let doubled = text.get(quote + 1) == Some(&b'"');
        let piece = &text[from..quote + usize::from(doubled)];
        out =
            if out.is_empty() { Cow::Borrowed(piece) } else { Cow::Owned([&out, piece].concat()) };
        from = quote + 1 + usize::from(doubled);
        if !doubled {
            return (out, &text[from..]);
        }
    }
    (Cow::Owned([&out, &text[from..]].concat()), b"")
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Field as Column;

    use super::*;

    fn compare_texts(one: &str, other: &str) -> ValueComparison {
        let schema = Schema::new(vec![
            Column::new("t", DataType::Utf8, true),
            Column::new("v", DataType::Float64, true),
        ]);
        compare(&schema, one.as_bytes(), other.as_bytes())
    }

    #[test]
    fn quotes_line_ends_and_ways_to_write_a_float_are_no_difference() {
        assert_eq!(
            compare_texts("t,v\na,1.0\nb \"c\",\n", "\"t\",v\r\na,1e0\r\n\"b \"\"c\"\"\",\r\n"),
            ValueComparison::Equal
        );
        assert_eq!(
            compare_texts("t;v\n\"a;b\nc\";2\n", "t;v\n\"a;b\nc\";2.0"),
            ValueComparison::Equal
        );
    }

    #[test]
    fn a_value_that_differs_is_shown_with_its_place() {
        let unlike = |one: &str, other: &str, why: &str| {
            assert_eq!(
                compare_texts(one, other),
                ValueComparison::Different(why.to_owned()),
                "{other}"
            )
        };
        unlike("t,v\n007,1\n", "t,v\n7,1\n", "`7` instead of `007` in row 1, column `t`");
        unlike("t,v\na,1\n", "t,v\na,1.5\n", "`1.5` instead of `1` in row 1, column `v`");
        unlike("t,v\n\"\",1\n", "t,v\n,1\n", "`` instead of an empty text in row 1, column `t`");
        unlike("t,v\na,1\nb,2\n", "t,v\na,1\n", "it ends before row 2");
        unlike("t,v\na,1\n", "t,v\na,1\nb,2\n", "it goes on at row 2");
        unlike("t,v\na,1\n", "t;v\na;1\n", "its header has other fields");
        unlike("t,v\na,1\n", "t,v\na\n,1\n", "row 1 has another number of fields");
        unlike("t,v\na,1\n", "t,v\n\"a,1\n", "`a,1 ` instead of `a` in row 1, column `t`");
        assert!(matches!(
            compare_texts("t/v\na/1\n", "t/v\nb/1\n"),
            ValueComparison::Unsupported(_)
        ));
    }

    #[test]
    fn a_row_of_one_empty_field_is_a_row_0033() {
        let schema = Schema::new(vec![Column::new("t", DataType::Utf8, true)]);
        assert_eq!(compare(&schema, b"t\n\na\n", b"t\r\n\r\na\r\n"), ValueComparison::Equal);
        assert!(matches!(compare(&schema, b"t\n\na\n", b"t\na\n"), ValueComparison::Different(_)));
        assert!(
            matches!(compare(&schema, b"t\n\na\n", b"t\n\"\"\na\n"), ValueComparison::Different(_)),
            "null is not an empty text"
        );
    }
}
