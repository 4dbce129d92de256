//! The parts of a workbook that are the same for all tables, and the sheet that says where the data
//! comes from.

use yearbook_sdk::Schema;

use crate::cell::{self, CellRef};
use crate::xml;

/// Every XML file is a sheet unless it is named, so that the first file need not know how many
/// sheets there will be.
pub(crate) const CONTENT_TYPES: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    "\n",
    r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">"#,
    r#"<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>"#,
    r#"<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"#,
    r#"<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>"#,
    r#"<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>"#,
    "</Types>"
);

pub(crate) const RELATIONS: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    "\n",
    r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" "#,
    r#"Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
);

/// Style 0 is plain, 1 a date, 2 bold.
pub(crate) const STYLES: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    "\n",
    r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">"#,
    r#"<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/></numFmts>"#,
    r#"<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>"#,
    r#"<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>"#,
    r#"<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"#,
    r#"<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>"#,
    r#"<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>"#,
    r#"<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>"#,
    r#"<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>"#,
    r#"<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#
);

/// Before the rows of a sheet of data: the first row stays when the others are scrolled.
pub(crate) const SHEET: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    "\n",
    r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">"#,
    r#"<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>"#
);

pub(crate) const SHEET_END: &str = "</sheetData></worksheet>";

const ABOUT: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    "\n",
    r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"#
);

/// Path of a sheet's file in the archive; sheets count from 1.
pub(crate) fn sheet_path(sheet: usize) -> String {
    format!("xl/worksheets/sheet{sheet}.xml")
}

/// Parts that list the sheets and their files: `data` sheets of rows, then the one about them.
pub(crate) fn closing_parts(data: usize) -> [(&'static str, String); 2] {
    let (mut sheets, mut relations) = (String::new(), String::new());
    for sheet in 1..=data + 1 {
        let name = match sheet {
            1 => "data".to_owned(),
            _ if sheet > data => "about".to_owned(),
            _ => format!("data {sheet}"),
        };
        sheets += &format!(r#"<sheet name="{name}" sheetId="{sheet}" r:id="rId{sheet}"/>"#);
        relations += &relation(sheet, "worksheet", &format!("worksheets/sheet{sheet}.xml"));
    }
    relations += &relation(data + 2, "styles", "styles.xml");
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
    let workbook = format!(
        "{head}<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>{sheets}</sheets></workbook>"
    );
    let relations = format!(
        "{head}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{relations}</Relationships>"
    );
    [("xl/workbook.xml", workbook), ("xl/_rels/workbook.xml.rels", relations)]
}

fn relation(id: usize, kind: &str, target: &str) -> String {
    let base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    format!(r#"<Relationship Id="rId{id}" Type="{base}/{kind}" Target="{target}"/>"#)
}

/// The sheet `about`: names on the left, what they are on the right. `cut` are columns with the
/// number of their cells that do not hold all of their text.
pub(crate) fn about_sheet(schema: &Schema, rows: u64, cut: &[(&str, u64)]) -> Vec<u8> {
    let mut lines: Vec<(String, String)> = schema
        .provenance()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let notes = schema.metadata("yearbook.notes").into_iter().flat_map(str::lines);
    lines.extend(notes.map(|note| ("note".to_owned(), note.to_owned())));
    lines.push(("rows".to_owned(), rows.to_string()));
    for (column, cells) in cut {
        let noun = if *cells == 1 { "cell" } else { "cells" };
        let cut =
            format!("{cells} {noun}, to the {} characters that a cell holds", xml::MAX_CELL_UNITS);
        lines.push((format!("cut in {column}"), cut));
    }
    let mut out = ABOUT.as_bytes().to_vec();
    for (position, (name, value)) in lines.iter().enumerate() {
        let row = (position + 1).to_string();
        out.extend_from_slice(format!("<row r=\"{row}\">").as_bytes());
        cell::text(name, &CellRef { column: "A", row: &row }, " s=\"2\"", &mut out);
        cell::text(value, &CellRef { column: "B", row: &row }, "", &mut out);
        out.extend_from_slice(b"</row>");
    }
    out.extend_from_slice(SHEET_END.as_bytes());
    out
}
