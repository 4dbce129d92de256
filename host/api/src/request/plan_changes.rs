//! Plans of `/changes`: the client's watermark (contract-4-changes-since), the change sets that
//! follow it, and the watermark after them. A watermark is the id of a snapshot where a client has
//! all of it, or a signed position where a response ended within a change set. Never touches a
//! stored row.

use std::sync::Arc;

use yearbook_catalog::SnapshotStatus;
use yearbook_domain::changes::{self, ChangeSet, Watermark};
use yearbook_domain::query::last_value;
use yearbook_domain::{
    Credit, CreditLine, CursorPosition, CursorSource, Dataset, Digest, PlanLimits, Refusal,
    Snapshot, SnapshotId, ValidationError,
};
use yearbook_http::{AuthenticatedCaller, Error};
use yearbook_scan::ChangesPlan;

use super::DataRequest;
use crate::ApiState;
use crate::response::plan::{ChangesSelection, ResponsePlan, RowSource};

/// The parameter `since`.
enum Since {
    /// Absent: from the oldest snapshot on that changes are known from.
    Oldest,
    /// The id of a snapshot.
    Snapshot(SnapshotId),
    /// A position within a file of changes.
    Within {
        /// Digest of the file.
        sha256: Digest,
        /// First row not yet sent.
        row: u64,
    },
}

impl DataRequest {
    /// Plans the response with changes of `dataset`.
    ///
    /// # Errors
    /// 422 for a watermark that is none and for wrong options; then 404 for a snapshot that never
    /// was, and 410 where it is no longer known what followed it.
    pub(super) async fn plan_changes(
        &self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
        dataset: &Dataset,
    ) -> Result<ResponsePlan, Error> {
        app.core.catalog_cache.settled().await?;
        let history = app.core.catalog.changes(&dataset.name).await?;
        let since = parse_since(app, dataset, last_value(&self.pairs, "since"));
        let (since, options) = match (since, self.encoder_options()) {
            (Ok(since), Ok(options)) => (since, options),
            (since, options) => {
                let options = options.err().into_iter().flatten();
                let problems = since.err().into_iter().chain(options).collect();
                return Err(Refusal::InvalidParameters(problems).into());
            }
        };
        let start = locate(app, dataset, &history, since).await?;
        let selection = self.select_changes(app, dataset, &history, start, auth.caller.limits());
        Ok(ResponsePlan::new(self, auth, RowSource::Changes(Arc::new(selection)), options))
    }

    /// Selects the changes that one response holds. No I/O.
    fn select_changes(
        &self,
        app: &ApiState,
        dataset: &Dataset,
        history: &[ChangeSet],
        start: Watermark,
        limits: PlanLimits,
    ) -> ChangesSelection {
        let cap = limits.row_cap.filter(|cap| *cap < self.selection.limit);
        let page = changes::next_page(history, start, cap.unwrap_or(self.selection.limit));
        let parts: Vec<_> = page
            .ranges
            .into_iter()
            .filter_map(|(set, rows)| Some((history.get(set)?.clone(), rows)))
            .collect();
        // The snapshot that the client reaches, as soon as it reaches one. Rows keep the credit
        // that they were published with.
        let passed = page.end.set.checked_sub(1).and_then(|set| history.get(set));
        let reached = parts.last().map(|(set, _)| set).or(passed);
        let CreditLine { attribution, licence } =
            changes::credit_between(history, start, page.end, &(&dataset.current.credit).into());
        let snapshot = Snapshot {
            id: reached.map_or(dataset.current.id, |set| set.to),
            columns: reached.map_or(&dataset.current.columns, |set| &set.columns).clone(),
            credit: Credit { attribution, licence, ..dataset.current.credit.clone() },
            ..Snapshot::clone(&dataset.current)
        };
        let plan = ChangesPlan {
            dataset: dataset.name.clone(),
            namespace: dataset.namespace.clone(),
            columns: snapshot.columns.clone(),
            snapshot: Arc::new(snapshot),
            geometry: self.selection.geometry,
            parts,
        };
        ChangesSelection {
            plan,
            watermark: watermark_text(app, dataset, history, page.end),
            has_more: page.has_more,
            capped_at: cap.filter(|_| page.row_limit_reached),
        }
    }
}

/// Parses `since` without a look at whether it is still of use.
///
/// # Errors
/// `value_error` for a text that is neither an id nor a watermark of this dataset.
fn parse_since(
    app: &ApiState,
    dataset: &Dataset,
    raw: Option<&str>,
) -> Result<Since, ValidationError> {
    let Some(raw) = raw else { return Ok(Since::Oldest) };
    if let Some(id) = SnapshotId::parse(raw) {
        return Ok(Since::Snapshot(id));
    }
    let position = app
        .cursors
        .open(raw)
        .filter(|position| position.filters == changes::watermark_fingerprint(&dataset.name));
    match position {
        Some(CursorPosition { source: CursorSource::Changes(sha256), row, .. }) => {
            Ok(Since::Within { sha256, row })
        }
        _ => {
            let sentence = "since is neither a snapshot id nor a watermark of this dataset; \
                            send the value of X-Service-Watermark unchanged, or leave since out";
            Err(ValidationError::value_error("since", sentence, raw))
        }
    }
}

/// Returns the position of `since` in `history`.
///
/// # Errors
/// 404 for a snapshot that never was, 410 when it is no longer known what followed.
async fn locate(
    app: &ApiState,
    dataset: &Dataset,
    history: &[ChangeSet],
    since: Since,
) -> Result<Watermark, Error> {
    let beginning = Watermark { set: 0, row: 0 };
    let oldest = history.first().map_or(dataset.current.id, |set| set.from);
    let gone = |as_of| Refusal::WatermarkGone { oldest, as_of };
    match since {
        Since::Oldest => Ok(beginning),
        Since::Snapshot(id) if history.is_empty() && id == dataset.current.id => Ok(beginning),
        Since::Snapshot(id) => match changes::watermark_after(history, &id) {
            Some(watermark) => Ok(watermark),
            None => Err(match app.core.catalog.snapshot_status(&dataset.name, &id).await? {
                SnapshotStatus::Unknown => Refusal::NoSuchSnapshot { id: id.to_string() }.into(),
                SnapshotStatus::Dropped | SnapshotStatus::Retained => {
                    gone(app.core.past_time(&dataset.name, &id).await?).into()
                }
            }),
        },
        Since::Within { sha256, row } => {
            let set = history.iter().rposition(|set| set.file.sha256 == sha256 && row <= set.rows);
            set.map(|set| Watermark { set, row }).ok_or_else(|| gone(None).into())
        }
    }
}

/// Returns the text of the watermark `end`.
fn watermark_text(
    app: &ApiState,
    dataset: &Dataset,
    history: &[ChangeSet],
    end: Watermark,
) -> String {
    match history.get(end.set) {
        Some(set) if end.row > 0 => {
            let position = CursorPosition {
                source: CursorSource::Changes(set.file.sha256),
                row: end.row,
                filters: changes::watermark_fingerprint(&dataset.name),
            };
            app.cursors.encode(&position)
        }
        Some(set) => set.from.to_string(),
        None => history.last().map_or(dataset.current.id, |last| last.to).to_string(),
    }
}
