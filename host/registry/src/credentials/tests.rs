//! Credentials that a registry is sent, from files, helpers and variables of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use super::*;

fn reference(host: &str) -> RegistryReference {
    RegistryReference::parse(&format!("oci://{host}/a/b:1")).unwrap()
}

fn basic(username: &str, secret: &str) -> Credentials {
    Credentials::Basic { username: username.to_owned(), secret: secret.to_owned() }
}

fn sources(variables: &[(&str, &str)]) -> Result<CredentialSources, CredentialError> {
    let variables: Vec<_> =
        variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    CredentialSources::from_variables(&variables)
}

fn with_config(folder: &Path, config: &str) -> CredentialSources {
    std::fs::write(folder.join("config.json"), config).unwrap();
    sources(&[("DOCKER_CONFIG", folder.to_str().unwrap())]).unwrap()
}

#[test]
fn variables_are_for_the_registry_that_they_name_and_no_other() {
    let sources = sources(&[
        ("YEARBOOK_REGISTRY_HOST", "https://Registry.example.org:5000/"),
        ("YEARBOOK_REGISTRY_USERNAME", "ann"),
        ("YEARBOOK_REGISTRY_PASSWORD", "pw"),
    ])
    .unwrap();
    let found = |host: &str| sources.find(&reference(host)).unwrap();
    assert_eq!(found("registry.example.org:5000"), Some(basic("ann", "pw")));
    assert_eq!(found("registry.example.org"), None);
    assert_eq!(found("evil.example.org:5000"), None);
    let half = self::sources(&[("YEARBOOK_REGISTRY_PASSWORD", "pw")]).unwrap_err().to_string();
    assert!(half.contains("YEARBOOK_REGISTRY_HOST is missing"), "{half}");
}

#[test]
fn dockers_file_is_read_as_docker_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let auth = STANDARD.encode("ann:p:w");
    let sources = with_config(
        folder.path(),
        &serde_json::json!({
            "auths": {
                "ghcr.io": { "auth": auth },
                "https://index.docker.io/v1/": { "identitytoken": "t0ken" },
                "localhost:5000": { "registrytoken": "own" },
                "empty.example.org": {},
                "bad.example.org": { "auth": "!!" },
            },
            "HttpHeaders": { "User-Agent": "x" },
        })
        .to_string(),
    );
    let found = |host: &str| sources.find(&reference(host));
    assert_eq!(found("ghcr.io").unwrap(), Some(basic("ann", "p:w")));
    assert_eq!(found("docker.io").unwrap(), Some(Credentials::IdentityToken("t0ken".to_owned())));
    assert_eq!(
        found("localhost:5000").unwrap(),
        Some(Credentials::RegistryToken("own".to_owned()))
    );
    assert_eq!(found("empty.example.org").unwrap(), None);
    assert_eq!(found("other.example.org").unwrap(), None);
    let bad = found("bad.example.org").unwrap_err().to_string();
    assert!(bad.contains("bad.example.org") && !bad.contains("!!"), "{bad}");
}

#[test]
fn a_damaged_file_is_told_by_its_place_and_never_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let sources = with_config(folder.path(), "{\"auths\": {\"a\": {\"auth\": s3cret");
    let error = sources.find(&reference("ghcr.io")).unwrap_err().to_string();
    assert!(error.contains("line 1") && !error.contains("s3cret"), "{error}");
    let none = sources_without_file(folder.path());
    assert_eq!(none.find(&reference("ghcr.io")).unwrap(), None);
    assert!(!format!("{:?}", basic("ann", "s3cret")).contains("s3cret"));
}

fn sources_without_file(folder: &Path) -> CredentialSources {
    let nowhere = folder.join("nowhere");
    sources(&[("HOME", nowhere.to_str().unwrap())]).unwrap()
}

/// A helper is a program of the machine, found by `PATH`, which a test of this crate does not
/// change: the name leads to one that is not there, or to none at all.
#[test]
fn a_helper_that_cannot_run_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (helper, part) in
        [("absent-in-tests", "cannot be started"), ("../x", "no name of a program")]
    {
        let sources = with_config(
            folder.path(),
            &serde_json::json!({ "credHelpers": { "ghcr.io": helper } }).to_string(),
        );
        let error = sources.find(&reference("ghcr.io")).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("YEARBOOK_REGISTRY_HOST"), "{error}");
    }
}
