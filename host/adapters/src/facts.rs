//! Answers to an adapter's questions about the catalogue (contract-17-facts). Facts of the
//! catalogue are free; what reads rows has the refusals, guards and caps of `/v1`, and the one
//! reservation of the request.

mod datasets;

use http::StatusCode;
use yearbook_domain::Refusal;
use yearbook_http::middleware::request_id::RequestId;
use yearbook_http::{AuthenticatedCaller, Error, status};
use yearbook_sandbox::catalogue::{self, Fact, Question, Selection, ValueQuery, Version};

use crate::request::Exchange;
use crate::{AdaptersState, refusal};

/// Returns whether `question` is a read, of which a request has four and for which it needs a key.
pub(crate) fn is_read(question: &Question) -> bool {
    match question {
        Question::Count(_) | Question::Rows(_) => true,
        Question::Values(query) => !names_dataset_alone(&query.selection),
        Question::Datasets(_)
        | Question::Dataset(_)
        | Question::Formats
        | Question::Citation(_) => false,
    }
}

/// Returns whether the answer to `question` is no lasting fact of the catalogue: a read depends on
/// the caller, and a time that is refused today may have come tomorrow.
pub(crate) fn is_passing(question: &Question) -> bool {
    let is_timed = match question {
        Question::Citation(selection) => {
            !matches!(selection.version, Version::Current | Version::Snapshot(_))
        }
        _ => false,
    };
    is_timed || is_read(question)
}

/// Answers `question`.
///
/// # Errors
/// 401, 402, 403, 429 and 5xx, which end the request. What is wrong with the question alone is a
/// fact.
pub(crate) async fn answer(
    app: &AdaptersState,
    exchange: &mut Exchange,
    question: &Question,
) -> Result<Fact, Error> {
    match Box::pin(find(app, exchange, question)).await {
        Err(error) if is_of_question(error.status()) => {
            let id = exchange.parts.extensions.get::<RequestId>().map_or("", |id| &id.0);
            Ok(Fact::Refused(refusal::describe(&error, id)))
        }
        found => found,
    }
}

fn is_of_question(refused: StatusCode) -> bool {
    [status::NOT_FOUND, status::GONE, status::PAYLOAD_TOO_LARGE, status::UNPROCESSABLE]
        .contains(&refused)
}

async fn find(
    app: &AdaptersState,
    exchange: &mut Exchange,
    question: &Question,
) -> Result<Fact, Error> {
    match question {
        Question::Datasets(query) => datasets::list(app, query).await.map(Fact::Datasets),
        Question::Dataset((name, language)) => {
            datasets::show(app, name, language.as_deref()).await.map(Fact::Dataset)
        }
        Question::Formats => Ok(Fact::Formats(formats(app))),
        Question::Citation(selection) => {
            app.api.cite_rows(&exchange.parts, selection).await.map(Fact::Citation)
        }
        Question::Values(query) => values(app, exchange, query).await.map(Fact::Values),
        Question::Count(selection) => {
            let auth = caller(exchange)?;
            let rows = app.api.select_rows(&auth, &exchange.parts, selection).await?;
            let reservation = exchange.reserve(app).await?;
            let counted = Box::pin(rows.count(&app.api, reservation.holder()));
            counted.await.map(Fact::Count)
        }
        Question::Rows(selection) => {
            let auth = caller(exchange)?;
            let rows = app.api.select_rows(&auth, &exchange.parts, selection).await?;
            let reservation = exchange.reserve(app).await?;
            rows.table(&app.api, reservation.holder()).await.map(Fact::Rows)
        }
    }
}

/// Values of columns: free where publishing counted them.
async fn values(
    app: &AdaptersState,
    exchange: &mut Exchange,
    query: &ValueQuery,
) -> Result<Vec<catalogue::ColumnValues>, Error> {
    let values = app.api.select_values(&exchange.parts, query).await?;
    if let Some(stored) = values.stored(&app.api).await? {
        return Ok(stored);
    }
    let reservation = exchange.reserve(app).await?;
    values.count(&app.api, reservation.holder()).await
}

fn caller(exchange: &Exchange) -> Result<AuthenticatedCaller, Error> {
    Ok(exchange.auth.clone().ok_or(Refusal::KeyMissing)?)
}

/// Returns whether `selection` chooses neither rows nor a version, so that publishing may have
/// counted its values.
fn names_dataset_alone(selection: &Selection) -> bool {
    let Selection { version, start, end, search, conditions, bbox, .. } = selection;
    *version == Version::Current
        && conditions.is_empty()
        && bbox.is_none()
        && [start, end, search].into_iter().all(Option::is_none)
}

/// Formats of rows that are loaded; pictures are none.
fn formats(app: &AdaptersState) -> Vec<catalogue::Format> {
    let plugins = app.core.plugins.current();
    let described = plugins.encoders().map(|encoder| encoder.description());
    let data = described.filter(|description| !description.is_picture());
    let format = |description: &yearbook_sandbox::EncoderDescription| catalogue::Format {
        name: description.format.clone(),
        media_type: description.media_type.clone(),
        extension: description.extension.clone(),
    };
    data.map(format).collect()
}
