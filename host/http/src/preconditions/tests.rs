//! Every branch of RFC 9110, 13.2.2.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use http::header::IF_MODIFIED_SINCE;

use super::*;

/// 2026-11-21T00:00:00.999Z.
const MODIFIED: Millis = Millis(1_795_219_200_999);
const BEFORE: &str = "Fri, 20 Nov 2026 23:59:59 GMT";
const SAME: &str = "Sat, 21 Nov 2026 00:00:00 GMT";
const AFTER: &str = "Sat, 21 Nov 2026 00:00:01 GMT";

fn status(headers: &[(HeaderName, &str)], modified: Option<Millis>) -> u16 {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name, value.parse().unwrap());
    }
    match evaluate(&map, &EntityTag::from_bytes(b"x"), modified) {
        Ok(PreconditionOutcome::Met) => 200,
        Ok(PreconditionOutcome::NotModified) => 304,
        Err(error) => error.status().as_u16(),
    }
}

#[test]
fn preconditions_are_evaluated_in_the_order_of_rfc_9110_13_2_2() {
    let own = EntityTag::from_bytes(b"x").header(None);
    let own = own.to_str().unwrap();
    let packed = own.replace('"', "") + "-gzip";
    let (packed, weak) = (format!("\"{packed}\""), format!("W/{own}"));
    let listed = format!("\"a\", {own}");
    let cases: [(&[(HeaderName, &str)], u16); 27] = [
        (&[], 200),
        // Step 1: strong comparison, any coding of the same representation.
        (&[(IF_MATCH, own)], 200),
        (&[(IF_MATCH, &packed)], 200),
        (&[(IF_MATCH, &listed)], 200),
        (&[(IF_MATCH, "\"a\""), (IF_MATCH, own)], 200),
        (&[(IF_MATCH, "*")], 200),
        (&[(IF_MATCH, "\"other\"")], 412),
        (&[(IF_MATCH, &weak)], 412),
        (&[(IF_MATCH, "")], 412),
        // Step 2: only where there is no If-Match.
        (&[(IF_UNMODIFIED_SINCE, BEFORE)], 412),
        (&[(IF_UNMODIFIED_SINCE, SAME)], 200),
        (&[(IF_UNMODIFIED_SINCE, AFTER)], 200),
        (&[(IF_UNMODIFIED_SINCE, "yesterday")], 200),
        (&[(IF_UNMODIFIED_SINCE, BEFORE), (IF_UNMODIFIED_SINCE, BEFORE)], 200),
        (&[(IF_MATCH, own), (IF_UNMODIFIED_SINCE, BEFORE)], 200),
        (&[(IF_MATCH, "\"other\""), (IF_UNMODIFIED_SINCE, AFTER)], 412),
        // Step 3: weak comparison.
        (&[(IF_NONE_MATCH, own)], 304),
        (&[(IF_NONE_MATCH, &weak)], 304),
        (&[(IF_NONE_MATCH, &packed)], 304),
        (&[(IF_NONE_MATCH, "*")], 304),
        (&[(IF_NONE_MATCH, "\"other\"")], 200),
        (&[(IF_MATCH, own), (IF_NONE_MATCH, own)], 304),
        (&[(IF_MATCH, "\"other\""), (IF_NONE_MATCH, own)], 412),
        (&[(IF_UNMODIFIED_SINCE, BEFORE), (IF_NONE_MATCH, own)], 412),
        // Step 4 is left out: no date says which snapshot a client holds.
        (&[(IF_MODIFIED_SINCE, SAME)], 200),
        (&[(IF_MODIFIED_SINCE, AFTER)], 200),
        (&[(IF_NONE_MATCH, "\"other\""), (IF_MODIFIED_SINCE, AFTER)], 200),
    ];
    for (headers, expected) in cases {
        assert_eq!(status(headers, Some(MODIFIED)), expected, "{headers:?}");
    }
    assert_eq!(
        status(&[(IF_UNMODIFIED_SINCE, BEFORE)], None),
        200,
        "what has no date is not compared with one"
    );
    assert_eq!(http_date(MODIFIED).unwrap(), SAME);
}
