//! Languages and code lists.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;

fn tag(text: &str) -> Language {
    Language::parse(text).unwrap()
}

#[test]
fn tags_are_written_as_rfc_5646_recommends() {
    for (text, written) in [
        ("EN", "en"),
        ("pt-br", "pt-BR"),
        ("ZH-hant-TW", "zh-Hant-TW"),
        ("de-ch-1901", "de-CH-1901"),
        ("en-X-abcd-us", "en-x-abcd-us"),
    ] {
        assert_eq!(tag(text).as_str(), written, "{text}");
    }
    for wrong in ["", "e", "12", "en_GB", "en--GB", "en-", "māori", "en-toolongtag", "x-private"] {
        assert_eq!(Language::parse(wrong), None, "{wrong:?}");
    }
}

#[test]
fn a_range_finds_its_longest_beginning_rfc_4647() {
    let there = ["en", "mi", "zh-Hant"].map(tag);
    for (range, found) in [
        ("mi", Some("mi")),
        ("MI-nz", Some("mi")),
        ("zh-Hant-HK", Some("zh-Hant")),
        ("zh", None),
        ("en-a-bbb-x-a", Some("en")),
        ("*", None),
        ("", None),
    ] {
        let result = Language::lookup(range, &there).map(Language::as_str);
        assert_eq!(result, found, "{range}");
    }
}

#[test]
fn all_of_confidentiality_is_confidential_but_free_contract_21() {
    let confidentiality = StatusCodes::named("sdmx-conf").unwrap();
    for code in confidentiality.codes() {
        assert_eq!(confidentiality.is_confidential(code), Some(code != "F"), "{code}");
    }
    let observation = StatusCodes::named("sdmx-obs").unwrap();
    for code in observation.codes() {
        assert_eq!(observation.is_confidential(code), Some(code == "Q"), "{code}");
        assert!(observation.label(code, None).is_some(), "{code}");
    }
    assert_eq!(observation.is_confidential("Z"), None);
    assert_eq!(observation.is_confidential("p"), None, "codes are exact");
}

#[test]
fn search_knows_each_word_of_labels_once_and_not_without_end_contract_21() {
    let text = |text: &str| Text { text: text.to_owned(), translations: Translations::new() };
    let maori = Translations::from([(Language::parse("mi").unwrap(), "Te Ika".to_owned())]);
    let islands = ValueTexts::from([
        ("1".to_owned(), Text { translations: maori, ..text("North  Island") }),
        ("2".to_owned(), text("South Island")),
    ]);
    assert_eq!(words_of_labels([&islands]), "North Island Te Ika South");
    assert_eq!(words_of_labels([]), "");
    let many = (0..20_000).map(|number| (number.to_string(), text(&format!("word{number}"))));
    let words = words_of_labels([&many.collect()]);
    assert!(words.len() <= MAX_WORD_BYTES && words.len() > MAX_WORD_BYTES - 20);
}
