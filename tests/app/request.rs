//! A request and what came back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

/// A request in the making.
pub struct TestRequest {
    router: Router,
    builder: http::request::Builder,
    body: Vec<u8>,
}

/// A response, read to its end.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as far as it came.
    pub body: Bytes,
    /// True if the body was cut off.
    pub cut: bool,
}

impl TestRequest {
    /// Begins a request of these routes.
    #[must_use]
    pub fn to(router: Router, method: &str, path: &str) -> Self {
        Self {
            router,
            builder: Request::builder().method(method).uri(path).header("host", "test.example"),
            body: Vec::new(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    /// Has it come from this address, as it would from a socket.
    #[must_use]
    pub fn peer(mut self, address: &str) -> Self {
        self.builder =
            self.builder.extension(ConnectInfo(SocketAddr::new(address.parse().unwrap(), 1)));
        self
    }

    /// Adds a key.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.header("x-api-key", key)
    }

    /// Adds a key as bearer token, as clients of the share send it.
    #[must_use]
    pub fn bearer(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    /// Adds a body of JSON.
    #[must_use]
    pub fn json_body(mut self, body: &Value) -> Self {
        self.body = body.to_string().into_bytes();
        self.header("content-type", "application/json")
    }

    /// Adds a form, as a browser sends it from a page of the service.
    #[must_use]
    pub fn form(mut self, fields: &[(&str, &str)]) -> Self {
        let mut form = form_urlencoded::Serializer::new(String::new());
        self.body = form.extend_pairs(fields).finish().into_bytes();
        self.header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin")
    }

    /// Sends it and leaves the body to the caller.
    pub async fn begin(self) -> Response<Body> {
        let request = self.builder.body(Body::from(self.body)).unwrap();
        self.router.oneshot(request).await.unwrap()
    }

    /// Sends it and reads the body.
    pub async fn send(self) -> Reply {
        let (parts, mut body) = self.begin().await.into_parts();
        let mut bytes = Vec::new();
        let mut cut = false;
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Err(_) => {
                    cut = true;
                    break;
                }
            }
        }
        Reply { status: parts.status, headers: parts.headers, body: bytes.into(), cut }
    }
}

impl Reply {
    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The body as lines of JSON.
    #[must_use]
    pub fn json_lines(&self) -> Vec<Value> {
        let text = self.text();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header as text; empty when there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> String {
        self.headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default()
    }

    /// Status and `X-Service-Error-Code`.
    #[must_use]
    pub fn outcome(&self) -> (u16, String) {
        (self.status.as_u16(), self.header("x-service-error-code"))
    }

    /// Names of the parameters that a 422 complains about, with the kinds of problem.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        assert_eq!(self.status, 422, "{}", self.text());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.json()["detail"]
            .as_array()
            .unwrap()
            .iter()
            .map(|problem| (text(&problem["loc"][1]), text(&problem["type"])))
            .collect()
    }

    /// Status, headers in alphabetical order and body, for snapshots.
    #[must_use]
    pub fn snapshot(&self) -> String {
        let mut text = format!("{}\n", self.status);
        let mut lines: Vec<String> = self
            .headers
            .iter()
            .filter(|(name, _)| !name.as_str().starts_with("access-control-"))
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect();
        lines.sort();
        let _ = write!(text, "{}\n\n{}", lines.join("\n"), self.text());
        if self.cut {
            text.push_str("\n(cut off)");
        }
        text
    }
}
