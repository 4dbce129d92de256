//! From a template to an answer: rendering, with control characters made visible, and the headers
//! that keep a page to itself. Never touches what else a page says.

use askama::Template;
use axum::response::Response;
use http::HeaderMap;
use yearbook_http::document::CachePolicy;
use yearbook_http::headers::insert_browser_headers;
use yearbook_http::{Error, RenderedDocument};

use crate::PagesState;

/// This host alone, no inline script and no inline style (contract-9-no-other-host).
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Renders a page.
///
/// # Errors
/// [`Error::Internal`] when a value cannot be written, which is a bug.
pub(crate) fn render(page: &impl Template) -> Result<RenderedDocument, Error> {
    let text = render_text(page).map_err(|failure| Error::internal("render a page", &failure))?;
    Ok(RenderedDocument::html(text))
}

/// Renders a page as text. Every value in it has passed here, so none can bring a character that
/// HTML forbids.
///
/// # Errors
/// [`askama::Error`] when a value cannot be written, which is a bug.
pub(crate) fn render_text(page: &impl Template) -> Result<String, askama::Error> {
    let text = page.render()?;
    if !text.contains(|letter: char| visible(letter) != letter) {
        return Ok(text);
    }
    Ok(text.chars().map(visible).collect())
}

/// The character that documents show in place of `letter`: a picture of it for a control character
/// of ASCII (U+2400 and those that follow), U+FFFD for others that HTML or XML forbid.
pub(crate) fn visible(letter: char) -> char {
    match letter {
        '\t' | '\n' | '\r' => letter,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ => letter,
    }
}

/// 200 with `document`, or 304 when the client has it.
///
/// # Errors
/// Those of [`RenderedDocument::respond`].
pub(crate) async fn respond(
    app: &PagesState,
    request_headers: &HeaderMap,
    document: &RenderedDocument,
    policy: CachePolicy,
) -> Result<Response, Error> {
    let mut response = document.respond(&app.core, request_headers, policy).await?;
    insert_headers(response.headers_mut());
    Ok(response)
}

/// Headers of every answer that a browser shows.
pub(crate) fn insert_headers(headers: &mut HeaderMap) {
    insert_browser_headers(headers, POLICY);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[derive(Template)]
    #[template(source = "<p title=\"{{ text }}\">{{ text }}</p>", ext = "html")]
    struct Words<'a> {
        text: &'a str,
    }

    #[test]
    fn control_characters_are_seen_contract_9() {
        for (text, expected) in [
            ("plain\tā 💩", "plain\tā 💩"),
            ("\0<\u{1b}", "␀&#60;␛"),
            ("\u{7f}\u{85}\u{ffff}", "␡\u{fffd}\u{fffd}"),
        ] {
            let page = render_text(&Words { text }).unwrap();
            assert_eq!(page, format!("<p title=\"{expected}\">{expected}</p>"));
        }
    }
}
