//! Trust in releases: at installation, and on every host, whatever the catalog and the object store
//! hold.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_compact::{KeyPair, Seed};
use yearbook_catalog::ReleaseState;
use yearbook_domain::Digest;
use yearbook_releases::{
    ComponentFile, InstallOptions, InstalledRelease, ReleaseError, Signature, TrustError,
    TrustPolicy, install,
};
use yearbook_storage::ObjectStorage;
use yearbook_tests::app::TestApp;
use yearbook_tests::components::component;

use super::test_hosts::{
    embedded, eventually, patched, record_release, second_host_with, serving, start_reconciler,
};

/// A person's key, distinguished from others by its first byte.
pub(super) fn key(person: u8) -> KeyPair {
    KeyPair::from_seed(Seed::new([person; 32]))
}

/// Fields of a key or a signature of minisign: algorithm, the key's identifier, and the bytes.
fn signature_text(person: &KeyPair, bytes: &[u8]) -> String {
    STANDARD.encode([b"Ed".as_slice(), &person.pk[..8], bytes].concat())
}

/// As `minisign -l` signs: the component, then signature and comment.
pub(super) fn signed(bytes: &[u8], key: &KeyPair) -> Signature {
    let over = |bytes: &[u8]| key.sk.sign(bytes, None);
    let signature = over(bytes);
    let comment = "made by a test";
    let global =
        STANDARD.encode(over(&[signature.as_slice(), comment.as_bytes()].concat()).as_slice());
    let line = signature_text(key, signature.as_slice());
    Signature::from_bytes(
        format!("untrusted comment: x\n{line}\ntrusted comment: {comment}\n{global}\n").as_bytes(),
    )
}

/// Settings as an operator writes them.
pub(super) fn trust(require: &str, digests: &[&Digest], keys: &[&KeyPair]) -> TrustPolicy {
    let keys: Vec<String> = keys.iter().map(|key| signature_text(key, key.pk.as_slice())).collect();
    serde_json::from_value(
        serde_json::json!({ "require": require, "allowed_digests": digests, "trusted_keys": keys }),
    )
    .unwrap()
}

async fn installed(
    app: &TestApp,
    trust: &TrustPolicy,
    bytes: Vec<u8>,
    signature: Option<Signature>,
) -> Result<InstalledRelease, ReleaseError> {
    let component = ComponentFile::read(bytes, 32 << 20).unwrap();
    let wish =
        InstallOptions { now: true, by: "ann".to_owned(), reason: None, signature, origin: None };
    install(&app.store, &app.files, &app.sandbox, trust, component, wish).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_trusted_is_refused_before_anything_of_it_is_compiled() {
    let app = TestApp::start().await;
    let (ann, eve) = (key(1), key(2));
    let trust = trust("signature", &[], &[&ann]);
    // No compiler takes this: the sentence shows that none has seen it.
    let broken = [component("csv").as_slice(), b"\0"].concat();
    for (bytes, signature) in [
        (broken.clone(), None),
        (broken.clone(), Some(signed(&broken, &eve))),
        (component("csv"), Some(signed(&component("json"), &ann))),
        (component("csv"), Some(Signature::from_bytes(b"signed, believe me"))),
    ] {
        let refused = installed(&app, &trust, bytes, signature).await.err().unwrap();
        assert!(matches!(refused, ReleaseError::Untrusted(_)), "{refused}");
    }
    assert!(
        app.store.releases().await.unwrap().iter().all(|release| release.id.name != "csv"),
        "nothing is recorded"
    );
    let csv = installed(&app, &trust, component("csv"), Some(signed(&component("csv"), &ann)))
        .await
        .unwrap();
    assert_eq!(csv.state, ReleaseState::Promoted);
    let digest = trust_error(
        installed(&app, &self::trust("digest", &[], &[]), component("csv"), None).await,
    );
    assert!(
        digest.contains(csv.id.digest.as_str()) && digest.contains("plugins.allowed_digests"),
        "{digest}"
    );
}

fn trust_error(outcome: Result<InstalledRelease, ReleaseError>) -> String {
    match outcome {
        Err(ReleaseError::Untrusted(untrusted)) => untrusted.to_string(),
        other => panic!("{:?}", other.map(|installed| installed.id)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_runs_nothing_that_a_tampered_store_or_catalogue_puts_there() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let (ann, eve) = (key(1), key(2));
    let trust = trust("signature", &[], &[&ann]);
    let good = installed(&app, &trust, component("csv"), Some(signed(&component("csv"), &ann)))
        .await
        .unwrap();
    // A writer of both can put a release there that needs no install, and anybody's signature
    // with it.
    let newer = patched("csv", "0.1.0", "0.6.6");
    let evil = record_release(&app, newer.clone(), ReleaseState::Promoted).await;
    let (_host, registry, _live) = second_host_with(&app, trust.clone()).await;
    eventually(|| serving(&registry, "csv").is_some()).await;
    assert_eq!(
        serving(&registry, "csv").unwrap(),
        good.id.digest,
        "passed over for the one before"
    );
    assert!(serving(&registry, "json").is_some(), "what came with the binary needs no signature");
    app.files
        .put_signature(&evil.digest, signed(&newer, &eve).as_str().to_owned().into())
        .await
        .unwrap();
    let (_host, registry, _live) = second_host_with(&app, trust.clone()).await;
    eventually(|| serving(&registry, "csv").is_some()).await;
    assert_eq!(serving(&registry, "csv").unwrap(), good.id.digest);
    // Signed by somebody who is trusted, it serves.
    app.files
        .put_signature(&evil.digest, signed(&newer, &ann).as_str().to_owned().into())
        .await
        .unwrap();
    let (_host, registry, _live) = second_host_with(&app, trust).await;
    eventually(|| serving(&registry, "csv").as_ref() == Some(&evil.digest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_starts_with_fewer_keys_passes_over_what_they_signed() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let (ann, bob) = (key(1), key(3));
    let both = trust("signature", &[], &[&ann, &bob]);
    let (old, new) = (component("csv"), patched("csv", "0.1.0", "0.2.0"));
    let first = installed(&app, &both, old.clone(), Some(signed(&old, &ann))).await.unwrap();
    let second = installed(&app, &both, new.clone(), Some(signed(&new, &bob))).await.unwrap();
    for (settings, expected) in [
        (both, Some(&second.id.digest)),
        (trust("signature", &[], &[&ann]), Some(&first.id.digest)),
        (trust("digest", &[&first.id.digest], &[]), Some(&first.id.digest)),
        (trust("either", &[&second.id.digest], &[]), Some(&second.id.digest)),
        (trust("both", &[&second.id.digest], &[&ann]), None),
    ] {
        let (_host, registry, catalog_cache) = second_host_with(&app, settings.clone()).await;
        eventually(|| serving(&registry, "json").is_some()).await;
        catalog_cache.refresh().await.unwrap();
        eventually(|| serving(&registry, "csv").as_ref() == expected).await;
        assert_eq!(registry.current().is_unavailable("csv"), expected.is_none(), "{settings:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_is_signed_later_is_checked_again() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let ann = key(1);
    let trust = trust("signature", &[], &[&ann]);
    let csv = installed(&app, &TrustPolicy::default(), component("csv"), None).await.unwrap();
    let (reconciler, registry, catalog_cache) = second_host_with(&app, trust).await;
    eventually(|| registry.current().is_unavailable("csv")).await;
    app.files
        .put_signature(&csv.id.digest, signed(&component("csv"), &ann).as_str().to_owned().into())
        .await
        .unwrap();
    let releases = Arc::clone(&catalog_cache.releases().borrow());
    assert!(reconciler.apply(&releases).await);
    assert_eq!(serving(&registry, "csv").unwrap(), csv.id.digest);
    assert!(
        app.folder
            .path()
            .join("objects")
            .join(ObjectStorage::signature_key(&csv.id.digest))
            .is_file()
    );
}

#[test]
fn a_sentence_names_digest_key_and_what_to_do() {
    let (digest, key) = (Digest::compute(b"d"), "AF26".to_owned());
    for (untrusted, words) in [
        (TrustError::UnknownKey { digest, key: key.clone() }, ["AF26", "plugins.trusted_keys"]),
        (TrustError::Signature { digest, key }, ["AF26", "--write-component"]),
        (TrustError::Unsigned { digest }, ["minisign -Sm", "--signature"]),
    ] {
        let sentence = untrusted.to_string();
        assert!(
            sentence.contains(digest.as_str()) && words.iter().all(|word| sentence.contains(word)),
            "{sentence}"
        );
    }
}
