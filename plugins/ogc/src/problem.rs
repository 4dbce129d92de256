//! Failures as the standard reports them: problem documents (RFC 9457), with the `code` that
//! version 1.0 of Features has.

use serde_json::json;
use yearbook_sdk::adapter::{Document, Problem, Refusal, Request, Stop};

/// Ends the call with 400: a parameter that is unknown or wrong.
pub(crate) fn bad_request(sentence: impl Into<String>) -> Stop {
    Refusal::new(400, sentence).into()
}

/// Ends the call with 404.
pub(crate) fn not_found(sentence: impl Into<String>) -> Stop {
    Refusal::new(404, sentence).into()
}

/// A refusal, the host's or one of this API. What is 422 on `/v1` is 400 here, but where it is the
/// name of a dataset or the id of a feature, which is not there then.
pub(crate) fn document(request: &Request, refusal: &Refusal) -> Document {
    let is_feature = matches!(request.segments()[..], ["collections", _, "items", _, ..]);
    let is_of_path = |problem: &Problem| is_of_name(problem) || is_feature && is_of_id(problem);
    let status = match refusal.status {
        422 if refusal.problems.iter().all(is_of_path) => 404,
        422 => 400,
        status => status,
    };
    let (title, code) = named(status);
    let code = if refusal.code.is_empty() { code } else { &refusal.code };
    let detail: Vec<String> = refusal.problems.iter().map(sentence).collect();
    let problem = json!({
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail.join("; "),
        "code": code,
    });
    Document {
        media_type: "application/problem+json".to_owned(),
        ..Document::json(status, &problem)
    }
}

/// Returns whether a problem is with the name of a dataset.
fn is_of_name(problem: &Problem) -> bool {
    problem.place.last().is_some_and(|place| place == "name")
}

/// Returns whether a problem is with the row that an id names: by its key, or by its number.
fn is_of_id(problem: &Problem) -> bool {
    problem.place.last().is_some_and(|place| place == "row" || place.starts_with("where."))
}

/// A sentence that names its parameter as this API has it.
fn sentence(Problem { place, sentence }: &Problem) -> String {
    let parameter = place.last().map(|name| name.strip_prefix("where.").unwrap_or(name));
    match parameter {
        Some(name) if !sentence.contains(name) => format!("{name}: {sentence}"),
        _ => sentence.clone(),
    }
}

/// Title and code of a status.
fn named(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("Bad Request", "invalid_parameters"),
        401 => ("Unauthorized", "unauthorized"),
        403 => ("Forbidden", "forbidden"),
        404 => ("Not Found", "not_found"),
        405 => ("Method Not Allowed", "method_not_allowed"),
        406 => ("Not Acceptable", "not_acceptable"),
        410 => ("Gone", "gone"),
        413 => ("Content Too Large", "too_large"),
        429 => ("Too Many Requests", "too_many_requests"),
        503 => ("Service Unavailable", "unavailable"),
        500.. => ("Internal Server Error", "internal"),
        _ => ("Refused", "refused"),
    }
}
