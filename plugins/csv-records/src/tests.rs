//! Records in pieces of any size, at each strictness.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const BOUNDS: RecordBounds = RecordBounds { bytes: 1_000, fields: 512 };

type Cells = Vec<Option<String>>;

fn reader(delimiter: u8, strictness: CsvStrictness) -> CsvReader {
    CsvReader::new(delimiter, strictness, BOUNDS)
}

/// Line and cells of each record.
fn read(reader: &mut CsvReader, text: &[u8], piece: usize) -> Result<Vec<(u64, Cells)>, CsvFault> {
    let mut records = Vec::new();
    let mut pieces = text.chunks(piece).chain([&b""[..]]).peekable();
    while let Some(piece) = pieces.next() {
        reader.push(piece, pieces.peek().is_none());
        while reader.read()? {
            let record = reader.record();
            let text = |cell: &[u8]| String::from_utf8(cell.to_vec()).unwrap();
            let cells = (0..record.len()).map(|field| record.cell(field).map(text)).collect();
            records.push((record.line(), cells));
        }
        assert!(!reader.read()?, "nothing comes without more bytes");
    }
    Ok(records)
}

fn cells(cells: &[Option<&str>]) -> Cells {
    cells.iter().map(|cell| cell.map(str::to_owned)).collect()
}

#[test]
fn records_come_with_their_lines_and_blank_lines_are_records() {
    let text = "\u{feff}a;\"b\nc\";\"\"\r\n\r\n\n\"d\"\"e\";;f,g";
    let expected = [
        (1, cells(&[Some("a"), Some("b\nc"), Some("")])),
        (3, cells(&[None])),
        (4, cells(&[None])),
        (5, cells(&[Some("d\"e"), None, Some("f,g")])),
    ];
    for piece in [1, 2, 3, 7, 1000] {
        let found = read(&mut reader(b';', CsvStrictness::Rfc4180), text.as_bytes(), piece);
        assert_eq!(found.unwrap(), expected, "{piece}");
    }
}

#[test]
fn one_byte_order_mark_is_no_content() {
    for (text, expected) in [("\u{feff}", None), ("\u{feff}\u{feff}a", Some("\u{feff}a"))] {
        let found = read(&mut reader(b',', CsvStrictness::Rfc4180), text.as_bytes(), 1).unwrap();
        let expected: Vec<_> = expected.iter().map(|text| (1, cells(&[Some(text)]))).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn each_strictness_refuses_what_it_says() {
    use CsvFaultKind::{BareCarriageReturn, BareQuote, TextBehindQuote, UnclosedQuote};
    use CsvStrictness::{Lenient, QuotedFields, Rfc4180};
    for (text, field, kind, quoted_fields, content) in [
        ("1,a\"b\n", 1, BareQuote, false, &["1", "a\"b"][..]),
        ("1,a\rb\n", 1, BareCarriageReturn, false, &["1", "a\rb"]),
        ("1,a\r", 1, BareCarriageReturn, false, &["1", "a"]),
        ("\"a\"b,c\n", 0, TextBehindQuote, true, &["ab", "c"]),
        ("\"a\"\rb,c\n", 0, BareCarriageReturn, true, &["a\rb", "c"]),
        ("1,\"a,b\n", 1, UnclosedQuote, true, &["1", "a,b\n"]),
    ] {
        for strictness in [Rfc4180, QuotedFields, Lenient] {
            let found = read(&mut reader(b',', strictness), text.as_bytes(), 1);
            if strictness == Rfc4180 || (strictness == QuotedFields && quoted_fields) {
                assert_eq!(
                    found,
                    Err(CsvFault { kind, line: 1, field }),
                    "{text:?} {strictness:?}"
                );
            } else {
                let content: Vec<_> = content.iter().map(|text| Some(*text)).collect();
                assert_eq!(found, Ok(vec![(1, cells(&content))]), "{text:?} {strictness:?}");
            }
        }
    }
}

#[test]
fn a_record_has_its_bounds() {
    let fits = [vec![b','; 511], vec![b'\n']].concat();
    let wide = [vec![b','; 512], vec![b'\n']].concat();
    let long = [vec![b'a'; 1_000], vec![b'\n']].concat();
    let open = [&b"\n\n1,\""[..], &[b'\n'; 1_000]].concat();
    for piece in [1, 10_000] {
        let refused = |text: &[u8]| {
            let fault = read(&mut reader(b',', CsvStrictness::Lenient), text, piece).unwrap_err();
            (fault.kind, fault.line, fault.field)
        };
        let rows = read(&mut reader(b',', CsvStrictness::Lenient), &fits, piece).unwrap();
        assert_eq!(rows[0].1.len(), 512);
        assert_eq!(refused(&wide), (CsvFaultKind::TooManyFields, 1, 512));
        assert_eq!(refused(&long), (CsvFaultKind::TooManyBytes, 1, 0));
        assert_eq!(refused(&open), (CsvFaultKind::TooManyBytes, 3, 1));
    }
}
