//! Messages of JSON-RPC 2.0 as MCP has them: one a request, never a batch.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{Document, Method, Request, Step};

use crate::origin;
use crate::version::{self, SERVER_INFO_KEY};

/// Codes of errors.
pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// A message that a client may send.
pub(crate) enum Message {
    /// A request, which is answered.
    Call(Call),
    /// A notification, or an answer to a question that was never asked.
    Notification,
}

/// A request.
pub(crate) struct Call {
    /// Text or integer.
    pub(crate) id: Value,
    /// The method.
    pub(crate) method: String,
    /// Parameters; empty where there are none.
    pub(crate) params: Map<String, Value>,
    /// Set for revisions that say everything with each request.
    pub(crate) is_modern: bool,
}

/// Reads a request.
///
/// # Errors
/// The answer to what is no message, or comes in a way that no client may send it.
pub(crate) fn read(request: &Request) -> Step<Message> {
    let refuse =
        |status, sentence: &str| Err(error(status, None, INVALID_REQUEST, sentence).into());
    if !origin::is_own(request) {
        return refuse(403, "Pages of other sites may not send requests here.");
    }
    if !request.path.is_empty() {
        return refuse(404, "There is one address, /api/mcp, and nothing below it.");
    }
    if request.method == Method::Get {
        return refuse(405, "There are no streams here: send each message by POST.");
    }
    let content_type = request.header("content-type").unwrap_or_default();
    let content_type = content_type.split(';').next().unwrap_or_default().trim();
    if !content_type.eq_ignore_ascii_case("application/json") {
        return refuse(415, "Send the message with Content-Type: application/json.");
    }
    if request.preferred(&["application/json"]).is_none() {
        return refuse(406, "Answers are application/json: name it in Accept.");
    }
    let message: Value = serde_json::from_slice(&request.body).map_err(|fault| {
        let sentence = format!("The body is no JSON that is read here: {fault}.");
        error(400, None, PARSE_ERROR, &sentence)
    })?;
    match message {
        Value::Object(message) => parse(request, message),
        Value::Array(_) => refuse(400, "Batches are not taken: send each message by itself."),
        _ => refuse(400, "A message is a JSON object."),
    }
}

fn parse(request: &Request, mut message: Map<String, Value>) -> Step<Message> {
    let refuse = |id, sentence: &str| Err(error(400, id, INVALID_REQUEST, sentence).into());
    let id = message.remove("id");
    let is_id = |id: &&Value| id.is_string() || id.is_i64() || id.is_u64();
    let known = id.as_ref().filter(is_id);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(known, "A message has \"jsonrpc\": \"2.0\".");
    }
    let Some(method) = message.remove("method") else {
        return if message.contains_key("result") || message.contains_key("error") {
            Ok(Message::Notification)
        } else {
            refuse(known, "A message has a method.")
        };
    };
    let Value::String(method) = method else {
        return refuse(known, "A method is a text.");
    };
    if id.is_none() {
        return Ok(Message::Notification);
    }
    let Some(id) = known.cloned() else { return refuse(None, "An id is a text or an integer.") };
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            return Err(error(400, Some(&id), INVALID_PARAMS, "Parameters are an object.").into());
        }
    };
    let mut call = Call { id, method, params, is_modern: false };
    call.is_modern = version::is_modern(request, &call)?;
    Ok(Message::Call(call))
}

impl Call {
    /// Its answer.
    pub(crate) fn result(&self, result: Map<String, Value>) -> Document {
        let result = self.complete(result);
        let answer = json!({ "jsonrpc": "2.0", "id": self.id, "result": result });
        Document::json(200, &answer)
    }

    /// The same with one more member, whose value is JSON already.
    pub(crate) fn result_with(
        &self,
        result: Map<String, Value>,
        name: &str,
        value: &str,
    ) -> Document {
        let rest = Value::Object(self.complete(result)).to_string();
        let rest = rest.trim_start_matches('{');
        let comma = if rest == "}" { "" } else { "," };
        let id = &self.id;
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"{name}":{value}{comma}{rest}}}"#);
        Document { body: body.into_bytes(), ..Document::json(200, &Value::Null) }
    }

    /// A result with what newer revisions want of each.
    fn complete(&self, mut result: Map<String, Value>) -> Map<String, Value> {
        if self.is_modern {
            result.insert("resultType".to_owned(), json!("complete"));
            let info = json!({ SERVER_INFO_KEY: version::server_info() });
            result.insert("_meta".to_owned(), info);
        }
        result
    }

    /// The result of a tool: the structure, and the same as text.
    pub(crate) fn tool_result(&self, structure: Value) -> Document {
        let mut result = Map::new();
        let text = structure.to_string();
        result.insert("content".to_owned(), json!([{ "type": "text", "text": text }]));
        result.insert("structuredContent".to_owned(), structure);
        result.insert("isError".to_owned(), json!(false));
        self.result(result)
    }

    /// The result of a tool that was refused.
    pub(crate) fn tool_error(&self, sentence: &str) -> Document {
        let mut result = Map::new();
        result.insert("content".to_owned(), json!([{ "type": "text", "text": sentence }]));
        result.insert("isError".to_owned(), json!(true));
        self.result(result)
    }

    /// An error of the protocol.
    pub(crate) fn error(&self, status: u16, code: i64, sentence: &str) -> Document {
        error(status, Some(&self.id), code, sentence)
    }
}

/// An error of the protocol. Where no id could be read it is null, as JSON-RPC wants it and the
/// official client for Python: without one that client shows no sentence.
pub(crate) fn error(status: u16, id: Option<&Value>, code: i64, sentence: &str) -> Document {
    error_with(status, id, json!({ "code": code, "message": sentence }))
}

/// An error of the protocol, written out.
pub(crate) fn error_with(status: u16, id: Option<&Value>, error: Value) -> Document {
    Document::json(status, &json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}
