//! Documents that an adapter wrote, checked before anything of them becomes a header or is shown by
//! a browser.

use super::adapter as guest;
use crate::guest::parameters::{check_media_type, quote};

/// Statuses that documents have.
const STATUSES: [u16; 13] = [200, 202, 204, 303, 400, 403, 404, 405, 406, 413, 415, 422, 501];
/// Longest body.
const BODY_BYTES: usize = 16 << 20;
/// Most links, and longest address and relation of one.
const LINKS: usize = 16;
const ADDRESS_BYTES: usize = 2048;
const RELATION_BYTES: usize = 200;
/// Longest tag of a language.
const LANGUAGE_BYTES: usize = 35;

/// Parts of media types that a browser runs, or takes apart into documents that it runs.
const RUN: [&str; 5] = ["html", "script", "xsl", "multipart/", "message/"];

/// Checks a document. `refused`: status of the refusal that it is written for, which it may keep.
///
/// # Errors
/// A sentence that names the rule.
pub(super) fn check_document(
    document: &guest::Document,
    base: &str,
    refused: Option<u16>,
) -> Result<(), String> {
    let guest::Document { status, media_type, language, location, links, body } = document;
    if !STATUSES.contains(status) && Some(*status) != refused {
        return Err(format!("status {status}; documents have one of {STATUSES:?}"));
    }
    check_shown_type(media_type)?;
    if let Some(tag) = language
        && (tag.is_empty()
            || tag.len() > LANGUAGE_BYTES
            || !tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
    {
        return Err(format!("language {} is no tag of a language", quote(tag)));
    }
    match (status, location) {
        (303, Some(path)) if is_path(path) => {}
        (303, _) => return Err("303 without a path of this service as its location".to_owned()),
        (_, None) => {}
        (_, Some(_)) => return Err(format!("a location with status {status}")),
    }
    check_links(links, base)?;
    if matches!(status, 202 | 204 | 303) && !body.is_empty() {
        return Err(format!("a body with status {status}"));
    }
    if body.len() > BODY_BYTES {
        return Err(format!("a body of {} bytes; at most {BODY_BYTES} are taken", body.len()));
    }
    Ok(())
}

/// Checks a media type that a browser may be shown.
///
/// # Errors
/// A sentence that names the rule.
pub(super) fn check_shown_type(media_type: &str) -> Result<(), String> {
    check_media_type(media_type)?;
    let lower = media_type.to_ascii_lowercase();
    let essence = lower.split(';').next().unwrap_or_default().trim_end();
    // Pictures in XML hold scripts.
    let is_run = essence.starts_with("image/") && essence.ends_with("xml");
    if is_run || RUN.iter().any(|part| essence.contains(part)) {
        return Err(format!("media type {} is one that browsers run", quote(media_type)));
    }
    Ok(())
}

/// Checks entries of `Link`.
///
/// # Errors
/// A sentence that names the rule.
pub(super) fn check_links(links: &[guest::Link], base: &str) -> Result<(), String> {
    if links.len() > LINKS {
        return Err(format!("{} links; at most {LINKS} are taken", links.len()));
    }
    for guest::Link { href, rel, media_type } in links {
        let below = href.strip_prefix(base).is_some_and(|rest| {
            !base.is_empty() && (rest.is_empty() || rest.starts_with(['/', '?'])) && is_plain(rest)
        });
        if href.len() > ADDRESS_BYTES || !(below || is_path(href)) {
            return Err(format!("link {} leads out of this service", quote(href)));
        }
        let relation = |b: u8| b.is_ascii_alphanumeric() || b":/.#_- ".contains(&b);
        if rel.is_empty() || rel.len() > RELATION_BYTES || !rel.bytes().all(relation) {
            return Err(format!("relation {} of a link is none", quote(rel)));
        }
        if let Some(media_type) = media_type {
            check_media_type(media_type)?;
            if media_type.contains(['"', '\\']) {
                return Err(format!("media type {} of a link has quotes", quote(media_type)));
            }
        }
    }
    Ok(())
}

/// Returns whether it is a path of this service: no address of another host by whatever reading.
fn is_path(path: &str) -> bool {
    path.len() <= ADDRESS_BYTES
        && path.starts_with('/')
        && !path.starts_with("//")
        && is_plain(path)
}

/// Returns whether text may stand in a header between `<` and `>`.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic() && !b"<>\"\\^`{|}".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://data.example.org/api/tables";

    fn good() -> guest::Document {
        guest::Document {
            status: 200,
            media_type: "application/json".to_owned(),
            language: Some("mi-NZ".to_owned()),
            location: None,
            links: Vec::new(),
            body: b"{}".to_vec(),
        }
    }

    #[test]
    fn documents_are_checked_before_they_become_headers_contract_17() {
        type Spoil = fn(&mut guest::Document);
        let spoilt: [(Spoil, &str); 13] = [
            (|d| d.status = 101, "status 101"),
            (|d| d.status = 304, "status 304"),
            (|d| d.status = 999, "status 999"),
            (|d| d.status = 429, "status 429"),
            (|d| d.media_type = "text/html".to_owned(), "browsers run"),
            (|d| d.media_type = "Image/Any+XML ; a=b".to_owned(), "browsers run"),
            (|d| d.media_type = "text/plain\r\nSet-Cookie: a=b".to_owned(), "media type"),
            (|d| d.language = Some("en\r\nX: y".to_owned()), "language"),
            (|d| d.location = Some("/a".to_owned()), "a location with status 200"),
            (|d| d.status = 303, "303 without"),
            (|d| (d.status, d.location) = (303, Some("//evil.example".to_owned())), "303 without"),
            (|d| d.status = 204, "a body with status 204"),
            (|d| d.body = vec![b'x'; BODY_BYTES + 1], "a body of"),
        ];
        assert_eq!(check_document(&good(), BASE, None), Ok(()));
        for (spoil, expected) in spoilt {
            let mut document = good();
            spoil(&mut document);
            let found = check_document(&document, BASE, None).err().unwrap_or_default();
            assert!(found.contains(expected), "{found} instead of {expected}");
        }
        let kept = guest::Document { status: 429, ..good() };
        assert_eq!(check_document(&kept, BASE, Some(429)), Ok(()), "that of the refusal stays");
    }

    #[test]
    fn links_stay_on_this_service_contract_17() {
        let link = |href: &str, rel: &str, media_type: Option<&str>| guest::Link {
            href: href.to_owned(),
            rel: rel.to_owned(),
            media_type: media_type.map(str::to_owned),
        };
        for href in ["/catalogue?q=a%20b", BASE, &format!("{BASE}/x?a=1"), &format!("{BASE}?a=1")] {
            assert_eq!(check_links(&[link(href, "next", Some("text/csv"))], BASE), Ok(()));
        }
        for href in [
            "",
            "x",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example/",
            "https://data.example.org/api/tables.evil.example/",
            "https://data.example.org/api/tables@evil.example/",
            "javascript:alert(1)",
            "/a>; rel=\"x\"",
            "/a b",
            "/a\r\nX: y",
            "/ā",
        ] {
            assert!(check_links(&[link(href, "next", None)], BASE).is_err(), "{href:?}");
        }
        assert!(check_links(&[link("/a", "next\"", None)], BASE).is_err());
        assert!(check_links(&[link("/a", "next", Some("text/csv; a=\"b\""))], BASE).is_err());
        assert!(check_links(&vec![link("/a", "next", None); LINKS + 1], BASE).is_err());
        assert!(check_links(&[link("/a", "next", None)], "").is_ok());
        assert!(check_links(&[link("evil.example", "next", None)], "").is_err());
    }
}
