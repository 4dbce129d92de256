//! Text in rows and fields (RFC 4180), whatever separates them. An empty text (`""`) is not no
//! value, and a row of one empty field is a row.

use arrow::datatypes::Schema;
use yearbook_csv_records::{CsvReader, CsvRecord, CsvStrictness, RecordBounds};

use super::{ValueComparison, quote};

/// Characters that may separate fields.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// None: a row may be as long as its response.
const UNBOUNDED: RecordBounds = RecordBounds { bytes: usize::MAX, fields: usize::MAX };

pub(super) fn compare(schema: &Schema, one: &[u8], other: &[u8]) -> ValueComparison {
    let columns = schema.fields().len();
    let Some(separator) = separator(one, columns) else {
        return ValueComparison::Unsupported(
            "which character separates its fields cannot be told".to_owned(),
        );
    };
    if self::separator(other, columns) != Some(separator) {
        return ValueComparison::Different("its header has other fields".to_owned());
    }
    let (mut ones, mut others) = (Rows::new(one, separator), Rows::new(other, separator));
    for row in 0_usize.. {
        let (one, other) = match (ones.next(), others.next()) {
            (None, None) => break,
            (Some(one), Some(other)) => (one, other),
            (Some(_), None) => {
                return ValueComparison::Different(format!("it ends before row {row}"));
            }
            (None, Some(_)) => {
                return ValueComparison::Different(format!("it goes on at row {row}"));
            }
        };
        for column in 0..one.len().min(other.len()) {
            let field = schema.fields().get(column);
            let is_float = row > 0 && field.is_some_and(|field| field.data_type().is_floating());
            let (one, other) = (one.cell(column), other.cell(column));
            if one != other && !(is_float && are_same_number(one, other)) {
                let name = field.map_or("", |field| field.name().as_str());
                return ValueComparison::Different(format!(
                    "{} instead of {} in row {row}, column {}",
                    quote_cell(other),
                    quote_cell(one),
                    quote(name)
                ));
            }
        }
        if one.len() != other.len() {
            return ValueComparison::Different(format!("row {row} has another number of fields"));
        }
    }
    ValueComparison::Equal
}

/// The character that cuts the first row into as many fields as there are columns.
fn separator(text: &[u8], columns: usize) -> Option<u8> {
    let width = |separator| Rows::new(text, separator).next().map_or(1, |row| row.len());
    SEPARATORS.into_iter().find(|separator| width(*separator) == columns.max(1))
}

fn are_same_number(one: Option<&[u8]>, other: Option<&[u8]>) -> bool {
    let parse = |cell: Option<&[u8]>| std::str::from_utf8(cell?).ok()?.parse::<f64>().ok();
    parse(one).is_some_and(|value| Some(value) == parse(other))
}

fn quote_cell(cell: Option<&[u8]>) -> String {
    match cell {
        Some([]) => "an empty text".to_owned(),
        cell => quote(&String::from_utf8_lossy(cell.unwrap_or_default())),
    }
}

/// Rows from top to bottom. Anything is a row: what is malformed is compared as it is parsed.
struct Rows<'a> {
    reader: CsvReader,
    rest: std::slice::Chunks<'a, u8>,
    ended: bool,
}

impl<'a> Rows<'a> {
    fn new(text: &'a [u8], separator: u8) -> Self {
        Self {
            reader: CsvReader::new(separator, CsvStrictness::Lenient, UNBOUNDED),
            rest: text.chunks(CHUNK_BYTES),
            ended: false,
        }
    }

    fn next(&mut self) -> Option<CsvRecord<'_>> {
        // Nothing is refused: the reader is lenient and has no bounds.
        while !self.reader.read().ok()? {
            if self.ended {
                return None;
            }
            let chunk = self.rest.next();
            self.ended = chunk.is_none();
            self.reader.push(chunk.unwrap_or_default(), self.ended);
        }
        Some(self.reader.record())
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field as Column};

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
