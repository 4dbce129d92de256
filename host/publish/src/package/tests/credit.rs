//! Credit, licences and sources.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_domain::credit::SourceUrlPrecision;

use super::{good, open, problem, with};

#[test]
fn the_credit_is_composed_where_the_descriptor_gives_none() {
    let credit = open(&good()).unwrap().credit;
    assert_eq!(credit.source, "Stats NZ");
    assert_eq!(credit.licence, "CC-BY-4.0", "the header carries licenses[0].name");
    let composed = "Stats NZ, Consumer prices, https://stats.govt.nz/cpi. Licence: Creative Commons Attribution 4.0.";
    assert_eq!(credit.attribution, composed);
    assert_eq!(credit.source_url_precision, Some(SourceUrlPrecision::Dataset));
    let credit = open(&with("/yearbook/attribution_text", json!("Crown © 2026"))).unwrap().credit;
    assert_eq!(credit.attribution, "Crown © 2026");
    let credit = open(&with("/yearbook/source", json!("Tatauranga Aotearoa"))).unwrap().credit;
    assert_eq!(credit.source, "Tatauranga Aotearoa");
}

#[test]
fn precision_of_the_source_address_spec_2_1() {
    for (url, expected) in [
        ("https://www.stats.govt.nz", SourceUrlPrecision::Source),
        ("https://www.stats.govt.nz/", SourceUrlPrecision::Source),
        ("https://www.stats.govt.nz/cpi", SourceUrlPrecision::Dataset),
    ] {
        let credit =
            open(&with("/sources", json!([{"title": "Stats NZ", "path": url}]))).unwrap().credit;
        assert_eq!(credit.source_url_precision, Some(expected), "{url}");
    }
    let credit = open(&with("/yearbook/source_url_precision", json!("source"))).unwrap().credit;
    assert_eq!(
        credit.source_url_precision,
        Some(SourceUrlPrecision::Source),
        "what is stated wins"
    );
    let credit = open(&with("/sources", json!([{"title": "Stats NZ"}]))).unwrap().credit;
    assert_eq!((credit.source_url, credit.source_url_precision), (None, None));
}

#[test]
fn a_licence_that_is_not_known_to_allow_redistribution_needs_the_word_contract_7() {
    for (licence, allowed) in [
        ("CC-BY-4.0", true),
        ("CC0-1.0", true),
        ("other-pd", true),
        ("OGL-UK-3.0", true),
        ("ODbL-1.0", true),
    ] {
        assert_eq!(
            open(&with("/licenses", json!([{"name": licence}]))).unwrap().bulk_redistribution,
            allowed,
            "{licence}"
        );
    }
    for licence in [
        "CC-BY-NC-ND-4.0",
        "CC-BY-NC-4.0",
        "CC-BY-ND-4.0",
        "CC-BY-4.0-NC",
        "LicenseRef-Demo-No-Bulk",
        "Public Domain?",
    ] {
        let mut descriptor = with("/licenses", json!([{"name": licence}]));
        let expected = format!(
            "yearbook.bulk_redistribution: is missing, and the licence {licence:?} is not known to allow redistribution"
        );
        let found = problem(&descriptor);
        assert!(found.starts_with(&expected), "{found}");
        for said in [true, false] {
            descriptor["yearbook"]["bulk_redistribution"] = json!(said);
            assert_eq!(open(&descriptor).unwrap().bulk_redistribution, said, "{licence}");
        }
    }
    assert!(
        !open(&with("/yearbook/bulk_redistribution", json!(false))).unwrap().bulk_redistribution,
        "the word wins over the licence"
    );
}

#[test]
fn licence_title_and_address_and_every_source_are_kept_contract_7() {
    let mut descriptor = with(
        "/sources",
        json!([
            {"title": "Stats NZ", "path": "https://stats.govt.nz/cpi", "email": "a@b.nz"},
            {"title": "LINZ"},
            {"path": "https://c.example/x"},
            {"email": "nobody@d.example"},
        ]),
    );
    descriptor["licenses"][0]["path"] = json!("https://creativecommons.org/licenses/by/4.0/");
    let credit = open(&descriptor).unwrap().credit;
    assert_eq!(credit.licence_title.as_deref(), Some("Creative Commons Attribution 4.0"));
    assert_eq!(credit.licence_url.as_deref(), Some("https://creativecommons.org/licenses/by/4.0/"));
    let sources: Vec<_> = credit
        .sources
        .iter()
        .map(|source| (source.title.as_deref(), source.path.as_deref()))
        .collect();
    assert_eq!(
        sources,
        [
            (Some("Stats NZ"), Some("https://stats.govt.nz/cpi")),
            (Some("LINZ"), None),
            (None, Some("https://c.example/x"))
        ],
        "in the package's order, without those that say nothing"
    );
    let credit = open(&with("/licenses/0/path", json!("LICENCE.md"))).unwrap().credit;
    assert_eq!(credit.licence_url, None, "a file of the package is not served");
}

#[test]
fn an_empty_list_of_sources_leaves_the_agency_to_the_extension() {
    assert!(problem(&with("/sources", json!([]))).starts_with("yearbook.source: is missing"));
}

#[test]
fn a_source_must_be_known_and_a_precision_needs_an_address() {
    let mut descriptor = good();
    descriptor.as_object_mut().unwrap().remove("sources");
    assert!(problem(&descriptor).starts_with("yearbook.source: is missing"));
    descriptor["yearbook"]["source"] = json!("Stats NZ");
    assert_eq!(open(&descriptor).unwrap().credit.source_url, None);
    descriptor["yearbook"]["source_url_precision"] = json!("dataset");
    assert!(
        problem(&descriptor)
            .starts_with("yearbook.source_url_precision: is given but no address is")
    );
}
