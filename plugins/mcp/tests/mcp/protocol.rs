//! The protocol: messages, revisions, headers, refusals (contract-20).

use crate::kit::{message, post, send};
use serde_json::{Value, json};
use yearbook_mcp::Mcp;
use yearbook_sdk::Adapter as _;
use yearbook_sdk::adapter::{Document, Example, Method, Refusal, Request};
use yearbook_sdk::testing::adapting;

const MODERN: &str = "2026-07-28";

/// Parameters of a request that says everything of itself.
fn meta(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

fn with_headers(mut request: Request, headers: &[(&str, &str)]) -> Request {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    request.headers.extend(headers);
    request
}

fn modern(method: &str, params: Value) -> Request {
    let request = post(&message(method, meta(params)));
    with_headers(request, &[("mcp-protocol-version", MODERN), ("mcp-method", method)])
}

fn code((status, body): (u16, Value)) -> (u16, i64) {
    (status, body["error"]["code"].as_i64().unwrap())
}

#[test]
fn the_adapter_holds_what_every_adapter_must_contract_20() {
    adapting::check::<Mcp>();
}

#[test]
fn a_handshake_ends_with_a_revision_of_ours_contract_20() {
    for (wanted, given) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        // It wants batches taken.
        ("2025-03-26", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2030-01-01", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": wanted, "capabilities": {}, "clientInfo": {} });
        let (status, body) = send(&post(&message("initialize", params)));
        assert_eq!((status, &body["id"]), (200, &json!(7)));
        let result = &body["result"];
        assert_eq!(result["protocolVersion"], given);
        assert_eq!(result["capabilities"], json!({ "tools": {} }));
        assert_eq!(result["serverInfo"]["name"], "yearbook");
        assert!(result["instructions"].as_str().unwrap().contains("search_datasets"));
    }
    assert_eq!(code(send(&post(&message("initialize", json!({}))))), (200, -32602));
    let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
    assert_eq!(send(&post(&ping)), (200, json!({ "jsonrpc": "2.0", "id": "p", "result": {} })));
}

#[test]
fn requests_that_say_everything_need_no_handshake_contract_20() {
    let (status, body) = send(&modern("server/discover", json!({})));
    let result = &body["result"];
    assert_eq!(status, 200, "{body}");
    let versions = json!([MODERN, "2025-11-25", "2025-06-18"]);
    assert_eq!(result["supportedVersions"], versions);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "public");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "yearbook");
    let (_, body) = send(&modern("tools/list", json!({})));
    assert!(body["result"]["ttlMs"].as_u64().unwrap() > 0);
    for name in ["cite", "=?base64?Y2l0ZQ==?="] {
        let call = json!({ "name": "cite", "arguments": { "dataset": "codes" } });
        let call = with_headers(modern("tools/call", call), &[("mcp-name", name)]);
        let (status, body) = send(&call);
        assert_eq!((status, &body["result"]["resultType"]), (200, &json!("complete")), "{body}");
    }
    // What only the revisions before have.
    assert_eq!(code(send(&modern("ping", json!({})))), (404, -32601));
    assert_eq!(code(send(&modern("initialize", json!({})))), (404, -32601));
}

#[test]
fn headers_say_what_the_body_says_contract_20() {
    let call = json!({ "name": "cite", "arguments": { "dataset": "codes" } });
    let body = || post(&message("tools/call", meta(call.clone())));
    let version = ("mcp-protocol-version", MODERN);
    let method = ("mcp-method", "tools/call");
    for headers in [
        &[][..],
        &[version],
        &[version, method],
        &[method, ("mcp-name", "cite")],
        &[version, ("mcp-method", "tools/list"), ("mcp-name", "cite")],
        &[version, method, ("mcp-name", "get_data")],
        &[version, method, ("mcp-name", "=?base64?!?=")],
        &[("mcp-protocol-version", "2025-11-25"), method, ("mcp-name", "cite")],
    ] {
        assert_eq!(code(send(&with_headers(body(), headers))), (400, -32020), "{headers:?}");
    }
    // Without what the body must say of itself.
    let bare = post(&message("tools/list", json!({})));
    assert_eq!(code(send(&with_headers(bare, &[version]))), (400, -32602));
    let mut without = meta(json!({}));
    without["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    let headers = [version, ("mcp-method", "tools/list")];
    let request = with_headers(post(&message("tools/list", without)), &headers);
    assert_eq!(code(send(&request)), (400, -32602));
}

#[test]
fn a_revision_that_is_not_spoken_is_refused_with_those_that_are_contract_20() {
    let list = || post(&message("tools/list", json!({})));
    let header = |version| with_headers(list(), &[("mcp-protocol-version", version)]);
    // The last one is that of a request without a header.
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        assert_eq!(send(&header(version)).0, 200);
    }
    let (status, body) = send(&header("1999-01-01"));
    assert_eq!((status, &body["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(body["error"]["data"]["requested"], "1999-01-01");
    let supported = json!([MODERN, "2025-11-25", "2025-06-18"]);
    assert_eq!(body["error"]["data"]["supported"], supported);
    let mut params = meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    assert_eq!(code(send(&post(&message("tools/list", params)))), (400, -32022));
}

#[test]
fn what_is_no_message_is_refused_contract_20() {
    let raw = |body: &[u8]| Example::post("/", "application/json", body, 400).request;
    for (body, expected) in [
        (&b""[..], -32700),
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{}", -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
    ] {
        let text = String::from_utf8_lossy(body);
        assert_eq!(code(send(&raw(body))), (400, expected), "{text}");
    }
    let deep = [b"[".repeat(32 << 10), b"]".repeat(32 << 10)].concat();
    assert_eq!(code(send(&raw(&deep))), (400, -32700));
    let unknown = post(&message("resources/list", json!({})));
    assert_eq!(code(send(&unknown)), (200, -32601));
}

#[test]
fn notifications_are_taken_in_silence_contract_20() {
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 3, "result": {} }),
    ] {
        let document = adapting::answer::<Mcp>(&post(&message));
        assert_eq!((document.status, document.body.len()), (202, 0));
    }
}

#[test]
fn one_address_takes_json_by_post_contract_20() {
    let ping = message("ping", json!({}));
    let status = |request: &Request| send(request).0;
    assert_eq!(status(&Request { method: Method::Get, ..post(&ping) }), 405);
    assert_eq!(status(&Request { path: vec!["sse".into()], ..post(&ping) }), 404);
    for content_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        assert_eq!(status(&Request { headers, ..post(&ping) }), 415);
    }
    let charset = vec![("content-type".to_owned(), "Application/JSON; charset=utf-8".to_owned())];
    assert_eq!(status(&Request { headers: charset, ..post(&ping) }), 200);
    assert_eq!(status(&with_headers(post(&ping), &[("accept", "text/html")])), 406);
    let accept = "application/json, text/event-stream";
    assert_eq!(status(&with_headers(post(&ping), &[("accept", accept)])), 200);
}

#[test]
fn pages_of_other_sites_are_refused_contract_20() {
    let ping = message("ping", json!({}));
    for (origin, status) in [
        ("https://data.example.org", 200),
        ("https://DATA.example.org", 200),
        ("http://data.example.org", 403),
        ("https://data.example.org:8443", 403),
        ("https://data.example.org.evil.example", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("", 403),
    ] {
        assert_eq!(send(&with_headers(post(&ping), &[("origin", origin)])).0, status, "{origin}");
    }
}

/// Status and body of a refusal of the host.
fn refusal(request: &Request, status: u16) -> (u16, Value) {
    let mut refusal = Refusal::new(status, "Value error, It is so.");
    refusal.problems[0].place = vec!["query".into(), "where.region".into()];
    refusal.retry_after = (status == 429).then_some(2);
    let Document { status, body, .. } = Mcp::refuse(request, &refusal);
    (status, serde_json::from_slice(&body).unwrap())
}

#[test]
fn a_refusal_of_a_tool_is_its_result_contract_20() {
    let call = crate::kit::tool_call("get_data", json!({ "dataset": "codes" }));
    for status in [404, 410, 413, 422] {
        let (sent, body) = refusal(&call, status);
        assert_eq!((sent, &body["result"]["isError"], &body["id"]), (200, &json!(true), &json!(7)));
        assert_eq!(body["result"]["content"][0]["text"], "where.region: It is so.");
    }
    // These keep their status, behind which clients read errors alone.
    for status in [401, 402, 403, 429, 500, 503] {
        let (sent, body) = refusal(&call, status);
        assert_eq!((sent, body["error"]["code"].as_u64()), (status, Some(status.into())));
        assert_eq!(body["id"], 7);
    }
    let text = refusal(&call, 429).1["error"]["message"].clone();
    assert_eq!(text, "where.region: It is so. Try again in 2 s.");
    let (sent, body) = refusal(&Example::post("/", "application/json", "{", 413).request, 413);
    assert_eq!((sent, &body["id"], &body["error"]["code"]), (413, &Value::Null, &json!(413)));
    assert!(body.as_object().unwrap().contains_key("id"));
}

#[test]
fn every_tool_says_what_it_takes_and_gives_contract_20() {
    let (_, body) = send(&post(&message("tools/list", json!({}))));
    let tools = body["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected =
        ["search_datasets", "describe_dataset", "list_values", "get_data", "cite", "verify_figure"];
    assert_eq!(names, expected);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object");
            let text = tool[schema].to_string();
            assert!(!text.contains("\"@") && !text.contains("\"+\""), "a part is missing: {text}");
            // Some clients know one type a schema.
            assert!(!text.contains("\"type\":["), "several types: {text}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert!(tool["description"].as_str().unwrap().len() > 50);
    }
    let cursor = message("tools/list", json!({ "cursor": "x" }));
    assert_eq!(code(send(&post(&cursor))), (200, -32602));
    for params in
        [json!({}), json!({ "name": "nothing" }), json!({ "name": "cite", "arguments": 1 })]
    {
        assert_eq!(code(send(&post(&message("tools/call", params)))), (200, -32602));
    }
}
