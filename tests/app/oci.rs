//! OCI registries on ports of this machine: one in this process, with or without the list of
//! referrers, that can go away in the middle; and Debian's `docker-registry`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use yearbook_prerequisites::Prerequisite;

use crate::process::{ChildProcess, free_port};

/// Largest body that it takes, bytes.
const MAX_BODY: usize = 64 << 20;

/// Longest time until `docker-registry` answers.
const START: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Content {
    blobs: BTreeMap<String, Bytes>,
    /// Media type and bytes by `REPOSITORY/TAG` and `REPOSITORY/DIGEST`.
    manifests: BTreeMap<String, (String, Bytes)>,
    /// Bytes of a blob after which connections break.
    cut_after: Option<usize>,
    referrers: bool,
}

type Shared = Arc<Mutex<Content>>;

/// A registry in this process.
pub struct OciRegistry {
    /// Host and port.
    pub host: String,
    address: SocketAddr,
    content: Shared,
    server: Option<JoinHandle<()>>,
}

impl OciRegistry {
    /// An empty one, which lists referrers itself or leaves that to the tag.
    pub async fn start(referrers: bool) -> Self {
        let content = Shared::default();
        content.lock().unwrap().referrers = referrers;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Some(serve(listener, Arc::clone(&content)));
        Self { host: address.to_string(), address, content, server }
    }

    /// A reference to something in it.
    #[must_use]
    pub fn reference(&self, name: &str) -> String {
        format!("oci://{}/{name}", self.host)
    }

    /// Has the connection break inside every blob, or no longer.
    pub fn cut_blobs_after(&self, bytes: Option<usize>) {
        self.content.lock().unwrap().cut_after = bytes;
    }

    /// Goes away: connections are refused.
    pub async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            let _ = server.await;
        }
    }

    /// Comes back where it was, with all that it had.
    pub async fn resume(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.server = Some(serve(listener, Arc::clone(&self.content)));
    }

    /// Gives the manifest under a tag an annotation: another manifest of the same component.
    pub fn annotate(&self, name: &str) {
        let mut content = self.content.lock().unwrap();
        let (media_type, bytes) = content.manifests[name].clone();
        let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
        manifest["annotations"] = json!({ "org.opencontainers.image.description": "annotated" });
        content.manifests.insert(name.to_owned(), (media_type, manifest.to_string().into()));
    }

    /// The manifest under a tag or digest.
    #[must_use]
    pub fn manifest(&self, name: &str) -> Option<Value> {
        let content = self.content.lock().unwrap();
        content.manifests.get(name).map(|(_, bytes)| serde_json::from_slice(bytes).unwrap())
    }
}

impl Drop for OciRegistry {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
        }
    }
}

fn serve(listener: TcpListener, content: Shared) -> JoinHandle<()> {
    let router = Router::new().fallback(answer).with_state(content);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() })
}

async fn answer(State(content): State<Shared>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_BODY).await.unwrap();
    let path = head.uri.path().to_owned();
    let Some(path) = path.strip_prefix("/v2/") else {
        return reply(StatusCode::NOT_FOUND, Body::empty());
    };
    let part =
        |kind: &str| path.split_once(kind).map(|(name, rest)| (name.to_owned(), rest.to_owned()));
    let mut content = content.lock().unwrap();
    if let Some((name, _)) = part("/blobs/uploads/") {
        return match head.method {
            Method::POST => {
                let mut begun = reply(StatusCode::ACCEPTED, Body::empty());
                let place = format!("/v2/{name}/blobs/uploads/one?state=x");
                begun.headers_mut().insert("location", place.parse().unwrap());
                begun
            }
            _ => {
                content.blobs.insert(digest(&body), body);
                reply(StatusCode::CREATED, Body::empty())
            }
        };
    }
    if let Some((_, digest)) = part("/blobs/") {
        let Some(blob) = content.blobs.get(&digest) else {
            return reply(StatusCode::NOT_FOUND, Body::empty());
        };
        return match content.cut_after.filter(|_| head.method == Method::GET) {
            Some(bytes) => cut(blob.slice(..bytes.min(blob.len()))),
            None => reply(StatusCode::OK, blob.clone().into()),
        };
    }
    if let Some((name, by)) = part("/manifests/") {
        if head.method == Method::PUT {
            let media_type = head.headers["content-type"].to_str().unwrap().to_owned();
            let manifest: Value = serde_json::from_slice(&body).unwrap();
            content
                .manifests
                .insert(format!("{name}/{}", digest(&body)), (media_type.clone(), body.clone()));
            content.manifests.insert(format!("{name}/{by}"), (media_type, body));
            let mut taken = reply(StatusCode::CREATED, Body::empty());
            if let Some(subject) =
                manifest["subject"]["digest"].as_str().filter(|_| content.referrers)
            {
                taken.headers_mut().insert("oci-subject", subject.parse().unwrap());
            }
            return taken;
        }
        return match content.manifests.get(&format!("{name}/{by}")) {
            Some((media_type, bytes)) => {
                let mut found = reply(StatusCode::OK, bytes.clone().into());
                found.headers_mut().insert("content-type", media_type.parse().unwrap());
                found.headers_mut().insert("docker-content-digest", digest(bytes).parse().unwrap());
                found
            }
            None => reply(StatusCode::NOT_FOUND, Body::empty()),
        };
    }
    match part("/referrers/") {
        Some((name, subject)) if content.referrers => {
            let prefix = format!("{name}/sha256:");
            let named = content.manifests.iter().filter(|(by, _)| by.starts_with(&prefix));
            let manifests: Vec<Value> = named
                .filter_map(|(by, (media_type, bytes))| {
                    let manifest: Value = serde_json::from_slice(bytes).unwrap();
                    (manifest["subject"]["digest"] == subject).then(|| {
                        json!({
                            "mediaType": media_type,
                            "digest": by.rsplit('/').next().unwrap(),
                            "size": bytes.len(),
                            "artifactType": manifest["artifactType"],
                        })
                    })
                })
                .collect();
            reply(
                StatusCode::OK,
                json!({ "schemaVersion": 2, "manifests": manifests }).to_string().into(),
            )
        }
        _ => reply(StatusCode::NOT_FOUND, Body::empty()),
    }
}

fn reply(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// A body that breaks off.
fn cut(bytes: Bytes) -> Response {
    let broken = futures::stream::iter([Ok(bytes), Err(std::io::Error::other("gone"))]);
    // A pause, so that what came before has left.
    let broken = broken.then(|chunk| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        chunk
    });
    reply(StatusCode::OK, Body::from_stream(broken))
}

/// As registries spell it.
fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    format!("sha256:{}", hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Debian's `docker-registry` with a folder of its own.
pub struct DockerRegistry {
    /// Host and port.
    pub host: String,
    _process: ChildProcess,
    _folder: TempDir,
}

impl DockerRegistry {
    /// Starts it. None where it is not installed and none is required.
    pub async fn start() -> Option<Self> {
        let program = "docker-registry";
        let found = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        Prerequisite::DockerRegistry
            .or_skip(found.then_some(()), "there is no program docker-registry")?;
        let folder = tempfile::tempdir().unwrap();
        let host = format!("127.0.0.1:{}", free_port());
        let config = json!({
            "version": 0.1,
            "log": { "level": "error", "accesslog": { "disabled": true } },
            "storage": { "filesystem": { "rootdirectory": folder.path() } },
            "http": { "addr": host },
        });
        // JSON is YAML.
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config.to_string()).unwrap();
        let process = ChildProcess::start(
            Command::new(program)
                .arg("serve")
                .arg(&file)
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        );
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(&host).await.is_err() {
            assert!(begun.elapsed() < START, "docker-registry does not answer within {START:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Some(Self { host, _process: process, _folder: folder })
    }

    /// A reference to something in it.
    #[must_use]
    pub fn reference(&self, name: &str) -> String {
        format!("oci://{}/{name}", self.host)
    }
}
