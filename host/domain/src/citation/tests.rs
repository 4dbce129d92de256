//! Citations in every format, and the query that they name.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::query::options::OptionScalar;
use crate::query::{last_value, parse_data, parse_pairs};
use crate::read_plan::{AppliedTransform, AppliedTransforms};
use crate::{Column, ColumnRole, ColumnType, Namespace, Snapshot, fixtures, read_plan};

fn column(name: &str, role: ColumnRole) -> Column {
    // Dates are never null.
    let nullable = role != ColumnRole::Date;
    Column { nullable, ..Column::new(name, ColumnType::String, role) }
}

fn credit(source: &str, attribution: &str) -> Credit {
    Credit {
        source: source.to_owned(),
        attribution: attribution.to_owned(),
        licence: "CC-BY-4.0".to_owned(),
        licence_title: Some("Creative Commons Attribution 4.0".to_owned()),
        licence_url: Some("https://creativecommons.org/licenses/by/4.0/".to_owned()),
        source_url: None,
        source_url_precision: None,
        sources: Vec::new(),
    }
}

fn snapshot() -> Snapshot {
    Snapshot {
        id: SnapshotId::parse("0123456789abcdef0123456789abcdef").unwrap(),
        // 2026-11-21T00:00:00Z.
        created_at: Millis(1_795_219_200_000),
        rows: 1_000,
        title: Some("Consumers price index".to_owned()),
        credit: credit("Stats NZ", "Contains data © Stats NZ"),
        dimensions: vec!["region".to_owned()],
        date_column: Some("date".to_owned()),
        ..fixtures::snapshot(vec![
            column("date", ColumnRole::Date),
            column("region", ColumnRole::Dimension),
            column("value", ColumnRole::Value),
            column("geometry_wkt", ColumnRole::Geometry),
        ])
    }
}

/// The canonical text of a query string, whose limit cut the result if `cut`.
fn canonical(raw: &str, cut: bool) -> CanonicalQuery {
    let pairs = parse_pairs(raw);
    let (selection, _) = parse_data(&pairs, &["json", "csv"]).unwrap();
    let snapshot = Arc::new(snapshot());
    let name = DatasetName::parse("cpi").unwrap();
    let namespace = Namespace::parse("prices").unwrap();
    let plan = read_plan::resolve_selection(name, namespace, snapshot, &selection).unwrap();
    let limit = CanonicalQuery::explicit_limit(&selection, last_value(&pairs, "limit").is_some());
    CanonicalQuery::new(&plan, limit.filter(|_| cut))
}

fn citation(raw: &str) -> Citation {
    let query = canonical(raw, false);
    let Snapshot { id, created_at, credit, .. } = snapshot();
    let path = query.citation_path(&DatasetName::parse("cpi").unwrap(), &id);
    Citation {
        dataset: DatasetName::parse("cpi").unwrap(),
        snapshot_id: id,
        created_at,
        title: "Consumers price index".to_owned(),
        credit,
        url: format!("https://data.example.org{path}"),
        computed_by: None,
        rows: Some(1_000),
        digest: Some(ResultDigest::from_columns(0, std::iter::empty())),
        remark: None,
        query,
    }
}

#[test]
fn a_canonical_query_says_what_selects_and_nothing_else_contract_13() {
    for (raw, cut, expected) in [
        ("", false, ""),
        // Neither formats, pages nor defaults.
        ("format=csv&geometry=true&envelope=true&csv.delimiter=%3B&tap=1", false, ""),
        ("limit=0", false, ""),
        ("cursor=abc&limit=5", true, ""),
        ("dimensions=", false, ""),
        // The default limit cites everything, an explicit one only what it cut.
        ("", true, ""),
        ("limit=100", true, "limit=100"),
        ("limit=+1_00", true, "limit=100"),
        ("limit=2000", false, ""),
        ("end=2020-12-31&start=2020-01-01", false, "end=2020-12-31&start=2020-01-01"),
        ("dimensions=M%C4%81ori+food", false, "dimensions=M%C4%81ori%20food"),
        ("dimensions=a%2fb~c*", false, "dimensions=a%2Fb~c%2A"),
        // Columns: all of them are the default, all but geometry have a shorter name.
        ("columns=date,region,value,geometry_wkt", false, ""),
        ("geometry=false", false, "geometry=false"),
        ("columns=date,region,value", false, "geometry=false"),
        ("columns=date,region,value,geometry_wkt&geometry=no", false, "geometry=false"),
        ("columns=value,+date", false, "columns=value%2Cdate"),
        ("columns=value,date&geometry=0", false, "columns=value%2Cdate"),
        ("columns=value,geometry_wkt&geometry=false", false, "columns=value"),
    ] {
        assert_eq!(canonical(raw, cut).as_str(), expected, "{raw}");
    }
}

#[test]
fn a_canonical_query_names_release_and_options_of_transforms_contract_16() {
    let canonical = |raw: &str, columns: &[usize]| {
        let (selection, _) = parse_data(&parse_pairs(raw), &["json"]).unwrap();
        let name = || DatasetName::parse("cpi").unwrap();
        let namespace = || Namespace::parse("prices").unwrap();
        let (stored, input) = (Arc::new(snapshot()), selection.transform_input());
        let input = read_plan::resolve_selection(name(), namespace(), stored, &input).unwrap();
        let mut made = snapshot();
        made.columns.truncate(3);
        made.columns[2].name = "rate".to_owned();
        let made = Arc::new(made);
        let output = read_plan::resolve_made(name(), namespace(), made, &selection).unwrap();
        let option = |name: &str, value| (name.to_owned(), value);
        let options = vec![
            option("as", OptionScalar::Text("log".to_owned())),
            option("periods", OptionScalar::Integer(12)),
        ];
        let transforms = [("growth", "1.2.0", options), ("pivot", "1.0.0", Vec::new())];
        let transforms = transforms.map(|(name, version, options)| AppliedTransform {
            name: name.to_owned(),
            version: version.to_owned(),
            options,
        });
        let applied = AppliedTransforms { input, transforms: transforms.into() };
        assert_eq!(applied.to_notice(), "growth(as=log,periods=12), pivot");
        assert_eq!(applied.to_citation(), "growth 1.2.0 (as=log,periods=12), then pivot 1.0.0",);
        let sent = CanonicalQuery::of_transforms(&applied, &selection, None);
        let applied = Some(Arc::new(applied));
        let plan = read_plan::ReadPlan { applied, columns: columns.to_vec(), ..output };
        assert!(plan.is_filtered(), "only reading rows tells how many a transform gives");
        let text = CanonicalQuery::new(&plan, None).as_str().to_owned();
        assert_eq!(text.contains("apply"), selection_text(&plan).contains("apply"));
        assert_eq!(sent.as_str(), text, "a citation is the same by what was sent");
        text
    };
    let apply = "apply=growth%401.2.0%2Cpivot%401.0.0";
    let options = "growth.as=log&growth.periods=12";
    for (raw, columns, expected) in [
        ("", &[0, 1, 2][..], format!("{apply}&{options}")),
        ("geometry=false", &[0, 1, 2], format!("{apply}&geometry=false&{options}")),
        ("columns=rate,date", &[2, 0], format!("{apply}&columns=rate%2Cdate&{options}")),
        (
            "start=2020-01-01&where.value.contains=7&sort=date,-rate&last=3",
            &[0, 1, 2],
            format!(
                "{apply}&{options}&last=3&sort=date%2C-rate&start=2020-01-01&where.value.contains=7"
            ),
        ),
    ] {
        assert_eq!(canonical(raw, columns), expected, "{raw}");
    }
}

proptest! {
    #[test]
    fn a_query_has_one_text_in_any_order_and_spelling_contract_13(
        order in Just(vec![0_usize, 1, 2, 3, 4, 5, 6]).prop_shuffle(),
        search in "[a-zA-Zāé &=+%~,/?#.-]{1,12}",
        escape_all: bool,
    ) {
        let spell = |text: &str| -> String {
            let byte = |byte: u8| match byte {
                b' ' if !escape_all => "+".to_owned(),
                byte if !escape_all && byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                byte => format!("%{byte:02x}"),
            };
            text.bytes().map(byte).collect()
        };
        let pairs = [
            ("start", "2019-01-01"), ("end", "2020-12-31"), ("dimensions", search.as_str()),
            ("columns", "value,region"), ("format", "csv"), ("limit", "7"), ("unknown", "x"),
        ];
        let raw: Vec<String> = order
            .iter()
            .map(|index| format!("{}={}", pairs[*index].0, spell(pairs[*index].1)))
            .collect();
        let text = canonical(&raw.join("&"), true);
        let plain = "start=2019-01-01&end=2020-12-31&columns=value%2Cregion&limit=7";
        let expected = canonical(&format!("{plain}&dimensions={}", spell(&search)), true);
        prop_assert_eq!(&text, &expected);
        // What it says selects the same again.
        prop_assert_eq!(&canonical(text.as_str(), true), &text);
        prop_assert!(text.as_str().is_ascii());
    }
}

#[test]
fn a_citation_states_agency_date_version_licence_and_digest_contract_13() {
    let whole = citation("");
    assert_eq!(
        whole.render(CitationFormat::Text),
        format!(
            "Stats NZ (2026). Consumers price index [data set]. Version 2026-11-21 (snapshot \
             0123456789abcdef0123456789abcdef). https://data.example.org/cite/cpi/0123456789abcdef0123456789abcdef \
             Rows: 1000. Digest: {}. Licence: CC-BY-4.0. Credit: Contains data © Stats NZ.\n",
            whole.digest.unwrap()
        )
    );
    for format in CitationFormat::ALL {
        let text = whole.render(format);
        for stated in ["Stats NZ", "2026", "0123456789abcdef0123456789abcdef", "CC-BY-4.0", "yb1:"]
        {
            assert!(text.contains(stated), "{stated} is not in {text}");
        }
        assert!(text.contains("https://data.example.org/cite/cpi/"), "{text}");
        assert_eq!(CitationFormat::parse(format.name()), Some(format));
    }
    let part = citation("start=2020-01-01");
    assert!(part.url.ends_with("?start=2020-01-01"), "{}", part.url);
    let (whole, part) = (whole.render(CitationFormat::Bibtex), part.render(CitationFormat::Bibtex));
    assert!(whole.starts_with("@misc{statsnz_cpi_01234567,\n"), "{whole}");
    assert!(part.starts_with("@misc{statsnz_cpi_01234567_"), "{part}");
}

#[test]
fn hostile_titles_break_out_of_no_format_contract_13() {
    let hostile =
        "Māori {\\input{x}} & 100 % of $1_0 #~^ \"q\"\r\nER  - \n\u{85}\u{2028}}, url = {x";
    let citation = Citation {
        title: hostile.to_owned(),
        credit: credit(hostile, hostile),
        computed_by: Some(hostile.to_owned()),
        remark: Some(hostile.to_owned()),
        ..citation("")
    };
    let bibtex = citation.render(CitationFormat::Bibtex);
    let depth = |text: &str| {
        text.chars().fold((0_i32, true), |(depth, good), c| {
            let depth = depth + i32::from(c == '{') - i32::from(c == '}');
            (depth, good && depth >= 0)
        })
    };
    assert_eq!(depth(&bibtex), (0, true), "{bibtex}");
    for line in bibtex.lines().skip(1) {
        assert!(depth(line).0 == 0 || line == "}", "a field ends on its line: {line}");
    }
    let fields = bibtex.lines().filter(|line| line.trim_start().starts_with("url = {"));
    assert_eq!(fields.count(), 1, "{bibtex}");
    let ris = citation.render(CitationFormat::Ris);
    assert_eq!(ris.matches("\r\nER  - \r\n").count(), 1, "{ris}");
    assert!(ris.lines().all(|line| line.get(2..6) == Some("  - ")), "{ris}");
    for format in [CitationFormat::CslJson, CitationFormat::DataciteJson] {
        serde_json::from_str::<Value>(&citation.render(format)).unwrap();
    }
    let cff = citation.render(CitationFormat::Cff);
    assert!(!cff.contains(['\u{85}', '\u{2028}', '\r']), "{cff}");
    let text = citation.render(CitationFormat::Text);
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_selection_has_one_canonical_text_contract_15() {
    // (as sent, canonical text)
    let cases = [
        ("where.region=b&where.region=a&where.region=b", "where.region=a&where.region=b"),
        ("where.value.ge=2&where.value.ge=1", "where.value.ge=1"),
        ("where.region.null=no&last=+1", "last=1&where.region.null=false"),
        (
            "where.region.starts=M%C4%81&start=2020-01-01",
            "start=2020-01-01&where.region.starts=M%C4%81",
        ),
        ("sort=-value,%20region&limit=5", "sort=-value%2Cregion"),
        ("sort=date", ""),
        ("sort=-date", "sort=-date"),
        ("bbox=-80,35,-75.0,4e1", "bbox=-80.0%2C35.0%2C-75.0%2C40.0"),
        ("bbox=-0,0,1,1", "bbox=0.0%2C0.0%2C1.0%2C1.0"),
        ("where.date.ge=2020-01-01", "where.date.ge=2020-01-01"),
    ];
    for (raw, expected) in cases {
        assert_eq!(canonical(raw, false).as_str(), expected, "{raw}");
        assert_eq!(
            canonical(expected, false).as_str(),
            expected,
            "the canonical text means itself"
        );
    }
}
