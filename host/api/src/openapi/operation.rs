//! One operation of the description: what a route takes, who may ask, what it answers.

use serde_json::{Map, Value, json};
use yearbook_http::media_types::{JSON, PROBLEM_JSON};
use yearbook_sandbox::PluginSet;

use super::{headers, refusals};

/// Kind of a route, which decides its key scheme and its refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteKind {
    /// Liveness and readiness.
    Health,
    /// The list of datasets.
    Listing,
    /// One dataset's metadata.
    Dataset,
    /// Up to ten rows for anybody.
    Preview,
    /// Rows.
    Data,
    /// Changes between versions.
    Changes,
    /// Rows of all versions.
    Revisions,
    /// Values of columns.
    Values,
    /// A link to rows.
    Link,
    /// Rows by a link.
    LinkedRows,
    /// The stored file.
    Bulk,
    /// Files for a tool.
    Integration,
    /// The caller's plan.
    Me,
}

impl RouteKind {
    /// Returns whether a key is needed (spec-5-header: all of `/v1` but the preview).
    pub(super) fn needs_key(self) -> bool {
        !matches!(self, Self::Health | Self::Preview | Self::LinkedRows)
    }

    /// Returns whether answers are counted against the month (contract-5-charged).
    pub(super) fn charged(self) -> bool {
        self == Self::LinkedRows || self.tells_limits()
    }

    /// Returns whether answers tell the limits of the key: those by a link do not
    /// (contract-15-link-headers).
    pub(super) fn tells_limits(self) -> bool {
        self.needs_key() && !matches!(self, Self::Me | Self::Link)
    }

    fn tag(self) -> &'static str {
        match self {
            Self::Listing
            | Self::Dataset
            | Self::Preview
            | Self::Data
            | Self::Changes
            | Self::Revisions
            | Self::Values
            | Self::Link
            | Self::LinkedRows => "Datasets",
            Self::Bulk => "Bulk",
            Self::Integration => "Integrations",
            Self::Health | Self::Me => "Service",
        }
    }

    /// Key schemes (spec-5-second-scheme).
    fn security(self) -> Value {
        match self {
            Self::Health | Self::LinkedRows => json!([]),
            // Named, as the specification has it, and not needed (contract-4-openapi-headers).
            Self::Preview => json!([{}, {"ApiKeyAuth": []}]),
            Self::Integration => alternatives("APIKeyHeader"),
            Self::Listing
            | Self::Dataset
            | Self::Data
            | Self::Changes
            | Self::Revisions
            | Self::Values
            | Self::Link
            | Self::Bulk
            | Self::Me => alternatives("ApiKeyAuth"),
        }
    }
}

/// Ways to send a key, of which each does (contract-15-authorization); `header` is the first.
fn alternatives(header: &str) -> Value {
    json!([{header: []}, {"BearerAuth": []}, {"BasicAuth": []}])
}

/// An operation in the making.
pub(super) struct Operation {
    kind: RouteKind,
    members: Map<String, Value>,
    parameters: Vec<Value>,
    responses: Map<String, Value>,
}

impl Operation {
    /// An operation with nothing to choose yet. `id` is what client libraries call it.
    pub(super) fn new(
        kind: RouteKind,
        id: &str,
        summary: &str,
        description: impl Into<String>,
    ) -> Self {
        let members = [
            ("operationId", json!(id)),
            ("tags", json!([kind.tag()])),
            ("summary", json!(summary)),
            ("description", json!(description.into())),
            ("security", kind.security()),
        ];
        let members = members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        Self { kind, members, parameters: Vec::new(), responses: Map::new() }
    }

    /// Takes parameters that stand among the components.
    pub(super) fn takes(mut self, names: &[&str]) -> Self {
        self.parameters.extend(
            names.iter().map(|name| json!({"$ref": format!("#/components/parameters/{name}")})),
        );
        self
    }

    /// Takes parameters of its own.
    pub(super) fn takes_also(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Answers `status` with these headers and `content` (media types; none: no body).
    pub(super) fn answers(
        mut self,
        status: u16,
        description: &str,
        headers: &[&str],
        content: Option<Value>,
    ) -> Self {
        let mut names: Vec<&str> = headers.to_vec();
        if self.kind.tells_limits() {
            names.extend(headers::RATE_LIMIT_HEADERS);
        }
        if (200..300).contains(&status) && self.kind != RouteKind::Health {
            names.push("X-Service-Ignored");
        }
        let mut response =
            json!({"description": description, "headers": headers::references(&names)});
        if let Some(content) = content {
            response["content"] = content;
        }
        self.responses.insert(status.to_string(), response);
        self
    }

    /// The path item: the operation with what it may refuse, and the same for HEAD.
    pub(super) fn finish(mut self, plugins: &PluginSet) -> Value {
        if !matches!(self.kind, RouteKind::Health | RouteKind::LinkedRows) {
            let headers = headers::references_alone(&["X-Request-Id", "Location"]);
            let moved = json!({"description": "The address was sent with a slash at its end, and is this one without it.", "headers": headers});
            self.responses.insert("308".to_owned(), moved);
        }
        for (status, response) in refusals::error_responses(self.kind, plugins) {
            match self.responses.get_mut(&status) {
                // A report of ill health and a refusal may share a status.
                Some(known) => {
                    let schemas = [&known["content"], &response["content"]]
                        .map(|content| content[JSON]["schema"].clone());
                    known["content"][JSON] = json!({"schema": {"anyOf": schemas}});
                    known["content"][PROBLEM_JSON] = response["content"][PROBLEM_JSON].clone();
                }
                None => {
                    self.responses.insert(status, response);
                }
            }
        }
        if !self.parameters.is_empty() {
            self.members.insert("parameters".to_owned(), Value::Array(self.parameters));
        }
        self.members.insert("responses".to_owned(), Value::Object(self.responses));
        let head = head(self.kind, &self.members);
        json!({"get": self.members, "head": head})
    }
}

/// The operation HEAD of the operation `get`: the same headers without a body. Parts of a file and
/// redirects to it are a matter of GET alone.
fn head(kind: RouteKind, get: &Map<String, Value>) -> Value {
    let mut head = get.clone();
    let text = |name: &str| get.get(name).and_then(Value::as_str).unwrap_or_default();
    let id = text("operationId");
    let (first, rest) =
        id.strip_prefix("get").unwrap_or(id).split_at_checked(1).unwrap_or_default();
    head.insert(
        "operationId".to_owned(),
        json!(format!("head{}{rest}", first.to_ascii_uppercase())),
    );
    head.insert("summary".to_owned(), json!(format!("{}: headers alone", text("summary"))));
    let free = if kind.charged() {
        ", and costs nothing: it is answered even when the month's requests are used up"
    } else {
        ""
    };
    head.insert(
        "description".to_owned(),
        json!(format!("Has the status and the headers of GET without a body{free}.")),
    );
    if let Some(responses) = head.get_mut("responses").and_then(Value::as_object_mut) {
        responses.retain(|status, _| !["206", "307", "416"].contains(&status.as_str()));
        for response in responses.values_mut().filter_map(Value::as_object_mut) {
            response.remove("content");
        }
    }
    if let Some(parameters) = head.get_mut("parameters").and_then(Value::as_array_mut) {
        let of_parts = ["Range", "If-Range"]
            .map(|name| json!({"$ref": format!("#/components/parameters/{name}")}));
        parameters.retain(|parameter| !of_parts.contains(parameter));
    }
    Value::Object(head)
}
