//! `/v1/datasets/{name}/preview`: up to ten rows for anybody, without geometry, in a bounded document (spec 4, contract 4).

mod fit;
mod rows;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use moka::future::Cache;
use yearbook_domain::{Dataset, Refusal, Role};

use crate::error::Error;
use crate::extract::dataset_name;
use crate::respond::document::Keeping;
use crate::respond::{Document, attribution};
use crate::state::AppState;

use self::fit::{Preview, ShownColumn};
use self::rows::Cells;

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
    let columns: Vec<ShownColumn<'_>> = shown.into_iter().map(ShownColumn::new).collect();
    let broken = |failure: String| Error::broken("show a preview", &failure);
    let cells = Cells::new(&batch, columns.iter().map(|column| column.name)).map_err(broken)?;
    let preview = Preview {
        name: &dataset.name,
        snapshot_id: &snapshot.id,
        row_count: snapshot.rows,
        columns: &columns,
        hidden_columns: hidden.iter().map(|column| column.name.as_str()).collect(),
        rows: Vec::new(),
    };
    let rows = (0..batch.num_rows().min(ROWS)).map(|row| cells.row(row));
    Document::new(&preview.fill(rows).map_err(broken)?)
}
