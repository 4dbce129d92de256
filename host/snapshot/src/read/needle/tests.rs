//! What contains a needle: simple case folding, nothing else (contract 3).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{DictionaryArray, Int32Array};

use super::*;

fn is_in(needle: &str, text: &str) -> bool {
    Needle::new(needle).is_in(text, &mut vec![b'x'; 3])
}

#[test]
fn folding_is_simple_unicode_folding_contract_3() {
    let check = |needle: &str, text: &str, expected: bool| {
        assert_eq!(is_in(needle, text), expected, "{needle:?} in {text:?}");
    };
    check("auckland", "Greater AUCKLAND region", true);
    check("k", "\u{212a}", true); // Kelvin sign
    check("\u{212a}", "oK", true);
    check("s", "ſ", true); // long s
    check("ſ", "S", true);
    for sigma in ["Σ", "σ", "ς"] {
        for other in ["Σ", "σ", "ς"] {
            check(sigma, other, true);
        }
    }
    check("ß", "ẞ", true); // folds to one character …
    check("ss", "ß", false); // … and never to two
    check("ß", "ss", false);
    check("ff", "ﬀ", false);
    check("i", "İ", false); // dotted capital I folds to itself
    check("ı", "I", false);
    check("İ", "İ", true);
    check("å", "\u{212b}", true); // Ångström sign
    check("μ", "µ", true); // micro sign
    check("māori", "MĀORI", true);
    check("maori", "Māori", false);
    check("é", "e\u{301}", false); // nothing is normalised
    check("E\u{301}", "e\u{301}", true);
}

#[test]
fn metacharacters_stand_for_themselves_spec_4_1() {
    for text in
        [".", "*", "a.c", "[a-z]", "(", ")", "\\", "\\d", "^", "$", "|", "+?", "{2}", "#", " ", "\n", "\0", "-", "&&", "~~", "a\\", "(?i)"]
    {
        assert!(is_in(text, &format!("x{text}y")), "{text:?}");
        assert!(!is_in(text, "xazy9Q"), "{text:?}");
    }
}

#[test]
fn the_longest_needle_that_an_address_can_carry_is_looked_for_at_once() {
    for letter in ["k", "ς", "漢"] {
        let text = letter.repeat(65_536 / letter.len());
        let begun = std::time::Instant::now();
        let needle = Needle::new(&text);
        assert!(needle.is_in(&text.to_uppercase(), &mut vec![]) && !needle.is_in(letter, &mut vec![]));
        assert!(begun.elapsed() < std::time::Duration::from_secs(1));
    }
}

#[test]
fn a_dictionary_is_searched_once_and_nulls_never_match() {
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("Wellington"), Some("Otago"), None]));
    let keyed = |keys: Vec<Option<i32>>| {
        let keyed = DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), Arc::clone(&values)).unwrap();
        RecordBatch::try_from_iter([("d", Arc::new(keyed) as ArrayRef)]).unwrap()
    };
    let mut search = Search::new(Needle::new("TAG"), 1);
    assert!(!search.no_dictionary_matches(), "nothing is known yet");
    let rows = search.rows(&keyed(vec![Some(0), Some(1), None, Some(2), Some(1)])).unwrap();
    assert_eq!(rows, BooleanBuffer::from(vec![false, true, false, false, true]));
    let before = search.seen[0].as_ref().unwrap().hits.inner().as_ptr();
    search.rows(&keyed(vec![Some(1)])).unwrap();
    assert_eq!(search.seen[0].as_ref().unwrap().hits.inner().as_ptr(), before, "the same dictionary is not searched again");
    let mut search = Search::new(Needle::new("Nelson"), 1);
    assert!(!search.rows(&keyed(vec![Some(1), None])).unwrap().has_true());
    assert!(search.no_dictionary_matches());
}

#[test]
fn any_column_may_contain_it_plain_text_too() {
    let plain: ArrayRef = Arc::new(StringArray::from(vec![Some("ab"), None, Some("x")]));
    let other: ArrayRef = Arc::new(StringArray::from(vec![None, Some("cAb"), Some("y")]));
    let batch = RecordBatch::try_from_iter([("p", plain), ("o", other)]).unwrap();
    let mut search = Search::new(Needle::new("AB"), 2);
    assert_eq!(search.rows(&batch).unwrap(), BooleanBuffer::from(vec![true, true, false]));
    assert!(!search.no_dictionary_matches(), "plain text says nothing about later batches");
}
