//! RFC 4180, with null and empty text distinguished, under any cutting of the input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;

use proptest::prelude::*;

use super::*;

/// A stream that gives at most `step` bytes at a time.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

type Cells = Vec<Option<String>>;

fn read(text: &[u8], step: usize, buffer: usize) -> Result<Vec<Cells>, CsvError> {
    let mut records = CsvRecords::with_buffer(Drip(text, step), buffer.max(4));
    let mut rows = Vec::new();
    while let Some(record) = records.next()? {
        rows.push(
            (0..record.len())
                .map(|field| {
                    record.cell(field).map(|cell| String::from_utf8(cell.to_vec()).unwrap())
                })
                .collect(),
        );
    }
    Ok(rows)
}

/// Number of blank lines at the end of `text`.
fn blank_lines_at_end(text: &str, step: usize) -> usize {
    let mut records = CsvRecords::with_buffer(Drip(text.as_bytes(), step), 4);
    while records.next().unwrap().is_some() {}
    records.blank_lines_at_end()
}

fn rows(text: &str) -> Vec<Cells> {
    read(text.as_bytes(), usize::MAX, BUFFER_BYTES).unwrap()
}

fn cells(cells: &[Option<&str>]) -> Cells {
    cells.iter().map(|cell| cell.map(str::to_owned)).collect()
}

#[test]
fn an_unquoted_empty_field_is_null_and_a_quoted_one_is_empty_contract_7() {
    assert_eq!(rows("a,,\"\"\n"), [cells(&[Some("a"), None, Some("")])]);
    assert_eq!(rows(","), [cells(&[None, None])]);
    assert_eq!(rows("\"\""), [cells(&[Some("")])]);
    assert_eq!(rows("\n\"\"\n"), [cells(&[None]), cells(&[Some("")])]);
}

#[test]
fn records_end_with_lf_or_crlf_and_the_last_may_have_none_rfc_4180() {
    let expected = [cells(&[Some("a"), Some("b")]), cells(&[Some("c"), None])];
    for text in ["a,b\nc,\n", "a,b\r\nc,\r\n", "a,b\nc,", "a,b\r\nc,", "\u{feff}a,b\nc,"] {
        for step in [1, 2, 3, usize::MAX] {
            assert_eq!(read(text.as_bytes(), step, 4).unwrap(), expected, "{text:?} by {step}");
        }
    }
    assert!(rows("").is_empty());
    assert!(rows("\u{feff}").is_empty());
}

#[test]
fn quotes_hold_commas_line_breaks_and_doubled_quotes() {
    assert_eq!(
        rows("\"a,b\",\"c\r\nd\",\"e\"\"f\"\"\"\n"),
        [cells(&[Some("a,b"), Some("c\r\nd"), Some("e\"f\"")])]
    );
}

#[test]
fn blank_lines_are_records_but_those_at_the_end_contract_7() {
    let (a, blank) = (cells(&[Some("a")]), cells(&[None]));
    for (text, expected, at_end) in [
        ("a\r\n\r\na\r\n", vec![&a, &blank, &a], 0),
        ("a\n\n\na\n", vec![&a, &blank, &blank, &a], 0),
        ("a\n\r\n\na\n", vec![&a, &blank, &blank, &a], 0),
        ("a\n\n", vec![&a], 1),
        ("a\r\n\r\n\r\n", vec![&a], 2),
        ("a\n\r\n\n\r\n", vec![&a], 3),
        ("\u{feff}\n\na", vec![&blank, &blank, &a], 0),
        ("\n", vec![], 1),
        ("\u{feff}\r\n", vec![], 1),
    ] {
        for step in [1, 2, usize::MAX] {
            let found = read(text.as_bytes(), step, 4).unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{text:?} by {step}");
            assert_eq!(blank_lines_at_end(text, step), at_end, "{text:?} by {step}");
        }
    }
}

#[test]
fn a_quoted_empty_field_may_end_a_line_of_either_kind() {
    let expected = [cells(&[Some("a"), Some("")]), cells(&[Some("b"), None])];
    assert_eq!(rows("a,\"\"\r\nb,\r\n"), expected);
    assert_eq!(rows("a,\"\"\nb,\n"), expected);
}

#[test]
fn what_is_not_rfc_4180_is_named_with_its_field() {
    for (text, field, expected) in [
        ("a,b\"c\n", 1, "quote inside an unquoted field"),
        ("\"a\"b,c\n", 0, "goes on behind its closing quote"),
        ("a,\"b\nc,d\n", 1, "never closed"),
        ("a\rb\n", 0, "carriage return"),
        ("a,b\r", 1, "carriage return"),
    ] {
        match read(text.as_bytes(), 1, 2) {
            Err(CsvError::Record { field: found, why }) => {
                assert!(why.contains(expected), "{text:?}: {why}");
                // A fault behind a field is counted to the field itself.
                assert_eq!(found, field, "{text:?}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

/// A stream of `head` and then of one byte for ever.
struct Endless<'a> {
    head: &'a [u8],
    then: u8,
    given: &'a Cell<usize>,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(self.then);
        let length = self.head.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.head[..length]);
        self.head = &self.head[length..];
        self.given.set(self.given.get() + buffer.len());
        Ok(buffer.len())
    }
}

#[test]
fn a_record_larger_than_any_row_ends_early_with_the_place_where_it_began_contract_7() {
    for (head, then, rows, field, most) in [
        // A quote that is never closed.
        (&b"a,b\nc,d\n\ne,\""[..], b'x', 3, 1, 34 << 20),
        (b"a,b\nc,d\n\ne,\"", b'\n', 3, 1, 34 << 20),
        (b"a,b\nc,d\n\ne,\"", b',', 3, 1, 34 << 20),
        // No end of a line.
        (b"a,b\nc,d\n\ne,", b'x', 3, 1, 34 << 20),
        // Fields, each of which costs more than its byte.
        (b"a,b\nc,d\n\ne\"", b',', 3, 0, 4 << 20),
        (b"a,b\nc,d\n\n", b',', 3, 0, 4 << 20),
    ] {
        let given = Cell::new(0);
        let mut records = CsvRecords::new(Endless { head, then, given: &given });
        let mut found = 0;
        let broken = loop {
            match records.next() {
                Ok(record) => found += usize::from(record.is_some()),
                Err(broken) => break broken,
            }
        };
        let CsvError::Record { field: at, why } = broken else { panic!("{broken:?}") };
        assert!(why.contains("over 32 MiB"), "{why}");
        assert_eq!(found, rows, "rows before it, {:?}", head.escape_ascii().to_string());
        if field > 0 {
            assert_eq!(at, field);
        }
        assert!(given.get() < most, "{} bytes were read", given.get());
    }
}

/// RFC 4180 with every choice that a writer has.
fn write(rows: &[Vec<(Option<String>, bool)>], crlf: bool, last_break: bool) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, (cell, quote)) in row.iter().enumerate() {
            if column > 0 {
                text.push(',');
            }
            match cell {
                None => {}
                Some(cell)
                    if *quote
                        || cell.is_empty()
                        || cell.contains([',', '"', '\n', '\r', '\u{feff}']) =>
                {
                    text.push('"');
                    text.push_str(&cell.replace('"', "\"\""));
                    text.push('"');
                }
                Some(cell) => text.push_str(cell),
            }
        }
        // A last line that is a single null would be no line at all without its break.
        if index + 1 < rows.len() || last_break || row.iter().all(|(cell, _)| cell.is_none()) {
            text.push_str(if crlf { "\r\n" } else { "\n" });
        }
    }
    text
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_back(
        rows in (1_usize..5).prop_flat_map(|width| prop::collection::vec(
            prop::collection::vec((prop::option::of("[a\",\n\ré ]{0,6}"), any::<bool>()), width), 0..6)),
        crlf: bool, last_break: bool, step in 1_usize..9, buffer in 1_usize..64,
    ) {
        let text = write(&rows, crlf, last_break);
        let mut expected: Vec<Cells> = rows.iter().map(|row| row.iter().map(|(cell, _)| cell.clone()).collect()).collect();
        let is_blank = |row: &Cells| row.len() == 1 && row[0].is_none();
        let content = expected.iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1);
        prop_assert_eq!(blank_lines_at_end(&text, step), expected.len() - content);
        expected.truncate(content);
        prop_assert_eq!(read(text.as_bytes(), step, buffer).unwrap(), expected, "{:?}", text);
    }

    #[test]
    fn no_bytes_make_it_panic_or_hang(bytes in prop::collection::vec(prop::sample::select(b"a,\"\r\n\xEF\xBB\xBF\xFF".to_vec()), 0..40), step in 1_usize..5) {
        let mut records = CsvRecords::new(Drip(&bytes, step));
        let mut fields = 0;
        while let Ok(Some(record)) = records.next() {
            fields += record.len();
        }
        prop_assert!(fields <= bytes.len() + 1);
    }
}
