//! Revisions of the protocol, and what a request says of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use yearbook_sdk::adapter::{Document, Request, Step, Stop};

use crate::message::{Call, INVALID_PARAMS, error_with};

/// The revision whose requests say everything with each of them.
pub(crate) const MODERN: &str = "2026-07-28";
/// Revisions that begin with `initialize`, the newest first.
pub(crate) const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// The revision that a request without a header is of. A header may name it, but no handshake ends
/// with it, for it wants batches taken.
const UNNAMED: &str = "2025-03-26";
/// Member of `_meta` in which a server names itself.
pub(crate) const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Name and version of this server.
pub(crate) fn server_info() -> Value {
    json!({ "name": "yearbook", "title": "Yearbook", "version": env!("CARGO_PKG_VERSION") })
}

/// Every revision that a client may choose, the newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    [MODERN].into_iter().chain(LEGACY).collect()
}

/// Returns whether a request says everything of itself, as [`MODERN`] wants it.
///
/// # Errors
/// The answer to a revision that is not spoken here, and to headers that differ from the body.
pub(crate) fn is_modern(request: &Request, call: &Call) -> Step<bool> {
    let header = request.header("mcp-protocol-version");
    let meta = call.params.get("_meta");
    let stated = meta.and_then(|meta| meta.get(VERSION_KEY));
    if stated.is_none() && header != Some(MODERN) && call.method != "server/discover" {
        return match header {
            // A handshake may name any revision: the answer to it names one of ours.
            Some(named)
                if named != UNNAMED && !LEGACY.contains(&named) && call.method != "initialize" =>
            {
                Err(unsupported(call, named).into())
            }
            _ => Ok(false),
        };
    }
    let invalid = |sentence: &str| Stop::from(call.error(400, INVALID_PARAMS, sentence));
    let stated = stated.and_then(Value::as_str).ok_or_else(|| {
        invalid(&format!("params._meta needs {VERSION_KEY}, as every request of {MODERN} has it."))
    })?;
    if stated != MODERN {
        return Err(unsupported(call, stated).into());
    }
    let body_name = call.params.get("name").and_then(Value::as_str);
    for (name, wanted) in [
        ("MCP-Protocol-Version", Some(stated)),
        ("Mcp-Method", Some(call.method.as_str())),
        ("Mcp-Name", body_name.filter(|_| call.method == "tools/call")),
    ] {
        let Some(wanted) = wanted else { continue };
        let sent = request.header(&name.to_ascii_lowercase());
        if sent.and_then(decode).as_deref() != Some(wanted) {
            let sent = sent.map_or("is missing".to_owned(), |sent| format!("is '{sent}'"));
            let sentence = format!("The header {name} {sent}, and the body says '{wanted}'.");
            return Err(call.error(400, HEADER_MISMATCH, &sentence).into());
        }
    }
    if !meta.and_then(|meta| meta.get(CAPABILITIES_KEY)).is_some_and(Value::is_object) {
        return Err(invalid(&format!("params._meta needs the object {CAPABILITIES_KEY}.")));
    }
    Ok(true)
}

fn unsupported(call: &Call, requested: &str) -> Document {
    let supported = supported();
    let sentence = format!("This revision is not spoken here; {} are.", supported.join(", "));
    let data = json!({ "supported": supported, "requested": requested });
    let error = json!({ "code": UNSUPPORTED_VERSION, "message": sentence, "data": data });
    error_with(400, Some(&call.id), error)
}

/// The value of a header, which may be Base64 where it is no plain text.
fn decode(header: &str) -> Option<String> {
    let coded = header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match coded {
        None => Some(header.to_owned()),
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok(),
    }
}
