//! Numbers as they are read.

use proptest::prelude::*;

use super::{WktReader, value};

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn a_plain_number_has_the_value_that_the_library_reads(
        text in "-?(0|[1-9][0-9]{0,8})(\\.[0-9]{1,12})?",
    ) {
        match WktReader::new(&text).plain_number() {
            Some((read, found)) => {
                prop_assert_eq!(read, &text);
                prop_assert_eq!(Some(found.to_bits()), value(&text).ok().map(f64::to_bits));
            }
            None => prop_assert!(text.bytes().filter(u8::is_ascii_digit).count() > 15, "{}", text),
        }
    }
}

#[test]
fn nothing_is_read_of_a_number_that_json_would_write_otherwise() {
    for text in [
        "",
        "-",
        ".5",
        "1.",
        "007",
        "00",
        "+1",
        "1e3",
        "1.5E2",
        "1-2",
        "1.2.3",
        "x",
        "123456789.1234567",
    ] {
        let mut reader = WktReader::new(text);
        assert_eq!(reader.plain_number(), None, "{text}");
        assert_eq!(reader.at(), 0, "{text}");
    }
    let mut reader = WktReader::new(" -0.25 7,");
    assert_eq!(reader.plain_number(), Some(("-0.25", -0.25)));
    assert_eq!(reader.plain_number(), Some(("7", 7.0)));
    assert_eq!(reader.rest(), ",");
}
