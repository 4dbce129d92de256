//! Rules of structure-specific SDMX-ML, read natively; the messages are written to the standard.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_read_sdmx_ml::SdmxMlReader;
use yearbook_sdk::Value;
use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{ReadTable, check, read, read_in_chunks, request};

/// A message with this content of its data set.
fn message(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<m:StructureSpecificData xmlns:m=\"m\" xmlns:s=\"s\">\
         <m:Header><m:ID>X</m:ID></m:Header>\n<m:DataSet s:structureRef=\"A\" UNIT=\"t\">\n{content}</m:DataSet>\
         </m:StructureSpecificData>\n"
    )
}

fn columns() -> [ColumnRequest; 4] {
    [
        request("area", RequestedType::Text),
        ColumnRequest {
            name: "date".to_owned(),
            source: Some("TIME_PERIOD".to_owned()),
            requested_type: RequestedType::Date,
        },
        request("obs_value", RequestedType::Number),
        request("unit", RequestedType::Text),
    ]
}

fn table(text: &str, options: &[(&str, &str)]) -> Result<ReadTable, String> {
    let options = options.iter().map(|(name, text)| (*name, Value::Text((*text).to_owned())));
    read::<SdmxMlReader>(text.as_bytes(), &columns(), &options.collect::<Vec<_>>())
        .map_err(|refused| refused.to_string())
}

fn rows(table: &ReadTable) -> Vec<Vec<Option<&str>>> {
    table.rows.iter().map(|row| row.iter().map(Option::as_deref).collect()).collect()
}

#[test]
fn it_holds_what_every_reader_must() {
    check::<SdmxMlReader>();
}

#[test]
fn series_and_flat_observations_are_the_same_rows_contract_7() {
    let series = message(
        "<Series AREA=\"NZ\"><Obs TIME_PERIOD=\"2024-Q1\" OBS_VALUE=\"1.5\"/>\n<Obs TIME_PERIOD=\"2024-Q2\" UNIT=\"kg\"></Obs></Series>\
         <Series AREA='A&amp;U&#10;&#x14c; \"x\"'><!-- > --><Obs TIME_PERIOD='2024' OBS_VALUE='NaN'/></Series>",
    );
    let flat = message(
        "<Obs AREA=\"NZ\" TIME_PERIOD=\"2024-Q1\" OBS_VALUE=\"1.5\"/><Obs AREA=\"NZ\" TIME_PERIOD=\"2024-Q2\" UNIT=\"kg\"/>\
         <Obs AREA='A&amp;U&#10;&#x14c; \"x\"' TIME_PERIOD='2024' OBS_VALUE='NaN' xmlns='y'/>",
    );
    for text in [&series, &flat, &format!("\u{feff}{series}")] {
        let whole = table(text, &[]).unwrap();
        assert_eq!(
            rows(&whole),
            [
                [Some("NZ"), Some("2024-01-01"), Some("1.5"), Some("t")],
                [Some("NZ"), Some("2024-04-01"), None, Some("kg")],
                [Some("A&U\nŌ \"x\""), Some("2024-01-01"), None, Some("t")],
            ]
        );
        for bytes in [1, 2, 5, 64] {
            let pieces = read_in_chunks::<SdmxMlReader>(text.as_bytes(), bytes, &columns(), &[]);
            assert_eq!(pieces.as_ref(), Ok(&whole));
        }
    }
}

#[test]
fn an_observation_behind_a_series_has_nothing_of_it() {
    let text = message(
        "<Series AREA=\"NZ\"><Obs TIME_PERIOD=\"2024\" OBS_VALUE=\"1\"/></Series><Obs TIME_PERIOD=\"2025\"/>",
    );
    assert_eq!(table(&text, &[]).unwrap().column("area"), [Some("NZ"), None]);
}

#[test]
fn without_requests_the_components_of_the_first_observation_are_columns() {
    let text = message("<Obs AREA=\"NZ\" TIME_PERIOD=\"2024\" OBS_VALUE=\"1\"/>");
    let table = read::<SdmxMlReader>(text.as_bytes(), &[], &[]).unwrap();
    let found = table.columns.iter().map(|column| (column.name.as_str(), column.role));
    let roles = [None, None, Some(Role::Period), Some(Role::Value)];
    let names = ["UNIT", "AREA", "TIME_PERIOD", "OBS_VALUE"];
    assert_eq!(found.collect::<Vec<_>>(), names.into_iter().zip(roles).collect::<Vec<_>>());
}

#[test]
fn ids_and_nulls_of_messages_come_back_as_they_were_written_contract_7() {
    let text = message(
        "<Obs AREA=\"$\" TIME_PERIOD=\"2024\" OBS_VALUE=\"NaN\" UNIT=\"\"/><Obs AREA=\"New$20Zealand\" TIME_PERIOD=\"2024\"/>",
    );
    let read = table(&text, &[("nulls", "exact"), ("escaped", "AREA")]).unwrap();
    assert_eq!(read.column("area"), [Some(""), Some("New Zealand")]);
    assert_eq!(read.column("obs_value"), [Some("NaN"), None]);
    assert_eq!(read.column("unit"), [Some(""), Some("t")]);
    let read = table(&text, &[]).unwrap();
    assert_eq!(read.column("area"), [Some("$"), Some("New$20Zealand")]);
    assert_eq!((read.column("obs_value")[0], read.column("unit")[0]), (None, None));
    let refused = table(&text, &[("escaped", "AREA PLACE")]).unwrap_err();
    assert!(refused.starts_with("PLACE: stands in the option `escaped` and no"), "{refused}");
    let refused = table(&text.replace("New$20Z", "New Z"), &[("escaped", "AREA")]).unwrap_err();
    assert!(refused.starts_with("line 4, area: is no id"), "{refused}");
}

#[test]
fn a_component_that_never_comes_is_refused_unless_it_may_be_missing_contract_7() {
    let text = message("<Obs AREA=\"NZ\" TIME_PERIOD=\"2024\"/>");
    let refused = table(&text, &[]).unwrap_err();
    assert!(
        refused
            .starts_with("obs_value: no observation has \"obs_value\"; name one of its components")
            && refused.contains("AREA, TIME_PERIOD, UNIT; or write the component in the option"),
        "{refused}"
    );
    let read = table(&text, &[("optional", "OBS_VALUE"), ("escaped", "OBS_VALUE")]).unwrap();
    assert_eq!(read.column("obs_value"), [None]);
    let group = text.replace("<Obs", "<Group AREA=\"NZ\" OBS_VALUE=\"1\"/><Obs");
    let refused = table(&group, &[]).unwrap_err();
    assert!(refused.starts_with("line 4, obs_value: stands at a group"), "{refused}");
    // Of a message without observations nothing is known, and nothing is missing.
    assert!(table(&message("<Series AREA=\"NZ\"/>"), &[]).unwrap().rows.is_empty());
}

#[test]
fn sdmx_ml_is_refused_with_its_line_contract_7() {
    let good = "<Obs AREA=\"NZ\" TIME_PERIOD=\"2024\" OBS_VALUE=\"1\"/>\n";
    let whole = message(good);
    let huge = format!("<Obs AREA=\"{}", "x".repeat(9 << 20));
    let deep = "<a>".repeat(40);
    for (text, expected) in [
        (String::new(), "line 1: the file is empty"),
        ("a,b\n1,2\n".to_owned(), "line 1: has text outside all elements"),
        ("<x/>".to_owned(), "line 1: begins with \"x\"; SDMX-ML data begins with"),
        ("<m:GenericData>".to_owned(), "line 1: is generic data; ask"),
        (
            whole
                .replace("<m:Str", "<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]><m:Str"),
            "line 2: has a document type",
        ),
        (message("<Obs AREA=\"&c;\"/>"), "line 4: has AREA with an entity or"),
        (message("<![CDATA[x]]>"), "line 4: has a CDATA section"),
        (message(&huge), "line 4: begins a tag of more than 8388608 bytes"),
        (
            message(&format!("<!--{}", huge.replace('"', ""))),
            "line 4: begins a comment of more than 8388608 bytes; take it out",
        ),
        (
            message("<Obs OBS_VALUE=\"&98765;\"/>"),
            "line 4: has OBS_VALUE with an entity or a character that XML does not have, or an `&` alone",
        ),
        (message("<Obs AREA=\"&#1;\"/>"), "line 4: has AREA with an entity or a character"),
        (message("<Obs AREA=\"\u{1}\"/>"), "line 4: has a control character in a tag"),
        (message("<Obs AREA=\"<\"/>"), "line 4: has `<` in a tag"),
        (message("<Obs AREA=\"NZ\"UNIT=\"t\"/>"), "line 4: has attributes without a blank"),
        (message("<!-- a--b -->"), "line 4: has a comment with `--` in it"),
        (message("<!-- a --->"), "line 4: has a comment with `--` in it"),
        (format!("{}{good}", message("")), "line 5: has <Obs> behind the end"),
        (whole.replace("DataSet", "Data"), "line 4: has <Obs> where data of SDMX-ML has none"),
        (
            message(&format!("<Group><Series>{good}</Series></Group>")),
            "line 4: has <Series> where data of SDMX-ML has none",
        ),
        (message(&deep), "line 4: has more than 32 elements inside each other"),
        (message("<Obs AREA=\"NZ\" AREA=\"AU\"/>"), "line 4: has AREA twice in one element"),
        (message("<Obs AREA=NZ/>"), "line 4: "),
        (message("<Series AREA=\"NZ\">"), "line 4: has </m:DataSet> where <Series> is open"),
        (format!("{whole}<x/>"), "line 6: has <x> behind the end"),
        (format!("{whole}x"), "line 6: has text outside all elements"),
        (
            whole[..whole.find("</m:Str").unwrap()].to_owned(),
            "line 5: ends inside <m:StructureSpecificData>",
        ),
        (
            whole[..whole.find("OBS_VALUE").unwrap()].to_owned(),
            "line 4: begins a tag that does not",
        ),
        (whole.replace("utf-8", "ISO-8859-1"), "line 1: is ISO-8859-1, not UTF-8"),
        (
            whole.replace("UNIT", "s:action=\"Delete\" UNIT"),
            "line 3, s:action: deletes observations",
        ),
        (
            whole.replace("</m:Header>", "<m:DataSetAction> Delete\n</m:DataSetAction></m:Header>"),
            "line 3, DataSetAction: deletes observations",
        ),
        (
            message(&format!("{good}</m:DataSet><m:DataSet s:structureRef=\"B\">")),
            "line 5, s:structureRef: is another one",
        ),
        (message("<Obs><Comp id=\"AREA\"/></Obs>"), "line 4, \"AREA\": may have several values"),
        (
            message(&good.replace("\"1\"", "\"many\"")),
            "line 4, obs_value: is not a number; declare",
        ),
        (message("<Obs AREA=\"NZ\" area=\"AU\"/>"), "line 4, area: AREA and area fit it"),
    ] {
        let refused = table(&text, &[]).unwrap_err();
        assert!(refused.starts_with(expected), "{refused}\n{expected}");
        assert!(refused.len() < 1000, "{}", refused.len());
    }
    let no_text = whole.replace("NZ", "\u{1}").into_bytes();
    let no_text: Vec<u8> = no_text.into_iter().map(|b| if b == 1 { 0xff } else { b }).collect();
    let refused = read::<SdmxMlReader>(&no_text, &columns(), &[]).unwrap_err().to_string();
    assert!(refused.starts_with("line 4: is not UTF-8; convert"), "{refused}");
    for wide in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide: Vec<u8> = whole.encode_utf16().flat_map(wide).collect();
        let refused = read_in_chunks::<SdmxMlReader>(&wide, 64, &columns(), &[]).unwrap_err();
        assert!(refused.to_string().starts_with("line 1: is UTF-16, not UTF-8"), "{refused}");
    }
}

/// Ids that nobody asked for are bounded too.
#[test]
fn a_message_of_endless_components_is_refused() {
    let content: String = (0..20_000).map(|at| format!("<Obs A{at}=\"\"/>")).collect();
    let refused = table(&message(&content), &[]).unwrap_err();
    assert!(refused.starts_with("line 4: has more than 16384 components"), "{refused}");
}
