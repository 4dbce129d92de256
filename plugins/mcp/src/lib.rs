//! The Model Context Protocol, by which assistants call tools: revision 2026-07-28 and those before
//! it that begin with `initialize`. One POST, one answer in JSON; no sessions and no streams.

mod arguments;
mod catalogue;
mod claim;
mod decimal;
mod message;
mod methods;
mod origin;
mod rows;
mod selection;
#[cfg(feature = "suite")]
mod suite;
mod tools;
mod verify;
mod version;

use yearbook_sdk::Adapter;
use yearbook_sdk::adapter::{
    AdapterDescription, Document, Example, Host, Refusal, Reply, Request, Step,
};

use crate::message::Message;

yearbook_sdk::export_adapter!(Mcp);

/// The adapter.
pub struct Mcp;

impl Adapter for Mcp {
    fn describe() -> AdapterDescription {
        AdapterDescription {
            name: if cfg!(feature = "suite") { "mcp-suite" } else { "mcp" },
            version: env!("CARGO_PKG_VERSION"),
            title: "Model Context Protocol",
            docs: "Tools for assistants: they find datasets, read rows with their units and credit, cite them, and check figures. \
                   Point a client that speaks Streamable HTTP here, with the key in `X-API-Key`.",
            posts: true,
            plus_is_space: false,
            headers: vec!["origin", "mcp-protocol-version", "mcp-method", "mcp-name"],
            key_parameter: None,
            examples: examples(),
        }
    }

    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        Ok(match message::read(request)? {
            Message::Call(call) => methods::answer(&call, host)?.into(),
            Message::Notification => Document::empty(202).into(),
        })
    }

    /// Writes a refusal of a tool as its result, which the assistant reads and acts upon. Statuses
    /// that the host keeps are errors of the protocol, for clients read no result behind them.
    fn refuse(request: &Request, refusal: &Refusal) -> Document {
        let is_kept = matches!(refusal.status, 401..=403 | 429 | 500..);
        let text = sentence(refusal);
        match message::read(request) {
            Ok(Message::Call(call)) if call.method == "tools/call" && !is_kept => {
                call.tool_error(&text)
            }
            Ok(Message::Call(call)) => call.error(refusal.status, refusal.status.into(), &text),
            _ => message::error(refusal.status, None, refusal.status.into(), &text),
        }
    }
}

/// The sentences of a refusal, each with the argument that it is about, and without the words with
/// which those of `/v1` begin.
fn sentence(refusal: &Refusal) -> String {
    let mut text = String::new();
    for problem in &refusal.problems {
        let place = problem.place.iter().filter(|part| *part != "query" && *part != "path");
        let place: Vec<&str> = place.map(String::as_str).collect();
        if !text.is_empty() {
            text.push_str("; ");
        }
        if !place.is_empty() {
            text += &format!("{}: ", place.join("."));
        }
        let sentence = problem.sentence.strip_prefix("Value error, ");
        text.push_str(sentence.unwrap_or(&problem.sentence));
    }
    if refusal.code == "no_such_dataset" {
        text.push_str(" (search_datasets finds names)");
    }
    if let Some(seconds) = refusal.retry_after {
        text += &format!(" Try again in {seconds} s.");
    }
    text
}

/// A request of each kind, which `plugin check` makes.
fn examples() -> Vec<Example> {
    let post = |body: &str, status| Example::post("/", "application/json", body, status);
    let call = |tool: &str, arguments: &str| {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#), 200)
    };
    let verify = |value: &str| {
        let claim = r#"{"dataset":"harvest_long","where":{"region":"north"},"start":"2024-03","end":"2024-03","value":"#;
        call("verify_figure", &format!("{claim}{value}}}"))
    };
    vec![
        call("search_datasets", r#"{"query":"harvest"}"#),
        call("describe_dataset", r#"{"dataset":"prices_wide"}"#),
        call("list_values", r#"{"dataset":"harvest_long","columns":["region"]}"#),
        call(
            "get_data",
            r#"{"dataset":"harvest_long","where":{"value.ge":2},"last":1,"limit":3,"sort":["-value"]}"#,
        ),
        call("cite", r#"{"dataset":"places"}"#),
        verify("1.5"),
        verify(r#""15""#),
        post(
            r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}"#,
            200,
        ),
        post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202),
        post(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#, 200),
        post(r#"{"jsonrpc":"2.0","id":3,"method":"nothing"}"#, 200),
        post("[]", 400),
        post("{}", 403).header("origin", "https://elsewhere.example.net"),
        Example::get("/", 405),
    ]
}
