//! `/v1/datasets/{name}/values`: distinct values of columns with their rows and dates
//! (contract-15-values). What publishing stored is free; anything else is counted, and charged as
//! rows are.

pub(crate) mod view;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY};
use http::{HeaderMap, HeaderValue, Method};
use sha2::{Digest as _, Sha256};
use tracing::Instrument;
use yearbook_domain::meaning::Language;
use yearbook_domain::query::MAX_VALUE_BYTES;
use yearbook_domain::values::{ColumnValues, ValueLabels, ValuesTarget};
use yearbook_domain::{CanonicalQuery, Refusal, Snapshot, ValidationError};
use yearbook_http::content_coding::ContentCoding;
use yearbook_http::credit::write_credit;
use yearbook_http::language::insert_language;
use yearbook_http::preconditions::PreconditionOutcome;
use yearbook_http::reservation::Patience;
use yearbook_http::{
    AuthenticatedCaller, EntityTag, Error, body, compression, media_types, preconditions, status,
};
use yearbook_shares::CallerShare;

use self::view::ValuesView;
use crate::ApiState;
use crate::request::ValuesRequest;

/// Number of the way in which values are counted and written: another one makes other tags.
const VALUES_VERSION: u8 = 1;

/// `GET /v1/datasets/{name}/values`.
pub(crate) async fn show(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let request = ValuesRequest::parse(request)?;
    let dataset = app.core.dataset(&request.name)?;
    let target = request.resolve(&app, &dataset).await?;
    let answer = ValuesAnswer::new(&request, target);
    let snapshot = &answer.target.plan.snapshot;
    let headers = &request.parts.headers;
    match preconditions::evaluate(headers, &answer.tag, Some(snapshot.created_at))? {
        PreconditionOutcome::NotModified => return Ok(answer.not_modified()),
        PreconditionOutcome::Met if request.parts.method == Method::HEAD => {
            return Ok(answer.with_body(body::empty()));
        }
        PreconditionOutcome::Met => {}
    }
    if let Some(stored) = answer.stored_columns(&app).await? {
        // Free, but of the caller's share: an answer may have megabytes.
        let patience = app.core.patience(Patience::Queue);
        let open = app.core.open_responses.open(&auth.holder, patience).await?;
        let mut response = answer.render(&app, &auth.holder, snapshot.rows, stored).await?;
        response.extensions_mut().insert(open);
        return Ok(response);
    }
    let reservation = app.core.reserve(&auth, Patience::Queue).await?;
    let counted = async {
        let holder = reservation.holder();
        let (rows, columns) = answer.count(&app, holder).await?;
        answer.render(&app, holder, rows, columns).await
    };
    let counted = Box::pin(counted).await;
    reservation.settle(counted).await
}

/// An answer whose headers are known before anything is read.
pub(crate) struct ValuesAnswer {
    target: ValuesTarget,
    /// The value of `columns` as sent.
    sent_columns: String,
    /// Canonical text of the selection.
    selection: String,
    tag: EntityTag,
    coding: Option<ContentCoding>,
    /// Language of the labels; `None` where the dataset names none.
    language: Option<Language>,
}

impl ValuesAnswer {
    /// The answer to `request`, which selects `target`.
    pub(crate) fn new(request: &ValuesRequest, target: ValuesTarget) -> Self {
        let selection = CanonicalQuery::new(&target.plan, None).as_str().to_owned();
        let language = request.wanted.choose(&target.plan.snapshot).cloned();
        let tag = entity_tag(&target, &selection, language.as_ref());
        // By the request alone, never by the body's size, so that the tag holds.
        let coding = ContentCoding::choose(&request.parts.headers);
        let sent_columns = request.query.sent_columns().to_owned();
        Self { target, sent_columns, selection, tag, coding, language }
    }

    /// Returns what publishing stored of the columns; `None` where something has to be counted.
    ///
    /// # Errors
    /// 503 where the store is away.
    pub(crate) async fn stored_columns(
        &self,
        app: &ApiState,
    ) -> Result<Option<Vec<ColumnValues>>, Error> {
        let target = &self.target;
        if !target.is_whole() {
            return Ok(None);
        }
        let Some(stored) = app.core.reader.stored_values(&target.plan.snapshot).await? else {
            return Ok(None);
        };
        let page = |position: &usize| Some(stored.column(*position)?.page(&target.page));
        Ok(target.columns.iter().map(page).collect())
    }

    /// Counts the rows of the selection, and their values, on the account of `holder`.
    ///
    /// # Errors
    /// Those of reading, and 500.
    pub(crate) async fn count(
        &self,
        app: &ApiState,
        holder: &CallerShare,
    ) -> Result<(u64, Vec<ColumnValues>), Error> {
        let (reader, target) = (app.core.reader.for_caller(holder), self.target.clone());
        let work = async move { reader.count_values(&target).await };
        let driven = app.core.workers.drive(holder.clone(), work.in_current_span()).await;
        let counted = driven.map_err(|panicked| Error::internal("count values", &panicked))?;
        Ok(counted?)
    }

    /// Reads the labels of the columns, where they have any.
    ///
    /// # Errors
    /// 503 where the store is away.
    pub(crate) async fn labels(&self, app: &ApiState) -> Result<ValueLabels, Error> {
        let snapshot = &self.target.plan.snapshot;
        let is_labelled = |position: &usize| {
            let meaning = snapshot.columns.get(*position).and_then(|of| of.meaning.as_ref());
            meaning.is_some_and(|meaning| meaning.labelled)
        };
        let stored = if self.target.columns.iter().any(is_labelled) {
            app.core.reader.stored_values(snapshot).await?
        } else {
            None
        };
        Ok(ValueLabels::new(stored, self.language.clone()))
    }

    /// The version whose values are counted.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.target.plan.snapshot
    }

    /// Ends the page of each column with a value that a request can go on behind.
    ///
    /// # Errors
    /// 422 for a column whose page would end with a text that is too long to be sent.
    pub(crate) fn end_pages(&self, columns: &mut [ColumnValues]) -> Result<(), Error> {
        let endless = columns
            .iter_mut()
            .find_map(|column| (!column.end_with_short()).then_some(column.column));
        endless.map_or(Ok(()), |position| Err(self.endless_page(position)))
    }

    /// Writes 200 with `columns`, on the account of `holder`.
    ///
    /// # Errors
    /// 422 for a column whose page would end with a text that is too long to be sent; 500.
    async fn render(
        &self,
        app: &ApiState,
        holder: &CallerShare,
        rows: u64,
        mut columns: Vec<ColumnValues>,
    ) -> Result<Response, Error> {
        self.end_pages(&mut columns)?;
        let (plan, selection) = (self.target.plan.clone(), self.selection.clone());
        let labels = self.labels(app).await?;
        let write = move || {
            serde_json::to_vec(&ValuesView::new(&plan, &selection, rows, &columns, &labels))
        };
        let written = app.core.workers.run_for(holder, write).await;
        let written = written.map_err(|panicked| Error::internal("write values", &panicked))?;
        let mut bytes: Bytes =
            written.map_err(|failure| Error::internal("write values", &failure))?.into();
        if let Some(coding) = self.coding {
            bytes = compression::compress(&app.core.workers, holder, coding, bytes)
                .await
                .map_err(|failure| Error::internal("compress values", &failure))?;
        }
        Ok(self.with_body(Body::from(bytes)))
    }

    /// The refusal of a page of the column at `position`, behind which no request could go on.
    fn endless_page(&self, position: usize) -> Error {
        let name = self.target.plan.snapshot.columns.get(position).map_or("", |of| &of.name);
        let sentence = format!(
            "column '{name}' has texts of more than {MAX_VALUE_BYTES} bytes for more than one page; \
             raise limit, go on behind them with after, or leave the column out"
        );
        let problem = ValidationError::value_error("columns", &sentence, &self.sent_columns);
        Refusal::InvalidParameters(vec![problem]).into()
    }

    /// Headers of 200 and 304 alike.
    fn shared_headers(&self) -> HeaderMap {
        let plan = &self.target.plan;
        let mut headers = HeaderMap::new();
        write_credit(&mut headers, &plan.namespace, &plan.snapshot);
        headers.insert(ETAG, self.tag.header(self.coding));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        let vary = "Accept-Encoding, X-API-Key, Authorization";
        headers.insert(VARY, HeaderValue::from_static(vary));
        if let Some(language) = &self.language {
            insert_language(&mut headers, language);
        }
        let date = preconditions::http_date(plan.snapshot.created_at);
        headers.extend(date.map(|date| (LAST_MODIFIED, date)));
        headers
    }

    fn not_modified(&self) -> Response {
        let mut response = Response::new(body::empty());
        *response.status_mut() = status::NOT_MODIFIED;
        *response.headers_mut() = self.shared_headers();
        response
    }

    fn with_body(&self, body: Body) -> Response {
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        *headers = self.shared_headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_types::JSON));
        if let Some(coding) = self.coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        response
    }
}

/// The tag of an answer: a hash over everything that decides its bytes. Whether they were stored or
/// counted does not.
fn entity_tag(target: &ValuesTarget, selection: &str, language: Option<&Language>) -> EntityTag {
    let ValuesTarget { plan, columns, page } = target;
    let after = page.after.as_ref().map(ToString::to_string);
    let mut fields = serde_json::json!([
        "values",
        VALUES_VERSION,
        plan.dataset.as_str(),
        plan.snapshot.id.as_str(),
        selection,
        columns,
        page.limit,
        after,
    ]);
    if let (Some(language), Some(fields)) = (language, fields.as_array_mut()) {
        fields.push(language.as_str().into());
    }
    EntityTag::from_hash(&Sha256::digest(fields.to_string()))
}
