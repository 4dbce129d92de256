//! Headers of a bulk download (contract-4-bulk-headers). All of them are known before a byte of the
//! file is read.

use axum::body::Body;
use axum::response::Response;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    ETAG, LAST_MODIFIED, LOCATION, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};
use yearbook_domain::bulk::{BulkPlan, FILE_EXTENSION, FILE_MEDIA_TYPE};
use yearbook_domain::{Digest, Millis, StoredFile};

use super::preconditions::PreconditionOutcome;
use super::{EntityTag, body, preconditions};
use crate::Error;
use crate::byte_range::ByteRange;
use crate::credit::write_credit;
use crate::headers::{FRESHNESS, REPR_DIGEST, insert_text};
use crate::status;

/// The head of a response.
pub struct BulkHead {
    tag: EntityTag,
    /// None: nothing is told about its age.
    modified: Option<Millis>,
    /// Size of the file in bytes.
    size: u64,
    /// The name that browsers give the file.
    disposition: String,
    /// Headers of 200, 206 and 304 alike.
    shared: HeaderMap,
    /// Headers of 200 and 206.
    content: HeaderMap,
}

impl BulkHead {
    /// Headers of the file of `plan`.
    pub fn new(plan: &BulkPlan) -> Self {
        let snapshot = &plan.snapshot;
        // The digest alone: the same bytes have the same tag whatever freshness named them.
        let tag = EntityTag::from_file(&snapshot.file);
        let mut shared = HeaderMap::new();
        write_credit(&mut shared, &plan.namespace, snapshot);
        shared.insert(ETAG, tag.header(None));
        if let Some(date) = preconditions::http_date(snapshot.created_at) {
            shared.insert(LAST_MODIFIED, date);
        }
        // Whoever compresses on the way would break ranges and the digest.
        shared.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache, no-transform"));
        shared.insert(FRESHNESS, HeaderValue::from_static(plan.freshness.as_str()));
        // The key decides by its plan which snapshot it is.
        shared.insert(VARY, HeaderValue::from_static("X-API-Key, Authorization"));
        shared.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        insert_text(&mut shared, REPR_DIGEST, &repr_digest(snapshot.file.sha256));
        let mut content = HeaderMap::new();
        content.insert(CONTENT_TYPE, HeaderValue::from_static(FILE_MEDIA_TYPE));
        // The same name for two versions would have one overwrite the other where they are saved.
        let disposition = format!(
            "attachment; filename=\"{}-{}.{FILE_EXTENSION}\"",
            plan.dataset,
            snapshot.created_at.date()
        );
        insert_text(&mut content, CONTENT_DISPOSITION, &disposition);
        Self {
            tag,
            modified: Some(snapshot.created_at),
            size: snapshot.file.bytes,
            disposition,
            shared,
            content,
        }
    }

    /// Headers of a file of the share, which is known by its digest alone.
    pub fn for_share(file: &StoredFile) -> Self {
        let tag = EntityTag::from_file(file);
        let mut shared = HeaderMap::new();
        shared.insert(ETAG, tag.header(None));
        // An address is of one recipient; the bytes behind it never change.
        shared.insert(CACHE_CONTROL, HeaderValue::from_static("private, immutable, no-transform"));
        shared.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        insert_text(&mut shared, REPR_DIGEST, &repr_digest(file.sha256));
        let mut content = HeaderMap::new();
        content.insert(CONTENT_TYPE, HeaderValue::from_static(FILE_MEDIA_TYPE));
        let disposition = String::new();
        Self { tag, modified: None, size: file.bytes, disposition, shared, content }
    }

    /// The entity tag.
    pub fn tag(&self) -> &EntityTag {
        &self.tag
    }

    /// Time at which the snapshot was committed; none where nothing is told about it.
    pub fn modified(&self) -> Option<Millis> {
        self.modified
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// `Content-Disposition`, which names the file for browsers.
    pub fn disposition(&self) -> &str {
        &self.disposition
    }

    /// 307 to `link`, which holds for a while and is nobody else's: credit and tag travel with it,
    /// and no cache keeps it.
    ///
    /// # Errors
    /// Fails when the address is none.
    pub fn redirect(&self, link: String) -> Result<Response, Error> {
        let location = HeaderValue::try_from(link).map_err(|_| {
            Error::internal("redirect", &"the store's address does not fit a header")
        })?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status::TEMPORARY_REDIRECT;
        let headers = response.headers_mut();
        *headers = self.shared.clone();
        // Of a redirect they would tell about its own, empty body.
        headers.remove(REPR_DIGEST);
        headers.remove(ACCEPT_RANGES);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(LOCATION, location);
        Ok(response)
    }

    /// Returns the answer to HEAD and to a condition that does not hold; none for a GET that needs
    /// bytes.
    ///
    /// # Errors
    /// 412 for a false precondition.
    pub fn without_body(&self, parts: &Parts) -> Result<Option<Response>, Error> {
        let outcome = preconditions::evaluate(&parts.headers, &self.tag, self.modified)?;
        if outcome == PreconditionOutcome::NotModified {
            return Ok(Some(self.not_modified()));
        }
        // Ranges are a matter of GET alone (RFC 9110, 14.2).
        Ok((parts.method == Method::HEAD).then(|| self.whole(body::empty())))
    }

    /// 304.
    fn not_modified(&self) -> Response {
        let mut response = Response::new(body::empty());
        *response.status_mut() = status::NOT_MODIFIED;
        *response.headers_mut() = self.shared.clone();
        response
    }

    /// 200 with all of the file.
    pub fn whole(&self, body: Body) -> Response {
        self.with(body, self.size)
    }

    /// 206 with `part` of the file.
    pub fn partial(&self, ByteRange(range): &ByteRange, body: Body) -> Response {
        let mut response = self.with(body, range.end - range.start);
        *response.status_mut() = status::PARTIAL_CONTENT;
        let said = format!("bytes {}-{}/{}", range.start, range.end - 1, self.size);
        insert_text(response.headers_mut(), CONTENT_RANGE, &said);
        response
    }

    fn with(&self, body: Body, length: u64) -> Response {
        let mut response = Response::new(body);
        *response.headers_mut() = self.shared.clone();
        response.headers_mut().extend(self.content.clone());
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        response
    }
}

/// `Repr-Digest` of a SHA-256 (RFC 9530, 3): of the whole file, on a part of it too.
fn repr_digest(digest: Digest) -> String {
    let bytes = digest.to_bytes();
    format!("sha-256=:{}:", BASE64_STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_spelled_as_rfc_9530_has_it() {
        assert_eq!(
            repr_digest(Digest::compute(b"")),
            "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        );
    }
}
