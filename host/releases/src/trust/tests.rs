//! Signatures here were made by minisign 0.11 over [`COMPONENT`].
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const COMPONENT: &[u8] = b"a component";
const DIGEST: &str = "626d0ce33ca550dc06351c3ea7b698be557ff5d35bf25edc44221b561838594c";
const KEY: &str = "RWSvqcZ0EDklpqBJPkkJmHDSUSsM0iXpl/KZbwTOSn1VDTpF2buz20MA";
const OTHER_KEY: &str = "RWQ4trlARGjyCv6Z2HynHjo29HHJMXx+exVpGFUVhrUaQMeJmcIbqw2X";
/// By [`KEY`], over the hash.
const SIGNATURE: &str = "untrusted comment: signature from minisign secret key
RUSvqcZ0EDklpiT2wPJiuVHXF/lxa9M72qAoTFz8MAThSpnrayaTxSvfTexxvWGsDvpB87mNEIyXk1VNQv2UBY2VGsQlR2+NBQk=
trusted comment: made for a test
8rAUzPQBjIGcdfW5S5kxUooEhzf2yESpzFsDwh4CyWp9ALJFtgVfqqSEzoxJFb2h2rvUYHnc0prWanSgATM3Dw==
";
/// By [`KEY`], over the file (`minisign -l`).
const LEGACY: &str = "untrusted comment: signature from minisign secret key
RWSvqcZ0EDklpvrJwSiRn+FxYVsZ2fb/m9hlv+8q57WbVtuCaj7lK9RwL6Z2aVyEQVtd4nC8jFudsmf92okjK2fV9w+C315SOw0=
trusted comment: made for a test
BmvhT8Jwelqe3bePP02fdi4R+y8OtXKdxQePjYV7W9vhL5ptONSKgkV7nyCCWHbyF8lVOXXmLfKZdYQf4b8fCQ==
";
/// By [`OTHER_KEY`].
const FOREIGN: &str = "untrusted comment: signature from minisign secret key
RUQ4trlARGjyCsN44d+mFFs09CNUpUfjbuL6Ak6dDrpN9d9oeZZy1pfaVKJMQTYsMzVeuU2yvXsmgSVm1wU/JdP1rGrFwV6YMw8=
trusted comment: made for a test
JNxjhTcQMTdn/MS6cEaXmOV6ajEQoyDVrv0tfrt9++CSkMrOdbTm1JRcLWKeW995vj70BZeIsbJmASqkkoqCCQ==
";

fn trust(require: TrustRequirement, digests: &[&str], keys: &[&str]) -> TrustPolicy {
    TrustPolicy {
        require,
        allowed_digests: digests.iter().map(|digest| Digest::parse(digest).unwrap()).collect(),
        trusted_keys: keys
            .iter()
            .map(|key| TrustedKey::try_from((*key).to_owned()).unwrap())
            .collect(),
    }
}

fn signature(text: &str) -> Option<Signature> {
    Some(Signature::from_bytes(text.as_bytes()))
}

#[test]
fn what_is_required_is_what_is_judged() {
    let other = "0".repeat(64);
    let (right, wrong) = ([DIGEST], [other.as_str()]);
    for (require, digest, signed, expected) in [
        (TrustRequirement::None, false, false, true),
        (TrustRequirement::Digest, true, false, true),
        (TrustRequirement::Digest, false, true, false),
        (TrustRequirement::Signature, true, false, false),
        (TrustRequirement::Signature, false, true, true),
        (TrustRequirement::Either, true, false, true),
        (TrustRequirement::Either, false, true, true),
        (TrustRequirement::Either, false, false, false),
        (TrustRequirement::Both, true, true, true),
        (TrustRequirement::Both, true, false, false),
        (TrustRequirement::Both, false, true, false),
    ] {
        let trust = trust(require, if digest { &right } else { &wrong }, &[KEY]);
        let came = if signed { signature(SIGNATURE) } else { None };
        assert_eq!(
            trust.verify(COMPONENT, came.as_ref()).is_ok(),
            expected,
            "{require:?} {digest} {signed}"
        );
    }
}

#[test]
fn signatures_of_both_forms_count_and_none_of_other_bytes_or_keys() {
    let trust = trust(TrustRequirement::Signature, &[], &[KEY]);
    let judge = |component: &[u8], text: &str| trust.verify(component, signature(text).as_ref());
    assert_eq!((judge(COMPONENT, SIGNATURE), judge(COMPONENT, LEGACY)), (Ok(()), Ok(())));
    let (key, digest) = ("A625391074C6A9AF".to_owned(), Digest::parse(DIGEST).unwrap());
    assert_eq!(
        judge(COMPONENT, FOREIGN),
        Err(TrustError::UnknownKey { digest, key: "AF2684440B9B638".to_owned() })
    );
    assert!(matches!(judge(b"another component", SIGNATURE), Err(TrustError::Signature { .. })));
    for (from, to) in [("made for", "made by"), ("JiuVHX", "JiuVHY"), ("8rAUz", "8rAUy")] {
        let forged = judge(COMPONENT, &SIGNATURE.replace(from, to));
        assert_eq!(forged, Err(TrustError::Signature { digest, key: key.clone() }), "{from}");
    }
    for nothing in ["", "untrusted comment: x", "a\nb\nc\nd", &"x".repeat(5_000), &SIGNATURE[..200]]
    {
        assert!(
            matches!(judge(COMPONENT, nothing), Err(TrustError::Unreadable { .. })),
            "{nothing}"
        );
    }
    assert_eq!(trust.verify(COMPONENT, None), Err(TrustError::Unsigned { digest }));
}

#[test]
fn a_key_that_borrows_the_identifier_of_a_trusted_one_is_nobody() {
    use base64::Engine as _;
    let standard = base64::engine::general_purpose::STANDARD;
    let (mut key, honest) = (standard.decode(OTHER_KEY).unwrap(), standard.decode(KEY).unwrap());
    key[2..10].copy_from_slice(&honest[2..10]);
    let trust = trust(TrustRequirement::Signature, &[], &[&standard.encode(key)]);
    assert!(matches!(
        trust.verify(COMPONENT, signature(SIGNATURE).as_ref()),
        Err(TrustError::Signature { .. })
    ));
}

#[test]
fn settings_that_are_no_digest_or_no_key_are_refused_with_an_example() {
    let read =
        |json: &str| serde_json::from_str::<TrustPolicy>(json).map_err(|error| error.to_string());
    let good =
        format!(r#"{{"require":"both","allowed_digests":["{DIGEST}"],"trusted_keys":["{KEY}"]}}"#);
    assert_eq!(read(&good).unwrap(), trust(TrustRequirement::Both, &[DIGEST], &[KEY]));
    assert!(read(r#"{"allowed_digests":["AB"]}"#).unwrap_err().contains("64 digits"));
    assert!(
        read(r#"{"trusted_keys":["ssh-ed25519 AAAA"]}"#)
            .unwrap_err()
            .contains("second line of minisign.pub")
    );
}
