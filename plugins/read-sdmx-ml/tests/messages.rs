//! Groups, footers and reporting years of messages of SDMX-ML, read natively.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_read_sdmx_ml::SdmxMlReader;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{ReadTable, read, read_in_chunks, request};

const STATUSES: &str = "<Series K=\"a\"><Obs TIME_PERIOD=\"2024\" OBS_VALUE=\"98765.4\"/></Series>\
    <Series K=\"b\" CONF_STATUS=\"F\"><Obs TIME_PERIOD=\"2024\" OBS_VALUE=\"1\"/></Series>";

const OBSERVATION: &str = "<Obs K=\"a\" TIME_PERIOD=\"2024\" OBS_VALUE=\"98765.4\"/>";

fn message(content: &str) -> String {
    format!(
        "<m:StructureSpecificData xmlns:m=\"m\" xmlns:f=\"f\">\n{content}\n</m:StructureSpecificData>"
    )
}

fn data_set(content: &str) -> String {
    message(&format!("<m:DataSet>{content}</m:DataSet>"))
}

fn table(text: &str, names: &[&str]) -> Result<ReadTable, String> {
    let requests: Vec<_> = names.iter().map(|name| request(name, RequestedType::Text)).collect();
    let read_whole = read::<SdmxMlReader>(text.as_bytes(), &requests, &[]);
    let pieces = read_in_chunks::<SdmxMlReader>(text.as_bytes(), 3, &requests, &[]);
    assert_eq!(read_whole, pieces);
    read_whole.map_err(|refused| refused.to_string())
}

/// A value beside a group's status is secret, whatever the other series have.
#[test]
fn what_stands_at_a_group_is_never_lost_contract_7() {
    let columns = ["k", "obs_value", "conf_status"];
    let expected = "line 2, conf_status: stands at a group, and groups are not joined";
    for name in ["Group", "Atts"] {
        let group = format!("<{name} K=\"a\" CONF_STATUS=\"C\"/>");
        let own = STATUSES.replace("K=\"a\"", "K=\"a\" CONF_STATUS=\"F\"");
        let set = data_set(&format!("{group}{STATUSES}"));
        let set = set.replace("<m:DataSet", "<m:DataSet CONF_STATUS=\"F\"");
        for text in [
            data_set(&format!("{group}{STATUSES}")),
            data_set(&format!("{STATUSES}{group}")),
            data_set(&format!("{group}{own}")),
            set,
        ] {
            let refused = table(&text, &columns).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}\n{text}");
            let refused = table(&text, &[]).unwrap_err();
            assert!(refused.starts_with("line 2, CONF_STATUS: "), "{refused}\n{text}");
            // Where nobody asks for it, it is left out as that of an observation is.
            assert_eq!(table(&text, &columns[..2]).unwrap().rows.len(), 2);
        }
        let several = format!("<{name} K=\"a\"><Comp id=\"CONF_STATUS\"/></{name}>{STATUSES}");
        let refused = table(&data_set(&several), &columns).unwrap_err();
        assert!(refused.contains("may have several values"), "{refused}");
    }
}

#[test]
fn other_components_of_groups_are_taken_from_observations_that_all_have_them_contract_7() {
    let group = "<Group K=\"a\" NOTE=\"x\"/>";
    let noted = STATUSES.replace("<Series", "<Series NOTE=\"own\"");
    for text in [format!("{group}{noted}"), format!("{noted}{group}")] {
        let read = table(&data_set(&text), &["k", "note"]).unwrap();
        assert_eq!(read.column("k"), [Some("a"), Some("b")]);
        assert_eq!(read.column("note"), [Some("own"), Some("own")]);
    }
    let one = noted.replacen("NOTE=\"own\"", "", 1);
    let empty = noted.replacen("\"own\"", "\"\"", 1);
    assert!(table(&data_set(&format!("{group}{empty}")), &["note"]).is_err());
    let nested =
        noted.replacen("<Obs", "<Atts OBS_VALUE=\"2\"/><Obs", 1).replace("OBS_VALUE=\"1\"", "");
    assert!(table(&data_set(&nested), &["obs_value"]).is_err());
    for text in [format!("{group}{one}"), format!("{one}{group}")] {
        let refused = table(&data_set(&text), &["k", "note"]).unwrap_err();
        assert!(refused.starts_with("line 2, note: stands at a group"), "{refused}");
        let refused = table(&data_set(&text), &[]).unwrap_err();
        assert!(refused.starts_with("line 2, NOTE: "), "{refused}");
    }
}

#[test]
fn a_message_that_is_not_whole_is_refused_in_the_words_of_its_footer_contract_7() {
    let footer = |attributes: &str| {
        format!(
            "<f:Footer><f:Message {attributes}>\n<Text xml:lang=\"en\">Too &lt;large&gt;</Text><Text>Zu</Text></f:Message></f:Footer>"
        )
    };
    let data = format!("<m:DataSet>{OBSERVATION}</m:DataSet>");
    let fault = "line 2, Footer: the service says that the data is not whole: \"Too <large>\"; ask";
    for (content, expected) in [
        (data.clone() + &footer("code=\"510\" severity=\"Error\""), fault),
        (data.clone() + &footer("code=\"1001\" severity=\"error\""), fault),
        (data.clone() + &footer("code=\"413\" severity=\"Infomation\""), fault),
        (footer("code=\"510\" severity=\"Error\""), fault),
        (
            data.clone() + "<f:Footer><f:Message code=\"500\"/></f:Footer>",
            "line 2, Footer: the service says that the data is not whole: \"\"; ask",
        ),
        (
            footer("code=\"100\" severity=\"Information\""),
            "line 2: the message has no DataSet; its footer says \"Too <large>\"",
        ),
        ("<m:Header/>".to_owned(), "line 1: the message has no DataSet"),
    ] {
        let refused = table(&message(&content), &["k"]).unwrap_err();
        assert!(refused.starts_with(expected), "{refused}\n{content}");
    }
    let long = footer("severity=\"Error\"").replace("Too", &"x".repeat(100_000));
    assert!(table(&message(&long), &["k"]).unwrap_err().len() < 300);
    let good = data + &footer("code=\"1001\" severity=\"Warning\"");
    assert_eq!(table(&message(&good), &["k"]).unwrap().column("k"), [Some("a")]);
    assert!(table(&data_set(""), &["k"]).unwrap().rows.is_empty());
}

#[test]
fn periods_of_reporting_years_that_are_not_those_of_the_calendar_are_refused_contract_7() {
    let date = ColumnRequest {
        name: "date".to_owned(),
        source: Some("TIME_PERIOD".to_owned()),
        requested_type: RequestedType::Date,
    };
    let dates = |text: &str| {
        let read = read::<SdmxMlReader>(text.as_bytes(), std::slice::from_ref(&date), &[]);
        read.map(|table| table.column("date")[0].unwrap().to_owned())
            .map_err(|refused| refused.to_string())
    };
    let text = |level: &str, start: &str, period: &str| {
        let text = data_set(&format!("<Series K=\"a\">{OBSERVATION}</Series>"));
        let year = format!("<{level} REPORTING_YEAR_START_DAY=\"{start}\"");
        text.replace(&format!("<{level}"), &year).replace("2024", period)
    };
    for level in ["m:DataSet", "Series", "Obs"] {
        assert_eq!(dates(&text(level, "--01-01", "2024-Q1")).unwrap(), "2024-01-01");
        assert_eq!(dates(&text(level, "--07-01", "2024-08")).unwrap(), "2024-08-01");
        for period in ["2024-Q1", "2024-A1", "2024-M01", "2024-W05", "2024-D001"] {
            let refused = dates(&text(level, "--07-01", period)).unwrap_err();
            assert!(
                refused.starts_with("line 2, date: is a period of a reporting year that does not"),
                "{refused}"
            );
        }
    }
    let group = format!("<Group REPORTING_YEAR_START_DAY=\"--07-01\"/>{OBSERVATION}");
    let refused = dates(&data_set(&group)).unwrap_err();
    assert!(
        refused.starts_with("line 2, REPORTING_YEAR_START_DAY: stands at a group"),
        "{refused}"
    );
}
