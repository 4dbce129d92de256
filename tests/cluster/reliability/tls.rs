//! The store by TLS: with a certificate that is trusted, and without.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use yearbook_prerequisites::Prerequisite;
use yearbook_tests::app::S3Server;
use yearbook_tests::process;

use crate::{compiled_plugins, nginx};

/// Variable in which `cargo xtask` puts the address of its PostgreSQL by TLS. That server's
/// certificate is good for any service on `localhost`.
const CERTIFIED: &str = "YEARBOOK_TEST_POSTGRES_TLS";

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_reached_by_tls_where_its_certificate_is_trusted_and_nowhere_else() {
    let Some(binary) = process::binary() else { return };
    let authority = std::env::var(CERTIFIED)
        .ok()
        .and_then(|url| Some(url.split_once("sslrootcert=")?.1.to_owned()));
    let Some(authority) =
        Prerequisite::Postgres.or_skip(authority, format!("{CERTIFIED} names no certificate"))
    else {
        return;
    };
    let Some(()) = nginx::is_available() else { return };
    let (s3, folder) = (S3Server::start().await, TempDir::new().unwrap());
    let certificates = Path::new(&authority).parent().unwrap();
    let (_nginx, endpoint) = nginx::tls(
        folder.path(),
        &certificates.join("server.pem"),
        &certificates.join("server.key"),
        &s3.endpoint,
    );
    let mut variables: Vec<_> =
        s3.variables().into_iter().filter(|(name, _)| name != "AWS_ALLOW_HTTP").collect();
    variables
        .iter_mut()
        .filter(|(name, _)| name == "AWS_ENDPOINT_URL")
        .for_each(|(_, value)| value.clone_from(&endpoint));
    variables.extend(process::cache(&compiled_plugins()));
    // One that is fresh is not looked at with the cache.
    std::fs::create_dir(folder.path().join("yearbook-data")).unwrap();
    variables.push(("YEARBOOK_STORAGE_URL".to_owned(), s3.url.clone()));
    let found = |trusted: Option<&str>, endpoint: &str| {
        let mut doctor = process::yearbook(&binary, folder.path(), &variables);
        doctor
            .args(["doctor", "--json"])
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("YEARBOOK_STORAGE__RETRIES", "1");
        doctor.envs(trusted.map(|file| ("SSL_CERT_FILE", file)));
        let output = doctor.output().unwrap();
        let checks: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let check = checks
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["name"] == "object store")
            .unwrap()
            .clone();
        (
            check["status"].as_str().unwrap().to_owned(),
            check["message"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(found(Some(&authority), &endpoint).0, "ok");
    let (status, message) = found(None, &endpoint);
    assert!(status == "fail" && message.contains("certificate"), "{message}");
    let (status, message) = found(Some(&authority), &endpoint.replace("localhost", "127.0.0.1"));
    assert!(status == "fail" && message.contains("certificate"), "{message}");
    // Without TLS nobody is asked, unless the operator says so.
    let before = s3.requests();
    assert_eq!(found(Some(&authority), &s3.endpoint).0, "fail");
    assert_eq!(s3.requests(), before);
}
