//! Failures as SDMX reports them: an error message with the standard's own code.

use serde_json::json;
use yearbook_sdk::adapter::{Document, Problem, Refusal, Request, Stop};

use crate::xml::Xml;

/// Ends the call with 400: the query does not comply.
pub(crate) fn bad_request(sentence: impl Into<String>) -> Stop {
    Refusal::new(400, sentence).into()
}

/// Ends the call with 404.
pub(crate) fn not_found(sentence: impl Into<String>) -> Stop {
    Refusal::new(404, sentence).into()
}

/// Ends the call with 501: the query complies, and no selection of rows can say it.
pub(crate) fn unsaid(sentence: impl Into<String>) -> Stop {
    Refusal::new(501, sentence).into()
}

/// Sentence for what was published anew while it was read. No client of this API names a snapshot.
const OVERTAKEN: &str = "a newer version was published while this one was read; ask again";

/// A refusal, the host's or one of this API. What is 422 on `/v1` is 400 here, but where it is the
/// name of a dataset, which is not there then.
pub(crate) fn document(request: &Request, refusal: &Refusal) -> Document {
    if refusal.code == "snapshot_gone" {
        return message(request, 422, OVERTAKEN);
    }
    let is_name = |problem: &Problem| problem.place.last().is_some_and(|place| place == "name");
    let status = match refusal.status {
        422 if !refusal.problems.is_empty() && refusal.problems.iter().all(is_name) => 404,
        422 => 400,
        410 => 404,
        status => status,
    };
    let sentences: Vec<String> = refusal.problems.iter().map(sentence).collect();
    message(request, status, &sentences.join("; "))
}

/// An error message: XML, or JSON for clients that read no XML.
pub(crate) fn message(request: &Request, status: u16, sentence: &str) -> Document {
    let is_30 = request.path.first().is_some_and(|face| face == "3.0");
    let accept = request.header("accept").unwrap_or_default();
    if is_30 && accept.contains("json") && !accept.contains("xml") {
        let errors = json!({ "errors": [{ "code": code(status), "title": sentence }] });
        return Document::json(status, &errors);
    }
    xml_message(status, sentence, is_30)
}

fn xml_message(status: u16, sentence: &str, is_30: bool) -> Document {
    let version = if is_30 { "v3_0" } else { "v2_1" };
    let space =
        |name: &str| format!("http://www.sdmx.org/resources/sdmxml/schemas/{version}/{name}");
    let spaces = [("xmlns:mes", &*space("message")), ("xmlns:com", &*space("common"))];
    let mut xml = Xml::new("mes:Error", &spaces);
    xml.open("mes:ErrorMessage", &[("code", &*code(status).to_string())]);
    xml.leaf("com:Text", &[("xml:lang", "en")], sentence);
    Document::xml(status, xml.finish())
}

/// A sentence that names its parameter.
fn sentence(Problem { place, sentence }: &Problem) -> String {
    let parameter = place.last().map(|name| name.strip_prefix("where.").unwrap_or(name));
    match parameter {
        Some(name) if !sentence.contains(name) => format!("{name}: {sentence}"),
        _ => sentence.clone(),
    }
}

/// The standard's code of a status; those from 1000 are a service's own.
const fn code(status: u16) -> u16 {
    match status {
        404 => 100,
        401 => 110,
        413 => 130,
        400 => 140,
        403 => 150,
        500 => 500,
        501 => 501,
        503 => 503,
        other => 1000 + other,
    }
}
