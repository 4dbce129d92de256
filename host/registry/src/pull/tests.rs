//! Registries that lie: each lie ends in one clear error, and nothing of it is kept.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::manifest::{MANIFEST, WASM_CONFIG, WASM_LAYER, spell};
use crate::{Credentials, Registry, RegistryError, RegistryLimits, RegistryReference, TokenHost};
use yearbook_domain::Digest;

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0 the component";

/// Behaviour of a registry at one request.
#[derive(Clone)]
enum Answer {
    /// Status, headers and body.
    Reply(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// A head that announces more bytes than come.
    Cut(Vec<u8>, usize),
    /// A body without an end.
    Endless,
    /// Nothing, on an open connection.
    Silence,
    /// A byte now and then.
    Drip,
}

fn ok(body: Vec<u8>) -> Answer {
    Answer::Reply(200, Vec::new(), body)
}

fn status(status: u16, headers: Vec<(&'static str, String)>) -> Answer {
    Answer::Reply(status, headers, Vec::new())
}

/// A registry on loopback and the requests that it got, heads only.
struct LyingRegistry {
    host: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl LyingRegistry {
    /// Answers each head with what `answer` makes of its path.
    async fn start(answer: impl Fn(&str, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (requests, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    drop(
                        serve(stream, &log, |head: &str| {
                            answer(head.split(' ').nth(1).unwrap_or_default(), head)
                        })
                        .await,
                    );
                });
            }
        });
        Self { host, requests }
    }

    async fn pull(&self, reference: &str) -> Result<super::PulledComponent, RegistryError> {
        pull(&format!("oci://{}/{reference}", self.host), None).await
    }
}

/// One request a connection.
async fn serve(
    mut stream: TcpStream,
    log: &Mutex<Vec<String>>,
    answer: impl Fn(&str) -> Answer,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    log.lock().unwrap().push(head.clone());
    match answer(&head) {
        Answer::Reply(status, headers, body) => {
            let mut text = format!("HTTP/1.1 {status} x\r\nconnection: close\r\n");
            text += &format!("content-length: {}\r\n", body.len());
            for (name, value) in headers {
                text += &format!("{name}: {value}\r\n");
            }
            stream.write_all(format!("{text}\r\n").as_bytes()).await?;
            stream.write_all(&body).await?;
        }
        Answer::Cut(body, length) => {
            let text = format!("HTTP/1.1 200 x\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all(text.as_bytes()).await?;
            stream.write_all(&body).await?;
        }
        Answer::Endless => {
            stream.write_all(b"HTTP/1.1 200 x\r\nconnection: close\r\n\r\n").await?;
            loop {
                stream.write_all(&[b' '; 4096]).await?;
            }
        }
        Answer::Silence => tokio::time::sleep(Duration::from_secs(60)).await,
        Answer::Drip => {
            stream.write_all(b"HTTP/1.1 200 x\r\nconnection: close\r\n\r\n").await?;
            loop {
                stream.write_all(b" ").await?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    stream.shutdown().await
}

fn limits() -> RegistryLimits {
    RegistryLimits {
        component_bytes: 1_000,
        total: Duration::from_secs(4),
        idle: Duration::from_millis(400),
    }
}

async fn pull(
    reference: &str,
    credentials: Option<Credentials>,
) -> Result<super::PulledComponent, RegistryError> {
    let reference = RegistryReference::parse(reference).unwrap();
    Registry::open(&reference, credentials, limits()).await?.pull().await
}

fn manifest_of(component: &[u8]) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": { "mediaType": WASM_CONFIG, "digest": spell(&Digest::compute(b"{}")), "size": 2 },
        "layers": [{ "mediaType": WASM_LAYER, "digest": spell(&Digest::compute(component)), "size": component.len() }],
    })
}

fn manifest() -> Vec<u8> {
    manifest_of(COMPONENT).to_string().into_bytes()
}

/// A manifest under every name, and `blob` for every blob.
async fn with_blob(blob: Answer) -> LyingRegistry {
    LyingRegistry::start(
        move |path, _| {
            if path.contains("/manifests/") { ok(manifest()) } else { blob.clone() }
        },
    )
    .await
}

/// `manifest` under every name, and the component for every blob.
async fn with_manifest(manifest: Answer) -> LyingRegistry {
    LyingRegistry::start(move |path, _| {
        if path.contains("/manifests/") { manifest.clone() } else { ok(COMPONENT.to_vec()) }
    })
    .await
}

#[tokio::test]
async fn a_component_is_pulled_by_tag_and_by_digest_contract_14() {
    let registry = with_blob(ok(COMPONENT.to_vec())).await;
    let digest = Digest::compute(&manifest());
    for by in
        [":1.0".to_owned(), format!("@{}", spell(&digest)), format!(":1.0@{}", spell(&digest))]
    {
        let pulled = registry.pull(&format!("a/b{by}")).await.unwrap();
        assert_eq!((pulled.file.as_slice(), pulled.manifest), (COMPONENT, digest));
    }
    let requests = registry.requests.lock().unwrap();
    let paths: Vec<_> = requests.iter().map(|head| head.lines().next().unwrap()).collect();
    assert!(paths[0].starts_with("GET /v2/a/b/manifests/1.0 "), "{paths:?}");
    let by_digest = format!("GET /v2/a/b/manifests/{} ", spell(&digest));
    assert!(paths[2].starts_with(&by_digest) && paths[4].starts_with(&by_digest), "{paths:?}");
}

#[tokio::test]
async fn a_registry_that_lies_about_bytes_is_refused_contract_14() {
    let other = spell(&Digest::compute(b"other"));
    let header = Answer::Reply(200, vec![("Docker-Content-Digest", other.clone())], manifest());
    let longer = [COMPONENT, b"more"].concat();
    let mut changed = COMPONENT.to_vec();
    changed[12] ^= 1;
    let large = manifest_of(&[0; 1_001]).to_string().into_bytes();
    for (registry, reference, part) in [
        (with_manifest(header).await, "a:1".to_owned(), "do not trust this registry"),
        (with_manifest(ok(manifest())).await, format!("a:1@{other}"), "do not trust this registry"),
        (with_manifest(Answer::Endless).await, "a:1".to_owned(), "more than 1048576"),
        (with_manifest(ok(large)).await, "a:1".to_owned(), "sandbox.component_bytes"),
        (with_blob(ok(changed)).await, "a:1".to_owned(), "do not trust this registry"),
        (with_blob(ok(longer)).await, "a:1".to_owned(), "announces 22"),
        (with_blob(ok(COMPONENT[..9].to_vec())).await, "a:1".to_owned(), "announces 22"),
        (with_blob(Answer::Endless).await, "a:1".to_owned(), "more than 22"),
        (with_blob(Answer::Cut(COMPONENT[..9].to_vec(), 22)).await, "a:1".to_owned(), "broke off"),
    ] {
        let error = registry.pull(&reference).await.unwrap_err().to_string();
        assert!(error.to_lowercase().contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn a_registry_that_stalls_is_given_up_in_time() {
    for (registry, part) in [
        (with_manifest(Answer::Silence).await, "nothing arrives"),
        (with_blob(Answer::Silence).await, "nothing arrives"),
        (with_manifest(Answer::Drip).await, "took longer than 4 s"),
    ] {
        let begun = Instant::now();
        // The time until a connection stands is beside that of silence.
        let pulled = tokio::time::timeout(Duration::from_secs(30), registry.pull("a:1")).await;
        let error = pulled.unwrap().unwrap_err().to_string();
        assert!(error.contains(part) || error.contains("took longer"), "{part}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn a_registry_leads_nowhere_that_it_may_not_contract_14() {
    for (target, part) in [
        ("http://10.0.0.1/blob", "has no TLS and is not on this machine"),
        ("https://10.0.0.1/blob", "may not lead to"),
        ("https://169.254.169.254/latest/meta-data", "may not lead to"),
        ("https://[fe80::1]/blob", "may not lead to"),
        ("https://[::ffff:10.0.0.1]/blob", "may not lead to"),
        ("http://example.org/blob", "has no TLS"),
        ("file:///etc/passwd", "no web address"),
        ("http://ann:pw@127.0.0.1/blob", "user name"),
        ("/v2/a/blobs/again", "more than 5 redirects"),
    ] {
        let registry = with_blob(status(307, vec![("Location", target.to_owned())])).await;
        let error = registry.pull("a:1").await.unwrap_err().to_string();
        assert!(error.contains(part), "{target}: {error}");
    }
}

#[tokio::test]
async fn credentials_stay_with_the_registry_that_they_are_for() {
    let blobs = LyingRegistry::start(|_, _| ok(COMPONENT.to_vec())).await;
    let place = format!("http://{}/blob?signature=s3cret", blobs.host);
    let registry = LyingRegistry::start(move |path, head| {
        if !head.to_lowercase().contains("authorization: basic yw5uonb3") {
            return status(401, vec![("WWW-Authenticate", "Basic realm=\"x\"".to_owned())]);
        }
        if path.contains("/manifests/") {
            ok(manifest())
        } else {
            status(307, vec![("Location", place.clone())])
        }
    })
    .await;
    let reference = format!("oci://{}/a:1", registry.host);
    let refused = pull(&reference, None).await.unwrap_err().to_string();
    assert!(
        refused.contains("docker login") && refused.contains("without credentials"),
        "{refused}"
    );
    let ann = |secret: &str| {
        Some(Credentials::Basic { username: "ann".to_owned(), secret: secret.to_owned() })
    };
    let refused = pull(&reference, ann("wrong")).await.unwrap_err().to_string();
    assert!(refused.contains("not enough") && !refused.contains("wrong"), "{refused}");
    assert_eq!(pull(&reference, ann("pw")).await.unwrap().file, COMPONENT);
    let seen = blobs.requests.lock().unwrap().concat().to_lowercase();
    assert!(seen.contains("get /blob") && !seen.contains("authorization"), "{seen}");
}

#[tokio::test]
async fn a_token_is_fetched_where_the_registry_says_and_used_there() {
    let registry = LyingRegistry::start(|path, head| {
        let head = head.to_lowercase();
        if path.starts_with("/token") {
            return if head.contains("authorization: basic yw5uonb3") && path.contains("service=r") {
                ok(br#"{"access_token":"t0ken"}"#.to_vec())
            } else {
                status(401, Vec::new())
            };
        }
        match (head.contains("authorization: bearer t0ken"), path.contains("/manifests/")) {
            (false, _) => status(
                401,
                vec![("WWW-Authenticate", "Bearer realm=\"/token\",service=\"r\"".to_owned())],
            ),
            (true, true) => ok(manifest()),
            (true, false) => ok(COMPONENT.to_vec()),
        }
    })
    .await;
    let reference = format!("oci://{}/a/b:1", registry.host);
    let ann = Credentials::Basic { username: "ann".to_owned(), secret: "pw".to_owned() };
    assert_eq!(pull(&reference, Some(ann)).await.unwrap().file, COMPONENT);
    let asked = registry.requests.lock().unwrap().concat();
    assert!(asked.contains("scope=repository%3Aa%2Fb%3Apull"), "{asked}");
    assert!(pull(&reference, None).await.unwrap_err().to_string().contains("docker login"));
}

#[tokio::test]
async fn credentials_for_a_token_do_not_follow_a_redirect() {
    let elsewhere = LyingRegistry::start(|_, _| ok(br#"{"token":"t0ken"}"#.to_vec())).await;
    let place = format!("http://{}/token", elsewhere.host);
    let registry = LyingRegistry::start(move |path, head| {
        if path.starts_with("/token") {
            return status(307, vec![("Location", place.clone())]);
        }
        match (head.to_lowercase().contains("bearer t0ken"), path.contains("/manifests/")) {
            (false, _) => {
                status(401, vec![("WWW-Authenticate", "Bearer realm=\"/token\"".to_owned())])
            }
            (true, true) => ok(manifest()),
            (true, false) => ok(COMPONENT.to_vec()),
        }
    })
    .await;
    let ann = Credentials::Basic { username: "ann".to_owned(), secret: "pw".to_owned() };
    let reference = format!("oci://{}/a:1", registry.host);
    assert_eq!(pull(&reference, Some(ann)).await.unwrap().file, COMPONENT);
    let asked =
        |registry: &LyingRegistry| registry.requests.lock().unwrap().concat().to_lowercase();
    assert!(asked(&registry).contains("authorization: basic"));
    assert!(!asked(&elsewhere).contains("authorization"), "{}", asked(&elsewhere));
}

#[tokio::test]
async fn credentials_go_to_no_host_of_tokens_that_nobody_named_contract_14() {
    let elsewhere = LyingRegistry::start(|_, _| ok(br#"{"token":"t0ken"}"#.to_vec())).await;
    let realm = format!(
        "Bearer realm=\"http://{}/token\",scope=\"repository:b:push,delete\"",
        elsewhere.host
    );
    let registry = LyingRegistry::start(move |path, head| {
        match (head.to_lowercase().contains("bearer t0ken"), path.contains("/manifests/")) {
            (false, _) => status(401, vec![("WWW-Authenticate", realm.clone())]),
            (true, true) => ok(manifest()),
            (true, false) => ok(COMPONENT.to_vec()),
        }
    })
    .await;
    let asked = || elsewhere.requests.lock().unwrap().concat().to_lowercase();
    let reference = format!("oci://{}/a:1", registry.host);
    for credentials in [
        Credentials::Basic { username: "ann".to_owned(), secret: "pw".to_owned() },
        Credentials::IdentityToken("t0p-secret".to_owned()),
    ] {
        let refused = pull(&reference, Some(credentials)).await.unwrap_err().to_string();
        let advice = format!("\"{}={}\" to plugins.token_hosts", registry.host, elsewhere.host);
        assert!(refused.contains(&advice), "{refused}");
        assert_eq!(asked(), "");
    }
    // Without credentials there is nothing to lose.
    assert_eq!(pull(&reference, None).await.unwrap().file, COMPONENT);

    let named = TokenHost::try_from(format!("{}={}", registry.host, elsewhere.host)).unwrap();
    let ann = Credentials::Basic { username: "ann".to_owned(), secret: "pw".to_owned() };
    let reference = RegistryReference::parse(&reference).unwrap();
    let opened = Registry::open(&reference, Some(ann), limits()).await.unwrap();
    let pulled = opened.with_token_hosts(&[named]).pull().await.unwrap();
    assert_eq!(pulled.file, COMPONENT);
    // The registry's own words for the scope are left out: it asked for another repository.
    assert!(asked().contains("authorization: basic"), "{}", asked());
    assert!(asked().contains("scope=repository%3aa%3apull") && !asked().contains("delete"));
}

#[tokio::test]
async fn a_registry_without_the_plugin_or_in_trouble_is_told_apart() {
    let trouble = br#"{"errors":[{"code":"TOOMANYREQUESTS","message":"later"}]}"#.to_vec();
    for (answer, part) in [
        (status(404, Vec::new()), "has no a:1"),
        (
            Answer::Reply(429, Vec::new(), trouble),
            "answers 429 to a request for a manifest (TOOMANYREQUESTS later)",
        ),
        (status(500, Vec::new()), "answers 500"),
        (ok(b"<html>".to_vec()), "no JSON"),
    ] {
        let error = with_manifest(answer).await.pull("a:1").await.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = pull(&format!("oci://{gone}/a:1"), None).await.unwrap_err().to_string();
    assert!(error.contains("whether the registry runs"), "{error}");
}
