//! `/v1/datasets/{name}/preview`: up to ten rows for anybody, without geometry (spec 4, contract 4).

mod rows;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use moka::future::Cache;
use serde_json::{Value, json};
use yearbook_domain::{Dataset, Refusal, Role};

use crate::error::Error;
use crate::extract::dataset_name;
use crate::respond::document::Keeping;
use crate::respond::{Document, attribution};
use crate::state::AppState;

/// Rows of a preview at most (spec 8).
pub(crate) const ROWS: usize = 10;

/// Rendered previews by dataset and snapshot, so that anonymous traffic reads each once.
pub(crate) struct Previews {
    cache: Cache<(String, String), Document>,
}

impl Previews {
    /// Holding up to `bytes` of documents.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &(String, String), document: &Document| u32::try_from(document.len()).unwrap_or(u32::MAX);
        Self { cache: Cache::builder().max_capacity(bytes).weigher(weigh).build() }
    }
}

/// `GET /v1/datasets/{name}/preview`.
pub(crate) async fn show(State(state): State<AppState>, request: Request) -> Result<Response, Error> {
    let name = dataset_name(request.uri()).map_err(Error::invalid)?;
    let dataset = state.live.dataset(name.as_str()).ok_or_else(|| Refusal::NoSuchDataset { name: name.to_string() })?;
    let key = (dataset.name.to_string(), dataset.current.id.clone());
    // Whoever waits for the same preview shares its failure, which was logged when it was found.
    // What is sent matches `dataset`, whatever is published meanwhile: the key names its snapshot.
    let render = Box::pin(render(&state, &dataset));
    let made = state.own().previews.cache.try_get_with(key, render).await.map_err(shared)?;
    let mut response = made.respond(&state, request.headers(), Keeping::Public).await?;
    attribution::write(response.headers_mut(), &dataset.namespace, &dataset.current);
    Ok(response)
}

/// The failure of a load that several waited for.
fn shared(failure: Arc<Error>) -> Error {
    match *failure {
        Error::Unavailable => Error::Unavailable,
        _ => Error::Broken,
    }
}

async fn render(state: &AppState, dataset: &Dataset) -> Result<Document, Error> {
    let snapshot = &dataset.current;
    let batch = state.reader.preview(snapshot, ROWS).await?;
    let (hidden, shown): (Vec<_>, Vec<_>) = snapshot.columns.iter().partition(|column| column.role == Role::Geometry);
    let columns: Vec<Value> = shown.iter().map(|column| json!({"name": column.name, "type": column.column_type})).collect();
    let names: Vec<&str> = shown.iter().map(|column| column.name.as_str()).collect();
    let hidden: Vec<&str> = hidden.iter().map(|column| column.name.as_str()).collect();
    let rows = rows::of(&batch, &names, ROWS).map_err(|failure| Error::broken("show a preview", &failure))?;
    Document::new(&json!({
        "name": dataset.name,
        "snapshot_id": snapshot.id,
        "columns": columns,
        "hidden_columns": hidden,
        "rows": rows,
    }))
}
