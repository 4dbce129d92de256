//! Errors as pages: for clients that would rather have HTML, outside `/v1` (contract-9-not-v1). The
//! status, the headers and the sentence are those of the plain answer.

use askama::Template;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use yearbook_domain::Refusal;
use yearbook_http::middleware::ErrorPages;
use yearbook_http::{Error, accept, media_types};

use super::{Frame, Section, html};
use crate::{PageRefusal, PagesState};

/// A refusal or a failure.
#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    frame: Frame<'a>,
    status: u16,
    sentence: String,
    /// Words to search for instead; none where a search would not help.
    search: Option<String>,
    retry_after: Option<u64>,
    request_id: &'a str,
}

/// Pages in place of the bodies of errors, for clients that would rather have HTML.
impl ErrorPages for PagesState {
    fn are_wanted(&self, request: &Request) -> bool {
        !is_api(request.uri().path())
            && accept::choose(request.headers(), &[media_types::JSON, media_types::HTML]) == Some(1)
    }

    fn show(&self, error: &Error, id: &str, response: &mut Response) {
        match html::render_text(&page(self, error, id)) {
            Ok(text) => {
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_types::HTML));
                headers.remove(CONTENT_LENGTH);
                html::insert_headers(headers);
                *response.body_mut() = Body::from(text);
            }
            // The plain answer says the same.
            Err(failure) => tracing::error!(%failure, "cannot render an error as a page"),
        }
    }
}

/// Returns whether programs alone ask here.
fn is_api(path: &str) -> bool {
    path.strip_prefix("/v1").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn page<'a>(app: &'a PagesState, error: &Error, id: &'a str) -> ErrorPage<'a> {
    let (title, sentence, search) = words(error, id);
    ErrorPage {
        frame: app.site.frame(title, Section::Other),
        status: error.status().as_u16(),
        sentence,
        search,
        retry_after: error.retry_after(),
        request_id: id,
    }
}

/// Heading, sentence, and words to search for. People are told where to look in a browser; where
/// nothing better can be said, the sentence is the one that programs get.
fn words(error: &Error, id: &str) -> (&'static str, String, Option<String>) {
    if let Some(PageRefusal::DatasetRetired { name, since }) = error.room() {
        return (
            "Retired dataset",
            format!(
                "The dataset “{name}” was retired on {}. Its page and its rows are no longer served; citations of its versions stay valid.",
                since.date()
            ),
            Some(name.as_str().replace('_', " ")),
        );
    }
    match error {
        Error::Refused(Refusal::NoSuchDataset { name }) => (
            "No such dataset",
            format!("There is no dataset called “{name}”. Its name may be spelled otherwise: search for it below."),
            Some(name.replace('_', " ")),
        ),
        Error::NoSuchRoute => (
            "No such page",
            "There is no page at this address. Search the datasets below, or begin at the home page.".to_owned(),
            Some(String::new()),
        ),
        Error::Refused(Refusal::RateLimited { .. }) => {
            ("Too many requests", error.message(id), None)
        }
        Error::Busy { .. } | Error::TimedOut | Error::Unavailable => {
            ("Not available at the moment", error.message(id), None)
        }
        Error::Internal | Error::PluginFailed => ("Something went wrong", error.message(id), None),
        other => ("This cannot be answered", other.message(id), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_of_the_api_is_answered_with_a_page_contract_9() {
        for (path, expected) in
            [("/v1", true), ("/v1/", true), ("/v1/datasets", true), ("/v10", false), ("/", false)]
        {
            assert_eq!(is_api(path), expected, "{path}");
        }
    }
}
