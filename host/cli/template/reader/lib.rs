//! The input format `{{name}}`: a line a row, a name and a number with `=` between them. Replace
//! what it reads by the format of your source.

use yearbook_sdk::reader::{
    ColumnMatch, ColumnRequest, FilePlace, ReadColumn, ReadRefusal, ReaderDescription, RowBuilder,
    match_columns,
};
use yearbook_sdk::{Options, Reader};

yearbook_sdk::export_reader!(Format);

/// Longest line, bytes: a reader holds what it needs and no more.
const LINE_BYTES: usize = 1 << 20;

/// The file's columns.
const COLUMNS: [&str; 2] = ["name", "value"];

/// One file.
pub struct Format {
    columns: Vec<ColumnMatch>,
    /// Bytes that are no whole line yet.
    pending: Vec<u8>,
    /// Lines read.
    line: u64,
    last: bool,
}

impl Reader for Format {
    /// Description that publishers see. The rules for each field stand in
    /// `yearbook/plugins/sdk/wit/1.1.0/reader.wit`.
    fn describe() -> ReaderDescription {
        ReaderDescription {
            format: "{{name}}",
            version: env!("CARGO_PKG_VERSION"),
            title: "{{name}}",
            parameters: vec![],
            example: b"north=1.5\nsouth=\n",
            docs: "A line a row: a name and a number with `=` between them.",
        }
    }

    /// A data package asks for columns by name and type; `match_columns` finds them, and refuses
    /// with the names that there are.
    fn open(requests: &[ColumnRequest], _: &Options) -> Result<Self, ReadRefusal> {
        let columns = match_columns(&COLUMNS, requests)?;
        Ok(Self { columns, pending: Vec::new(), line: 0, last: false })
    }

    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal> {
        self.pending.extend_from_slice(bytes);
        self.last = last;
        Ok(())
    }

    fn columns(&self) -> Option<Vec<ReadColumn>> {
        Some(self.columns.iter().map(ReadColumn::from).collect())
    }

    /// Adds rows until the batch is full or more bytes are needed.
    fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        let mut at = 0;
        while !rows.is_full() {
            let rest = &self.pending[at..];
            let end = match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) => end,
                None if self.last && !rest.is_empty() => rest.len(),
                None if rest.len() > LINE_BYTES => {
                    let place = FilePlace::line(self.line + 1, "");
                    return Err(ReadRefusal::malformed(place, "is too long for a line"));
                }
                None => break,
            };
            self.line += 1;
            add_row(&self.columns, &rest[..end], self.line, rows)?;
            at = (at + end + 1).min(self.pending.len());
        }
        self.pending.drain(..at);
        Ok(())
    }
}

/// Whatever is wrong is said with its place: a publisher reads it.
fn add_row(
    columns: &[ColumnMatch],
    line: &[u8],
    number: u64,
    rows: &mut RowBuilder,
) -> Result<(), ReadRefusal> {
    let malformed = |why: &str| ReadRefusal::malformed(FilePlace::line(number, ""), why);
    let text = std::str::from_utf8(line).map_err(|_| malformed("is not UTF-8"))?;
    let (name, value) = text.split_once('=').ok_or_else(|| malformed("has no `=`"))?;
    let cells = [name, value];
    for (at, column) in columns.iter().enumerate() {
        let cell = cells[column.position];
        if cell.is_empty() {
            rows.null(at);
        } else {
            rows.parse(at, column.requested_type, cell, false).map_err(|why| {
                ReadRefusal::unsupported(FilePlace::line(number, &column.name), why)
            })?;
        }
    }
    rows.end_row();
    Ok(())
}

#[cfg(test)]
mod tests {
    use yearbook_sdk::reader::RequestedType;
    use yearbook_sdk::testing::reading::{check, read, request};

    use super::*;

    #[test]
    fn it_holds_what_every_reader_must() {
        check::<Format>();
    }

    #[test]
    fn a_value_is_a_number_or_missing() {
        let value = [request("value", RequestedType::Number)];
        let table = read::<Format>(b"north=1.5\nsouth=\n", &value, &[]).unwrap();
        assert_eq!(table.column("value"), [Some("1.5"), None]);
        let refused = read::<Format>(b"north=1.5\nsouth=many\n", &value, &[]).unwrap_err();
        assert!(refused.to_string().starts_with("line 2, value: is not a number"), "{refused}");
    }
}
