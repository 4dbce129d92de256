//! Tools that the official suite of the protocol defines and calls, out of `suite.json`. They are
//! part of a build for its check alone (the feature `suite`), where the list has them too.

use serde_json::Value;
use yearbook_sdk::adapter::Document;

use crate::message::Call;
use crate::methods::members;

/// The answer to a call of the tool `name`. `None` where it is none of them.
pub(crate) fn answer(call: &Call, name: &str) -> Option<Document> {
    let mut entry = entries().into_iter().find(|entry| entry["tool"]["name"] == name)?;
    Some(match entry["refused"].as_str() {
        Some(sentence) => call.tool_error(sentence),
        None => call.result(members(entry["result"].take())),
    })
}

fn entries() -> Vec<Value> {
    serde_json::from_str(include_str!("suite.json")).unwrap_or_default()
}
