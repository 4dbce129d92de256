//! `/datasets/{name}/chart.svg`: the picture of a preview (contract-9-chart). The plugin of the
//! pictures' media type draws the points that are stored; no stored file is opened. A host knows
//! nothing of pictures but their media type, so another plugin of it makes other pictures.

mod preview_rows;

use std::sync::Arc;

use arrow::array::RecordBatch;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue};
use tracing::Instrument;
use yearbook_domain::Dataset;
use yearbook_domain::query::{last_value, parse_pairs, scalar};
use yearbook_sandbox::{
    EncodedBody, GuestError, OptionScalar, OptionValue, ParameterKind, PluginEncoder, PluginSet,
};
use yearbook_shares::CallerShare;

use super::cache::PageKey;
use super::dataset_address::dataset;
use crate::{PageRefusal, PagesState};

use crate::revised_line::RevisedVersions;
use preview_rows::{PreviewRows, revised_rows};
use yearbook_http::credit::write_credit;
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument, media_types};

/// Size of a picture at most, bytes.
const MAX_BYTES: usize = 1 << 20;

/// Widths that `?width=` takes, the default first, with the height of each, pixels. Few, so that
/// the cache holds each picture of a popular dataset.
const SIZES: [(&str, i64, i64); 2] = [("720", 720, 440), ("320", 320, 400)];

/// Nothing but the picture itself: no script, no other address. Its style sheet stands in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// The encoder that draws: of several, the first by name.
pub(super) fn encoder(plugins: &PluginSet) -> Option<Arc<PluginEncoder>> {
    let draws = |encoder: &&Arc<PluginEncoder>| {
        encoder.description().essence().eq_ignore_ascii_case(media_types::SVG)
    };
    plugins.encoders().find(draws).cloned()
}

/// `GET /datasets/{name}/chart.svg`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
    let size = match last_value(&pairs, "width") {
        None => SIZES[0],
        Some(raw) => size(raw)?,
    };
    let dataset = dataset(&app, &parts)?;
    let encoder = encoder(&app.core.plugins.current())
        .ok_or_else(|| PageRefusal::NoPicture { dataset: dataset.name.clone(), drawable: false })?;
    let facts = app.core.catalog_cache.preview_facts(&dataset, &dataset.current.id).await?;
    let facts = facts.ok_or_else(|| nothing_to_draw(&dataset))?;
    let chosen = last_value(&pairs, "series").filter(|text| !text.is_empty());
    let rows = PreviewRows::choose(&facts, chosen).ok_or_else(|| match chosen {
        Some(_) => PageRefusal::NoSuchSeries { dataset: dataset.name.clone() }.into(),
        None => nothing_to_draw(&dataset),
    })?;
    let revised = match last_value(&pairs, "revisions") {
        None => None,
        Some(raw) => {
            scalar::check_literal("revisions", raw, ["true"]).map_err(Error::invalid_parameter)?;
            Some(RevisedVersions::load(&app, &dataset, &facts).await?)
        }
    };
    let series = chosen.and_then(|_| rows.series());
    let key = PageKey {
        base_url: String::new(),
        address: format!("{}?{rows:?} {}", parts.uri.path(), size.0),
        version: format!(
            "{} {} {} {:?}",
            dataset.current.id,
            facts.version,
            encoder.digest(),
            revised.as_ref().map(|versions| (versions.name(), series.is_some()))
        ),
    };
    let drawing = async {
        let batch = match &revised {
            Some(versions) => {
                let line = versions.most_revised(series);
                revised_rows(&dataset, &facts, &line.ok_or_else(|| nothing_to_draw(&dataset))?)
            }
            None => rows.batch(&dataset, &facts),
        };
        let batch =
            batch.map_err(|failure| Error::internal("make the rows of a picture", &failure))?;
        draw(&app, &dataset, batch, encoder, size).await
    };
    let picture = app.cache.get(key, drawing).await?;
    let mut response = picture.respond(&app.core, &parts.headers, CachePolicy::Public).await?;
    insert_headers(response.headers_mut());
    write_credit(response.headers_mut(), &dataset.namespace, &dataset.current);
    Ok(response)
}

fn nothing_to_draw(dataset: &Dataset) -> Error {
    PageRefusal::NoPicture { dataset: dataset.name.clone(), drawable: true }.into()
}

fn size(raw: &str) -> Result<(&'static str, i64, i64), Error> {
    scalar::check_literal("width", raw, SIZES.map(|(width, ..)| width))
        .map_err(Error::invalid_parameter)?;
    Ok(SIZES.into_iter().find(|(width, ..)| *width == raw).unwrap_or(SIZES[0]))
}

/// Draws the rows by the release that serves, or by the fallback release where that fails. The size
/// is an option, and a failure with one is no strike against a release.
async fn draw(
    app: &PagesState,
    dataset: &Arc<Dataset>,
    batch: RecordBatch,
    encoder: Arc<PluginEncoder>,
    size: (&str, i64, i64),
) -> Result<RenderedDocument, Error> {
    let failure = match encode(app, &encoder, batch.clone(), size).await? {
        Ok(picture) => return Ok(RenderedDocument::svg(picture)),
        Err(failure) => failure,
    };
    if !failure.is_failure_of_the_plugin() {
        return Err(declined(failure, dataset));
    }
    let Some(fallback) = app.core.releases.fallback_release(&encoder) else {
        return Err(Error::internal("draw a picture", &failure));
    };
    match encode(app, &fallback, batch, size).await? {
        Ok(picture) => Ok(RenderedDocument::svg(picture)),
        Err(failure) => Err(declined(failure, dataset)),
    }
}

fn declined(failure: GuestError, dataset: &Dataset) -> Error {
    match failure {
        GuestError::Busy { retry_after } => Error::Busy { retry_after },
        GuestError::Declined(sentence) | GuestError::InvalidOption(sentence) => {
            tracing::info!(sentence, "the plugin declines to draw a preview");
            nothing_to_draw(dataset)
        }
        failure => Error::internal("draw a picture", &failure),
    }
}

/// Encodes on a worker, on nobody's account.
async fn encode(
    app: &PagesState,
    encoder: &Arc<PluginEncoder>,
    batch: RecordBatch,
    (_, width, height): (&str, i64, i64),
) -> Result<Result<Bytes, GuestError>, Error> {
    let declared = &encoder.description().parameters;
    let pixels = [("width", width), ("height", height)].into_iter();
    let options: Vec<OptionValue> = pixels
        .filter(|(name, _)| {
            let fits = |kind| kind == ParameterKind::Integer;
            declared.iter().any(|parameter| parameter.name == *name && fits(parameter.kind))
        })
        .map(|(name, value)| OptionValue {
            name: name.to_owned(),
            value: OptionScalar::Integer(value),
        })
        .collect();
    let encoder = Arc::clone(encoder);
    let job = async move {
        let schema = batch.schema();
        let batches = futures::stream::iter([Ok(batch)]).boxed();
        let holder = CallerShare::default();
        Ok(match encoder.encode(&holder, schema, &options, batches).await? {
            EncodedBody::Whole(bytes) => bytes,
            EncodedBody::Stream(mut chunks) => {
                let mut all = BytesMut::new();
                while let Some(chunk) = chunks.next().await {
                    let chunk = chunk.map_err(|cut| GuestError::Host(cut.to_string()))?;
                    if all.len() + chunk.bytes() > MAX_BYTES {
                        let bound = format!("a picture is larger than {MAX_BYTES} bytes");
                        return Err(GuestError::Host(bound));
                    }
                    chunk.for_each(|segment| all.extend_from_slice(&segment));
                }
                all.freeze()
            }
        })
    };
    let drawn = app.core.workers.drive(CallerShare::default(), job.in_current_span()).await;
    drawn.map_err(|panicked| Error::internal("draw a picture", &panicked))
}

fn insert_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}
