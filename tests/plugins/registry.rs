//! Plugins that travel: pushed to registries, pulled from them, installed, rolled back. What
//! serves is the component's digest in the object store; a registry is asked by an operator alone.

use std::process::Command;

use serde_json::{Value, json};
use yearbook_catalog::{ReleaseOrigin, ReleaseState};
use yearbook_domain::Digest;
use yearbook_prerequisites::Prerequisite;
use yearbook_registry::{
    ComponentInterface, PulledComponent, PushedComponent, Registry, RegistryError, RegistryLimits,
    RegistryReference,
};
use yearbook_releases::{
    ComponentFile, InstallOptions, InstalledRelease, ReleaseError, Signature, TrustError,
    TrustPolicy, install, rollback,
};
use yearbook_tests::app::{DockerRegistry, OciRegistry, TestApp};
use yearbook_tests::components::component;

use super::test_hosts::{
    embedded, eventually, patched, second_host, serving, start_reconciler, states,
};
use super::trust::{key, signed, trust};

/// As large as a host takes them.
const COMPONENT_BYTES: usize = 32 << 20;

async fn open(reference: &str) -> Registry {
    let reference = RegistryReference::parse(reference).unwrap();
    Registry::open(&reference, None, RegistryLimits::new(COMPONENT_BYTES)).await.unwrap()
}

async fn push(reference: &str, bytes: Vec<u8>, signature: Option<&Signature>) -> PushedComponent {
    let read = ComponentFile::read(bytes, COMPONENT_BYTES).unwrap();
    let interface = ComponentInterface {
        imports: read.imports.unwrap_or_default(),
        exports: read.exports.unwrap_or_default(),
    };
    let signature = signature.map(|signature| signature.as_str().as_bytes());
    open(reference).await.push(read.bytes, interface, signature).await.unwrap()
}

async fn pull(reference: &str) -> Result<PulledComponent, RegistryError> {
    open(reference).await.pull().await
}

/// As `plugin install REFERENCE` does.
async fn installed(
    app: &TestApp,
    reference: &str,
    trust: &TrustPolicy,
) -> Result<InstalledRelease, ReleaseError> {
    let mut registry = open(reference).await;
    let PulledComponent { file, manifest } = registry.pull().await.unwrap();
    let signatures = registry.signatures(&manifest).await.unwrap();
    let wish = InstallOptions {
        now: true,
        by: "ann".to_owned(),
        reason: None,
        signature: signatures.first().map(|text| Signature::from_bytes(text)),
        origin: Some(ReleaseOrigin { reference: reference.to_owned(), manifest }),
    };
    let component = ComponentFile::read(file, COMPONENT_BYTES).unwrap();
    install(&app.store, &app.files, &app.sandbox, trust, component, wish).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_goes_away_changes_nothing_that_two_hosts_serve_contract_14() {
    let app = TestApp::start().await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let (_other, other, _live) = second_host(&app).await;
    let mut registry = OciRegistry::start(true).await;
    let reference = registry.reference("agency/csv:stable");
    let (one, two) = (component("csv"), patched("csv", "0.1.0", "0.2.0"));
    let digests = [&one, &two].map(|bytes| Digest::compute(bytes));
    let both_serve = |digest: Digest| {
        let registries = [&app.registry, &other].map(std::sync::Arc::clone);
        move || registries.iter().all(|each| serving(each, "csv") == Some(digest))
    };

    assert_eq!(push(&reference, one, None).await.component, digests[0]);
    let first = installed(&app, &reference, &TrustPolicy::default()).await.unwrap();
    assert_eq!((first.state, first.id.digest), (ReleaseState::Promoted, digests[0]));
    eventually(both_serve(digests[0])).await;

    // The tag moves, which nobody but `plugin outdated` looks at.
    push(&reference, two, None).await;
    registry.cut_blobs_after(Some(1_000));
    let broken = pull(&reference).await.unwrap_err().to_string();
    assert!(broken.contains("broke off"), "{broken}");
    registry.stop().await;
    let gone = pull(&reference).await.unwrap_err().to_string();
    assert!(gone.contains("whether the registry runs"), "{gone}");
    // A host that starts now has the component from the object store.
    let (_third, third, _third_live) = second_host(&app).await;
    eventually(|| serving(&third, "csv") == Some(digests[0])).await;
    assert!(both_serve(digests[0])());
    assert_eq!(states(&app.store, "csv").await, [(digests[0], ReleaseState::Promoted)]);

    registry.cut_blobs_after(None);
    registry.resume().await;
    let second = installed(&app, &reference, &TrustPolicy::default()).await.unwrap();
    assert_eq!((second.id.digest, second.before), (digests[1], Some(first.id)));
    eventually(both_serve(digests[1])).await;
    registry.stop().await;
    rollback(&app.store, "csv", "ann", None).await.unwrap();
    eventually(both_serve(digests[0])).await;

    let releases = app.store.releases().await.unwrap();
    let of_csv = releases.iter().filter(|release| release.id.name == "csv");
    let origins: Vec<_> = of_csv.map(|release| release.origin.clone().unwrap()).collect();
    assert!(origins.iter().all(|origin| origin.reference == reference), "{origins:?}");
    assert_ne!(origins[0].manifest, origins[1].manifest);
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_travel_with_the_component_and_trust_judges_the_bytes_contract_14() {
    let app = TestApp::start().await;
    let (ann, eve) = (key(1), key(2));
    let trust = trust("signature", &[], &[&ann]);
    for referrers in [true, false] {
        let registry = OciRegistry::start(referrers).await;
        let bytes = patched("csv", "0.1.0", if referrers { "0.3.0" } else { "0.4.0" });
        let unsigned = registry.reference("agency/csv:unsigned");
        push(&unsigned, bytes.clone(), None).await;
        let refused = installed(&app, &unsigned, &trust).await.unwrap_err();
        assert!(matches!(refused, ReleaseError::Untrusted(TrustError::Unsigned { .. })));

        let hers = registry.reference("agency/hers:1");
        push(&hers, bytes.clone(), Some(&signed(&bytes, &eve))).await;
        let refused = installed(&app, &hers, &trust).await.unwrap_err();
        assert!(matches!(refused, ReleaseError::Untrusted(TrustError::UnknownKey { .. })));

        let good = registry.reference("agency/good:1");
        let pushed = push(&good, bytes.clone(), Some(&signed(&bytes, &ann))).await;
        assert_eq!(installed(&app, &good, &trust).await.unwrap().state, ReleaseState::Promoted);
        // Pushing again changes nothing: same bytes, same manifest, one entry in the list.
        let again = push(&good, bytes.clone(), Some(&signed(&bytes, &ann))).await;
        assert_eq!(again, pushed);
        assert_eq!(open(&good).await.signatures(&pushed.manifest).await.unwrap().len(), 1);
        let listed = registry.manifest(&format!("agency/good/sha256-{}", pushed.manifest));
        assert_eq!(listed.is_some(), !referrers, "beside the tag where nobody lists");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn debians_registry_takes_and_gives_plugins_and_signatures_contract_14() {
    let Some(registry) = DockerRegistry::start().await else { return };
    let app = TestApp::start().await;
    let ann = key(1);
    let trust = trust("signature", &[], &[&ann]);
    let bytes = component("ndjson");
    let reference = registry.reference("agency/formats/ndjson:1.0.0");
    let pushed = push(&reference, bytes.clone(), Some(&signed(&bytes, &ann))).await;
    let by_digest =
        registry.reference(&format!("agency/formats/ndjson@sha256:{}", pushed.manifest));
    for reference in [&reference, &by_digest] {
        let pulled = pull(reference).await.unwrap();
        assert_eq!((pulled.manifest, pulled.file == bytes), (pushed.manifest, true));
    }
    let installed = installed(&app, &by_digest, &trust).await.unwrap();
    assert_eq!(installed.id.digest, pushed.component);

    // The layout, as anybody else sees it: CNCF TAG Runtime, "Wasm OCI Artifact Layout".
    let manifest = get(&registry, "manifests/1.0.0").await;
    let config = manifest["config"].clone();
    assert_eq!(config["mediaType"], "application/vnd.wasm.config.v0+json");
    assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);
    assert_eq!(manifest["layers"][0]["mediaType"], "application/wasm");
    let config = get(&registry, &format!("blobs/{}", config["digest"].as_str().unwrap())).await;
    assert_eq!((&config["architecture"], &config["os"]), (&json!("wasm"), &json!("wasip2")));
    assert_eq!(config["layerDigests"], json!([format!("sha256:{}", pushed.component)]));
    assert_eq!(config["component"]["exports"], json!(["yearbook:plugin/encoder@1.1.0"]));
    let absent = pull(&registry.reference("agency/formats/ndjson:2")).await.unwrap_err();
    assert!(matches!(absent, RegistryError::NotFound { .. }), "{absent}");
}

/// skopeo copies artefacts of any kind and has no line of this project: it checks digests and media
/// types by itself, both ways.
#[tokio::test(flavor = "multi_thread")]
async fn skopeo_copies_plugins_out_of_a_registry_and_back_contract_14() {
    let Some(registry) = DockerRegistry::start().await else { return };
    let found = Command::new("skopeo").arg("--version").output().ok();
    if Prerequisite::Skopeo.or_skip(found, "there is no program skopeo").is_none() {
        return;
    }
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().unwrap();
    let copy = format!("dir:{}", folder.path().join("copy").display());
    let skopeo = |arguments: &[&str]| {
        let always = ["--insecure-policy", "copy", "--preserve-digests"];
        run("skopeo", &[&always[..], arguments].concat())
    };
    let bytes = component("ndjson");
    let pushed = push(&registry.reference("agency/ndjson:1.0.0"), bytes.clone(), None).await;
    let place = |name: &str| format!("docker://{}/{name}", registry.host);
    skopeo(&["--src-tls-verify=false", &place("agency/ndjson:1.0.0"), &copy]);
    let file = |name: &str| std::fs::read(folder.path().join("copy").join(name)).unwrap();
    assert_eq!(Digest::compute(&file("manifest.json")), pushed.manifest);
    assert!(file(pushed.component.as_str()) == bytes, "a blob is named by its digest");

    skopeo(&["--dest-tls-verify=false", &copy, &place("mirror/ndjson:latest")]);
    let mirror = registry.reference("mirror/ndjson:latest");
    let pulled = pull(&mirror).await.unwrap();
    assert_eq!((pulled.manifest, pulled.file == bytes), (pushed.manifest, true));
    let installed = installed(&app, &mirror, &TrustPolicy::default()).await.unwrap();
    assert_eq!(installed.id.digest, pushed.component);
}

/// The tool of the Bytecode Alliance, both ways. Building it takes minutes: `cargo install wkg
/// --locked`, then `cargo nextest run --workspace --run-ignored only -E 'test(/wkg_pulls/)'`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs wkg, which no archive of packages has built"]
async fn wkg_pulls_what_is_pushed_and_pushes_what_is_installed() {
    let registry = DockerRegistry::start().await.expect("docker-registry is there");
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ndjson.wasm").display().to_string();
    let bytes = component("ndjson");
    let host = registry.host.as_str();
    let wkg = |verb: &str, arguments: &[&str]| {
        run("wkg", &[&["oci", verb, "--insecure", host][..], arguments].concat())
    };
    let ours = format!("{host}/agency/ndjson:1.0.0");
    let pushed = push(&format!("oci://{ours}"), bytes.clone(), None).await;
    wkg("pull", &["--output", &path, &ours]);
    assert!(std::fs::read(&path).unwrap() == bytes);

    let theirs = format!("{host}/agency/theirs:1.0.0");
    let said = wkg("push", &[&theirs, &path]);
    let pulled = pull(&format!("oci://{theirs}")).await.unwrap();
    assert!(said.contains(&format!("digest: sha256:{}", pulled.manifest)), "{said}");
    let trust = TrustPolicy::default();
    let installed = installed(&app, &format!("oci://{theirs}"), &trust).await.unwrap();
    assert_eq!(installed.id.digest, pushed.component);
}

/// Runs a program that has to end well, and returns what it prints.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// JSON of the repository, asked for as any client would.
async fn get(registry: &DockerRegistry, below: &str) -> Value {
    let url = format!("http://{}/v2/agency/formats/ndjson/{below}", registry.host);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let accept = "application/vnd.oci.image.manifest.v1+json";
    let response = client.get(url).header("accept", accept).send().await.unwrap();
    assert!(response.status().is_success(), "{}", response.status());
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

/// An artefact as `wkg oci push` 0.16.1 leaves it, member for member, uploaded without a line of
/// our own client.
#[tokio::test(flavor = "multi_thread")]
async fn an_artefact_in_the_layout_of_wkg_is_installed_contract_14() {
    let app = TestApp::start().await;
    let registry = OciRegistry::start(false).await;
    let bytes = component("ndjson");
    let spell = |bytes: &[u8]| format!("sha256:{}", Digest::compute(bytes));
    let config = json!({
        "created": "2026-10-01T12:00:00.123456789Z",
        "author": null,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [spell(&bytes)],
        "component": {
            "exports": ["yearbook:plugin/encoder@1.1.0"],
            "imports": ["yearbook:plugin/log@1.1.0"],
            "target": null,
        },
    })
    .to_string();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.wasm.config.v0+json",
            "digest": spell(config.as_bytes()),
            "size": config.len(),
        },
        "layers": [{
            "mediaType": "application/wasm",
            "digest": spell(&bytes),
            "size": bytes.len(),
            "annotations": { "org.opencontainers.image.title": "ndjson.wasm" },
        }],
    })
    .to_string();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let base = format!("http://{}/v2/agency/ndjson", registry.host);
    for blob in [bytes.clone(), config.into_bytes()] {
        let put = format!("{base}/blobs/uploads/one?digest={}", spell(&blob));
        assert_eq!(client.put(put).body(blob).send().await.unwrap().status(), 201);
    }
    let put = client.put(format!("{base}/manifests/0.1.0"));
    let put = put.header("content-type", "application/vnd.oci.image.manifest.v1+json");
    assert_eq!(put.body(manifest).send().await.unwrap().status(), 201);
    let reference = registry.reference("agency/ndjson:0.1.0");
    let installed = installed(&app, &reference, &TrustPolicy::default()).await.unwrap();
    assert_eq!(
        (installed.id.name.as_str(), installed.id.digest),
        ("ndjson", Digest::compute(&bytes))
    );
}
