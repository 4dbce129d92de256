//! Texts that contain a pattern: simple case folding, nothing else (contract-3-folding).

use proptest::prelude::*;

use super::*;

fn hits(needle: &str, texts: &[Option<&str>]) -> Vec<bool> {
    let texts = StringArray::from(texts.to_vec());
    SearchPattern::new(needle).hits(&CaseFolded::new(&texts), texts.nulls()).iter().collect()
}

fn is_in(needle: &str, text: &str) -> bool {
    hits(needle, &[Some(text)])[0]
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
fn prefixes_are_folded_contract_15() {
    let texts =
        StringArray::from(vec![Some("Māori"), Some("MĀ"), None, Some("xmā"), Some("m"), None]);
    let hits = |prefix: &str| {
        SearchPattern::new(prefix).prefix_hits(&CaseFolded::new(&texts)).iter().collect::<Vec<_>>()
    };
    assert_eq!(hits("mā"), [true, true, false, false, false, false]);
    assert_eq!(hits("māori land"), [false; 6]);
    assert_eq!(hits(""), [true; 6], "a null is left out by those who know of it");
}

#[test]
fn metacharacters_stand_for_themselves_spec_4_1() {
    for text in [
        ".", "*", "a.c", "[a-z]", "(", ")", "\\", "\\d", "^", "$", "|", "+?", "{2}", "#", " ",
        "\n", "\0", "-", "&&", "~~", "a\\", "(?i)",
    ] {
        assert!(is_in(text, &format!("x{text}y")), "{text:?}");
        assert!(!is_in(text, "xazy9Q"), "{text:?}");
    }
}

#[test]
fn the_longest_needle_that_an_address_can_carry_is_looked_for_at_once() {
    for letter in ["k", "ς", "漢"] {
        let text = letter.repeat(65_536 / letter.len());
        let begun = std::time::Instant::now();
        assert!(is_in(&text, &text.to_uppercase()) && !is_in(&text, letter));
        // Across the ends of texts it is found again and again, and never counts.
        let short = vec![Some(letter); 200_000];
        assert!(!hits(&text, &short).contains(&true));
        let half = letter.repeat(40_000 / letter.len());
        assert!(!hits(&text, &vec![Some(half.as_str()); 20]).contains(&true));
        assert!(begun.elapsed() < std::time::Duration::from_secs(1));
    }
}

#[test]
fn nulls_never_match_and_nothing_is_in_everything_else() {
    assert_eq!(hits("TAG", &[Some("Wellington"), Some("Otago"), None]), [false, true, false]);
    assert_eq!(hits("", &[Some("a"), Some(""), None, Some("ā")]), [true, true, false, true]);
    assert_eq!(hits("", &[]), [false; 0]);
    assert_eq!(hits("x", &[None, None]), [false, false]);
    let sliced = StringArray::from(vec![Some("ab"), Some("b"), None, Some("bā")]).slice(1, 3);
    let found: Vec<bool> =
        SearchPattern::new("B").hits(&CaseFolded::new(&sliced), sliced.nulls()).iter().collect();
    assert_eq!(found, [true, false, true]);
}

#[test]
fn what_two_texts_make_together_is_no_match() {
    assert_eq!(
        hits("ab", &[Some("a"), Some("b"), Some("ab"), Some("xa"), Some("b")]),
        [false, false, true, false, false]
    );
    assert_eq!(
        hits("aa", &[Some("aaa"), Some("a"), Some("a"), Some("baa"), Some("")]),
        [true, false, false, true, false]
    );
}

proptest! {
    #[test]
    fn searching_in_bulk_finds_what_searching_one_by_one_finds(
        texts in prop::collection::vec(prop::option::weighted(0.9, "[aAbKſ\u{212a}σ]{0,4}"), 0..60),
        needle in "[abkSς]{0,3}",
    ) {
        let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        let one_by_one = |text: &Option<&str>| text.is_some_and(|text| {
            let (mut folded, mut wanted) = (Vec::new(), Vec::new());
            append_folded(text, &mut folded);
            append_folded(&needle, &mut wanted);
            wanted.is_empty() || folded.windows(wanted.len()).any(|window| window == wanted)
        });
        prop_assert_eq!(hits(&needle, &texts), texts.iter().map(one_by_one).collect::<Vec<_>>());
    }
}
