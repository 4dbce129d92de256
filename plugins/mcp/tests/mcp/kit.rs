//! Messages to the adapter over the sample catalogue.

use serde_json::{Value, json};
use yearbook_mcp::Mcp;
use yearbook_sdk::adapter::{Document, Example, Fact, Question, Reply, Request};
use yearbook_sdk::testing::adapting;
use yearbook_sdk::testing::sample::SampleCatalogue;

/// A message by POST.
pub(crate) fn post(message: &Value) -> Request {
    let mut request = Example::post("/", "application/json", message.to_string(), 200).request;
    request.base = "https://data.example.org/api/mcp".to_owned();
    request
}

/// Status and body of the answer to a request.
pub(crate) fn send(request: &Request) -> (u16, Value) {
    let document = adapting::answer::<Mcp>(request);
    let body = serde_json::from_slice(&document.body).unwrap_or(Value::Null);
    (document.status, body)
}

/// A request with an id.
pub(crate) fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// A call of a tool.
pub(crate) fn tool_call(tool: &str, arguments: Value) -> Request {
    post(&message("tools/call", json!({ "name": tool, "arguments": arguments })))
}

/// The result of a tool.
pub(crate) fn tool(tool: &str, arguments: Value) -> Value {
    structure(&adapting::answer::<Mcp>(&tool_call(tool, arguments)))
}

/// The structure of a result, which must be the same as its text.
pub(crate) fn structure(document: &Document) -> Value {
    assert_eq!(document.status, 200);
    let body: Value = serde_json::from_slice(&document.body).unwrap_or_default();
    let result = &body["result"];
    assert_eq!(result["isError"], false, "{body}");
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(serde_json::from_str::<Value>(text).ok().as_ref(), result.get("structuredContent"));
    result["structuredContent"].clone()
}

/// The sentence with which a tool was refused.
pub(crate) fn refused(tool: &str, arguments: Value) -> String {
    let (status, body) = send(&tool_call(tool, arguments));
    assert_eq!((status, &body["result"]["isError"]), (200, &json!(true)), "{body}");
    body["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// The answer to a request over the sample catalogue, whose answers `change` may change, and all
/// questions.
pub(crate) fn answer_with(
    request: &Request,
    change: impl Fn(&Question, Fact) -> Fact,
) -> (Document, Vec<Question>) {
    let catalogue = SampleCatalogue::new();
    let (mut facts, mut asked) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        match adapting::call::<Mcp>(request, facts.clone()) {
            Reply::Document(document) => return (document, asked),
            Reply::Rows(_) => break,
            Reply::Ask(questions) => {
                for question in questions {
                    facts.push(change(&question, catalogue.answer(&question)));
                    asked.push(question);
                }
            }
        }
    }
    panic!("a document within four calls")
}
