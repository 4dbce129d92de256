//! Texts that name something, and texts that do not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Display};

use super::*;
use crate::text_identity::InvalidIdentity;

const HASH_OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Checks that `text` survives JSON and printing, and that JSON refuses each of `wrong`.
fn check<T>(text: &str, wrong: &[&str])
where
    T: Serialize + DeserializeOwned + Display + Debug + std::str::FromStr<Err = InvalidIdentity>,
{
    let value: T = serde_json::from_value(text.into()).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), text);
    assert_eq!((value.to_string(), format!("{value:?}")), (text.to_owned(), format!("{text:?}")));
    assert_eq!(format!("{value:>70}").len(), 70, "widths count for tables");
    for wrong in wrong {
        let error = serde_json::from_value::<T>((*wrong).into()).unwrap_err().to_string();
        assert!(error.ends_with(&format!("not {wrong:?}")), "{error}");
        assert!(wrong.parse::<T>().is_err(), "{wrong}");
    }
}

#[test]
fn identities_are_the_texts_that_they_were_and_no_others() {
    let upper = HASH_OF_NOTHING.to_uppercase();
    check::<Digest>(HASH_OF_NOTHING, &["", &HASH_OF_NOTHING[1..], &upper, &"é".repeat(32)]);
    let id = &HASH_OF_NOTHING[..32];
    check::<SnapshotId>(id, &["", &id[1..], HASH_OF_NOTHING, &id.to_uppercase()]);
    check::<KeyId>("key_0aZ", &["", "key-1", "é", " key_1", &"a".repeat(65)]);
    check::<PluginKind>("encoder", &["", "Encoder", "decoder"]);
    check::<PluginKind>("generator", &["generators"]);
    check::<PluginKind>("reader", &["Reader"]);
    check::<Date>(
        "2024-02-29",
        &["", "2023-02-29", "2024-2-29", "2024-02-29T00:00", "0000-01-01", "20240229"],
    );
}

#[test]
fn a_digest_is_the_hash_of_bytes_and_names_a_snapshot_by_its_first_half() {
    let digest = Digest::compute(b"");
    assert_eq!((digest.as_str(), digest.short()), (HASH_OF_NOTHING, &HASH_OF_NOTHING[..12]));
    assert_eq!(Digest::from_sha256(digest.to_bytes()), digest);
    assert_eq!(SnapshotId::from_digest(digest).as_str(), &HASH_OF_NOTHING[..32]);
}

#[test]
fn identities_order_as_their_texts_do() {
    let mut digests: Vec<Digest> = (0_u8..100).map(|byte| Digest::compute(&[byte])).collect();
    digests.sort();
    assert!(digests.is_sorted_by_key(Digest::to_string));
    assert!(PluginKind::Encoder < PluginKind::Generator);
    assert!(Date::parse("0999-12-31") < Date::parse("1000-01-01"));
    assert_eq!(Date::parse("1970-01-01"), Some(Date::UNIX_EPOCH));
}
