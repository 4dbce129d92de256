//! The format `xlsx`: a workbook (ECMA-376) with the rows on the sheet `data` and their source on
//! the sheet `about`. Written from front to back, holding no more than a few rows: texts stand in
//! their cells, and the archive's directory at its end. Parts depend on each other, since a sheet
//! is one stream of deflate and has a limited number of rows.

use yearbook_sdk::generator::Role;
use yearbook_sdk::text::{self, csv};
use yearbook_sdk::{
    Batch, Column, Description, Encoder, Error, Kind, Note, Options, Output, Parameter, Schema,
};

use archive::Archive;
use cell::{CellKind, CellRef};

mod archive;
mod cell;
mod workbook;
mod xml;

yearbook_sdk::export_encoder!(XlsxEncoder);

/// Rows of a sheet, its header included.
const MAX_SHEET_ROWS: u64 = 1 << 20;
/// Columns of a sheet.
const MAX_SHEET_COLUMNS: usize = 1 << 14;
/// Bytes of a sheet before compression, after which another one begins: its file must stay below 4
/// GiB.
const MAX_SHEET_BYTES: u64 = 3 << 30;
/// Bytes of XML that are compressed at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// One response as a workbook.
pub struct XlsxEncoder {
    schema: Schema,
    columns: Vec<SheetColumn>,
    archive: Archive,
    /// Number of sheets of data that have begun.
    sheets: usize,
    /// Rows of the sheet, its header included.
    row: u64,
    /// Rows of all sheets without headers.
    rows: u64,
    block: Vec<u8>,
}

/// Column in the workbook.
struct SheetColumn {
    letters: String,
    shown: CellKind,
    /// Cells that do not hold all of their text.
    cut: u64,
}

impl Encoder for XlsxEncoder {
    fn describe() -> Description {
        let boolean = |name, default, docs| Parameter {
            name,
            kind: Kind::Boolean,
            default,
            allowed: &[],
            docs,
        };
        Description {
            format: "xlsx",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            extension: "xlsx",
            separator: None,
            part_rows: None,
            dictionaries: true,
            compressible: false,
            parameters: vec![
                boolean(
                    "dates",
                    "true",
                    "Whether dates are dates of the spreadsheet; otherwise they are text.",
                ),
                boolean(
                    "cut_geometry",
                    "false",
                    "Takes a geometry all the same, though a cell holds 32,767 characters of it at most.",
                ),
            ],
            docs: "A workbook for spreadsheets: the sheet `data` with a header that stays in view, the sheet `about` with licence, attribution, \
                   source and snapshot. Numbers, booleans and dates are cells of their types and text is always text, never a formula. What a \
                   spreadsheet cannot hold is text: integers beyond 2^53, NaN, INF and -INF, and dates before 1900-03-01. A text \
                   beyond 32,767 characters is cut, ends in `…` and is counted on the sheet `about`. Rows beyond 1,048,575 go on \
                   on the sheet `data 2`.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        text::check::<csv::Csv>(&schema.fields)?;
        if schema.fields.len() > MAX_SHEET_COLUMNS {
            let sentence = format!(
                "the table has {} columns and a sheet at most {MAX_SHEET_COLUMNS}; name those that you need in `columns`",
                schema.fields.len()
            );
            return Err(Error::UnsupportedSchema(sentence));
        }
        if let (Some(column), false) =
            (schema.position(Role::Geometry), options.boolean("cut_geometry")?)
        {
            return Err(Error::UnsupportedSchema(format!(
                "column `{}` is a geometry, and a cell holds 32,767 characters at most; add `geometry=false`, take \
                 `xlsx.cut_geometry=true` to have what fits, or another format",
                schema.fields[column].name
            )));
        }
        let dates = options.boolean("dates")?;
        let column = |(at, field)| SheetColumn {
            letters: cell::column_letters(at),
            shown: CellKind::from_field(field, dates),
            cut: 0,
        };
        let columns = schema.fields.iter().enumerate().map(column).collect();
        Ok(Self {
            schema,
            columns,
            archive: Archive::new(),
            sheets: 0,
            row: 0,
            rows: 0,
            block: Vec::new(),
        })
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.archive.store("[Content_Types].xml", workbook::CONTENT_TYPES.as_bytes(), out)?;
        self.archive.store("_rels/.rels", workbook::RELATIONS.as_bytes(), out)?;
        self.archive.store("xl/styles.xml", workbook::STYLES.as_bytes(), out)?;
        self.begin(out)
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let columns: Vec<Column<'_>> = batch.columns().collect();
        for row in 0..batch.rows() {
            if self.row == MAX_SHEET_ROWS || self.archive.uncompressed() > MAX_SHEET_BYTES {
                self.end(out)?;
                self.begin(out)?;
            }
            self.row += 1;
            self.rows += 1;
            let number = self.row.to_string();
            row_start(&number, &mut self.block);
            for (showing, column) in self.columns.iter_mut().zip(&columns) {
                let place = CellRef { column: &showing.letters, row: &number };
                let whole = cell::write(showing.shown, column, row, &place, &mut self.block);
                showing.cut += u64::from(!whole);
            }
            self.block.extend_from_slice(b"</row>");
            if self.block.len() > BLOCK_BYTES {
                self.flush(out)?;
            }
        }
        self.flush(out)
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        self.end(out)?;
        let names = self.schema.fields.iter().map(|field| field.name.as_str());
        let cut: Vec<_> = names
            .zip(self.columns.iter().map(|column| column.cut))
            .filter(|(_, cut)| *cut > 0)
            .collect();
        self.archive.store(
            &workbook::sheet_path(self.sheets + 1),
            &workbook::about_sheet(&self.schema, self.rows, &cut),
            out,
        )?;
        for (path, content) in workbook::closing_parts(self.sheets) {
            self.archive.store(path, content.as_bytes(), out)?;
        }
        std::mem::replace(&mut self.archive, Archive::new()).finish(out)
    }
}

impl XlsxEncoder {
    /// Begins a sheet with the header.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.sheets += 1;
        self.row = 1;
        self.archive.begin(&workbook::sheet_path(self.sheets), out)?;
        self.block.extend_from_slice(workbook::SHEET.as_bytes());
        row_start("1", &mut self.block);
        for (showing, field) in self.columns.iter().zip(&self.schema.fields) {
            cell::text(
                &field.name,
                &CellRef { column: &showing.letters, row: "1" },
                " s=\"2\"",
                &mut self.block,
            );
        }
        self.block.extend_from_slice(b"</row>");
        self.flush(out)
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.block.extend_from_slice(workbook::SHEET_END.as_bytes());
        self.flush(out)?;
        self.archive.end(out)
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.archive.write(&self.block, out)?;
        self.block.clear();
        Ok(())
    }
}

fn row_start(number: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"<row r=\"");
    out.extend_from_slice(number.as_bytes());
    out.extend_from_slice(b"\">");
}
