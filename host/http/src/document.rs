//! Documents of our own, JSON for the most part: small, made whole, with an entity tag and
//! compression by `Accept-Encoding`.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use tokio::sync::OnceCell;
use yearbook_domain::meaning::Language;
use yearbook_shares::CallerShare;

use super::preconditions::PreconditionOutcome;
use super::{EntityTag, body, compression, preconditions};
use crate::Core;
use crate::Error;
use crate::content_coding::ContentCoding;
use crate::language::insert_language;
use crate::{media_types, status};

/// A rendered document. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct RenderedDocument {
    bytes: Bytes,
    tag: EntityTag,
    content_type: HeaderValue,
    /// Compressed forms; none where each answer compresses anew.
    codings: Option<Arc<CodingCache>>,
    language: Option<DocumentLanguage>,
}

/// The language of a document that there may be in others.
#[derive(Clone, Debug)]
enum DocumentLanguage {
    /// All of it is in this one.
    One(Language),
    /// Parts of it are in different ones.
    Several,
}

/// Compressed forms of a document that is sent again and again, each made once.
#[derive(Debug, Default)]
struct CodingCache {
    zstd: OnceCell<Bytes>,
    gzip: OnceCell<Bytes>,
}

/// Caches that may hold a document, and the headers that it depends on.
#[derive(Clone, Copy)]
pub enum CachePolicy {
    /// Of one key, asked for again each time.
    Private,
    /// The same for everybody, asked for again each time.
    Public,
    /// The same for everybody, for some seconds.
    Brief,
    /// The same for everybody and for ever.
    Immutable,
    /// Of this moment: no entity tag either.
    NoStore,
}

impl RenderedDocument {
    /// Renders `value`.
    ///
    /// # Errors
    /// [`Error::Internal`] when it is no JSON, which is a bug.
    pub fn new(value: &impl Serialize) -> Result<Self, Error> {
        let bytes = serde_json::to_vec(value)
            .map_err(|failure| Error::internal("render a document", &failure))?;
        Ok(Self::from_bytes(media_types::JSON, bytes.into()))
    }

    /// A page.
    pub fn html(text: String) -> Self {
        Self::text(media_types::HTML, text)
    }

    /// A text of any type.
    pub fn text(content_type: &'static str, text: String) -> Self {
        Self::from_bytes(content_type, text.into())
    }

    /// A picture in SVG.
    pub fn svg(bytes: Bytes) -> Self {
        Self::from_bytes(media_types::SVG, bytes)
    }

    /// A file that the binary carries.
    pub fn embedded(content_type: &'static str, text: &'static str) -> Self {
        Self::from_bytes(content_type, Bytes::from_static(text.as_bytes()))
    }

    fn from_bytes(content_type: &'static str, bytes: Bytes) -> Self {
        let tag = EntityTag::from_bytes(&bytes);
        Self {
            bytes,
            tag,
            content_type: HeaderValue::from_static(content_type),
            codings: None,
            language: None,
        }
    }

    /// Bytes of any type under a tag.
    pub fn tagged(content_type: HeaderValue, bytes: Bytes, tag: EntityTag) -> Self {
        Self { bytes, tag, content_type, codings: None, language: None }
    }

    /// The same document, which says that it is in a language (contract-21-languages), and that
    /// others may be had. `None` leaves it as it is.
    pub fn in_language(mut self, language: Option<&Language>) -> Self {
        let Some(language) = language else { return self };
        self.tag = EntityTag::from_bytes(&[&self.bytes, language.as_str().as_bytes()].concat());
        self.language = Some(DocumentLanguage::One(language.clone()));
        self
    }

    /// The same document, which says that parts of it may be had in other languages.
    pub fn in_several_languages(self) -> Self {
        Self { language: Some(DocumentLanguage::Several), ..self }
    }

    /// The same document, which keeps its compressed forms.
    pub fn with_coding_cache(self) -> Self {
        Self { codings: Some(Arc::default()), ..self }
    }

    /// The same document under another tag.
    pub fn with_tag(self, tag: EntityTag) -> Self {
        Self { tag, ..self }
    }

    /// Entity tag, without the coding.
    pub fn tag(&self) -> &EntityTag {
        &self.tag
    }

    /// Bytes with all compressed forms at most; none is longer than a document of text.
    pub fn len_with_codings(&self) -> usize {
        3 * self.bytes.len()
    }

    /// Size in bytes.
    pub fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// 304 when the client has this document already. What is of the moment has no tag, and no
    /// conditions.
    ///
    /// # Errors
    /// 412 when the client asks for another one than this.
    pub fn not_modified(
        &self,
        app: &Core,
        request_headers: &HeaderMap,
        policy: CachePolicy,
    ) -> Result<Option<Response>, Error> {
        if matches!(policy, CachePolicy::NoStore)
            || preconditions::evaluate(request_headers, &self.tag, None)?
                == PreconditionOutcome::Met
        {
            return Ok(None);
        }
        let mut response = Response::new(body::empty());
        *response.status_mut() = status::NOT_MODIFIED;
        self.insert_cache_headers(
            response.headers_mut(),
            self.coding(app, request_headers),
            policy,
        );
        Ok(Some(response))
    }

    /// 200, or 304 when the client has this document already.
    ///
    /// # Errors
    /// [`Error::Internal`] when it cannot be compressed, 412 as in
    /// [`RenderedDocument::not_modified`].
    pub async fn respond(
        &self,
        app: &Core,
        request_headers: &HeaderMap,
        policy: CachePolicy,
    ) -> Result<Response, Error> {
        self.respond_to(app, &CallerShare::default(), request_headers, policy).await
    }

    /// [`RenderedDocument::respond`], compressed on the account of `caller`.
    ///
    /// # Errors
    /// Those of [`RenderedDocument::respond`].
    pub async fn respond_to(
        &self,
        app: &Core,
        caller: &CallerShare,
        request_headers: &HeaderMap,
        policy: CachePolicy,
    ) -> Result<Response, Error> {
        if let Some(response) = self.not_modified(app, request_headers, policy)? {
            return Ok(response);
        }
        let coding = self.coding(app, request_headers);
        let bytes = match coding {
            Some(coding) => self.compressed(app, caller, coding).await?,
            None => self.bytes.clone(),
        };
        Ok(self.response(Body::from(bytes), coding, policy))
    }

    /// The answer to HEAD: as [`RenderedDocument::respond`], without compressing what nobody reads.
    ///
    /// # Errors
    /// 412 as in [`RenderedDocument::not_modified`].
    pub fn respond_to_head(
        &self,
        app: &Core,
        request_headers: &HeaderMap,
        policy: CachePolicy,
    ) -> Result<Response, Error> {
        if let Some(response) = self.not_modified(app, request_headers, policy)? {
            return Ok(response);
        }
        let coding = self.coding(app, request_headers);
        // Its length is known where it is sent as it is.
        let body = match coding {
            Some(_) => body::empty(),
            None => Body::from(self.bytes.clone()),
        };
        Ok(self.response(body, coding, policy))
    }

    fn response(&self, body: Body, coding: Option<ContentCoding>, policy: CachePolicy) -> Response {
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, self.content_type.clone());
        if let Some(coding) = coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        self.insert_cache_headers(headers, coding, policy);
        response
    }

    async fn compressed(
        &self,
        app: &Core,
        caller: &CallerShare,
        coding: ContentCoding,
    ) -> Result<Bytes, Error> {
        let compress = async || {
            compression::compress(&app.workers, caller, coding, self.bytes.clone())
                .await
                .map_err(|failure| Error::internal("compress a document", &failure))
        };
        match &self.codings {
            Some(kept) => kept.cell(coding).get_or_try_init(compress).await.cloned(),
            None => compress().await,
        }
    }

    fn insert_cache_headers(
        &self,
        headers: &mut HeaderMap,
        coding: Option<ContentCoding>,
        policy: CachePolicy,
    ) {
        let (cache, vary) = match policy {
            CachePolicy::Private => {
                ("private, no-cache", "Accept-Encoding, X-API-Key, Authorization")
            }
            CachePolicy::Public => ("no-cache", "Accept-Encoding"),
            CachePolicy::Brief => ("public, max-age=2", "Accept-Encoding"),
            CachePolicy::Immutable => ("public, max-age=31536000, immutable", "Accept-Encoding"),
            CachePolicy::NoStore => ("no-store", "Accept-Encoding"),
        };
        if !matches!(policy, CachePolicy::NoStore) {
            headers.insert(ETAG, self.tag.header(coding));
        }
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(VARY, HeaderValue::from_static(vary));
        match &self.language {
            Some(DocumentLanguage::One(language)) => insert_language(headers, language),
            Some(DocumentLanguage::Several) => {
                headers.append(VARY, HeaderValue::from_static("Accept-Language"));
            }
            None => {}
        }
    }

    fn coding(&self, app: &Core, request_headers: &HeaderMap) -> Option<ContentCoding> {
        ContentCoding::choose(request_headers)
            .filter(|_| self.bytes.len() >= app.settings.server.compress_bytes)
    }
}

impl CodingCache {
    fn cell(&self, coding: ContentCoding) -> &OnceCell<Bytes> {
        match coding {
            ContentCoding::Zstd => &self.zstd,
            ContentCoding::Gzip => &self.gzip,
        }
    }
}
