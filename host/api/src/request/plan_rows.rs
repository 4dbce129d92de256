//! Plans of `/data`: cursor, columns and options against the dataset, every problem at once; then
//! the snapshot, if it is still retained (contract-1-order). Never touches a stored row.

use std::sync::Arc;

use tracing::Instrument;
use yearbook_domain::{
    CursorPosition, CursorSource, Dataset, ReadPlan, Refusal, Selection, Snapshot, ValidationError,
    cursor, read_plan,
};
use yearbook_http::{AuthenticatedCaller, Error};
use yearbook_sandbox::OptionValue;

use super::DataRequest;
use super::version::{NamedVersion, unlisted_snapshot};
use crate::ApiState;
use crate::response::plan::{ResponsePlan, RowSource};

/// A request, resolved against its dataset.
pub(crate) struct ResolvedRequest {
    /// The selection in the version to read: a cursor's, a pinned one, that of a time, or the
    /// current one.
    pub(crate) plan: ReadPlan,
    /// Position of a cursor.
    pub(super) position: Option<CursorPosition>,
    /// The encoder's options.
    pub(super) options: Vec<OptionValue>,
}

impl DataRequest {
    /// Plans the response with rows of `dataset`.
    ///
    /// # Errors
    /// 422 in the order in which the parameters are declared, then those of the version
    /// ([`NamedVersion`]); then the refusals of the caller's plan, and 413
    /// for `first` and `last` of too many series.
    pub(super) async fn plan_rows(
        &self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
        dataset: &Dataset,
    ) -> Result<ResponsePlan, Error> {
        let span = tracing::debug_span!("plan", dataset = self.name.as_str());
        let sent = &self.selection;
        if sent.apply.is_some() {
            // On the heap, and only where there are transforms.
            let planned = self.plan_transforms(app, auth, dataset).instrument(span);
            return Box::pin(planned).await;
        }
        let ResolvedRequest { plan, position, options } =
            self.resolve(app, dataset, sent).instrument(span).await?;
        let limits = auth.caller.limits();
        let first_row = position.map(|position| position.row);
        let plan = read_plan::plan_read(dataset, plan, limits, sent, first_row)?;
        if plan.series_rows.is_some() {
            Box::pin(app.core.check_series(dataset, &plan)).await?;
        }
        Ok(ResponsePlan::new(self, auth, RowSource::Snapshot(Arc::new(plan)), options))
    }

    /// Resolves the rows of a snapshot that `selection` names: all of the request, or what the
    /// first transform sees, whose plan alone does not tell whether a cursor belongs to it.
    pub(crate) async fn resolve(
        &self,
        app: &ApiState,
        dataset: &Dataset,
        selection: &Selection,
    ) -> Result<ResolvedRequest, Error> {
        let sent = &self.selection;
        let (position, invalid) = match self.cursor_position(app) {
            Ok(position) => (position, None),
            Err(problem) => (None, Some(problem)),
        };
        let cursor = position.as_ref().map(|position| &position.source);
        let version = NamedVersion::find(app, dataset, cursor, sent).await?;
        let select = |snapshot: Arc<Snapshot>| {
            let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
            read_plan::resolve_selection(name, namespace, snapshot, selection)
        };
        let selected = select(Arc::clone(version.readable_or_current(dataset)));
        let changed = match (&position, &selected) {
            (Some(position), Ok(plan)) if sent.apply.is_none() => {
                position.validate_filters(plan, sent).err()
            }
            _ => None,
        };
        let changed =
            changed.or_else(|| position.as_ref().and_then(|at| at.validate_snapshot(sent).err()));
        let mut problems: Vec<ValidationError> = invalid.into_iter().chain(changed).collect();
        let selected = selected.map_err(|found| problems.extend(found)).ok();
        let options = self.encoder_options().unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        });
        let Some(plan) = selected.filter(|_| problems.is_empty()) else {
            return Err(Refusal::InvalidParameters(problems).into());
        };
        let plan = match version {
            NamedVersion::Readable(_) => plan,
            NamedVersion::Refused(refusal) => return Err(refusal.into()),
            NamedVersion::Unlisted(id) => {
                let snapshot = Box::pin(unlisted_snapshot(app, dataset, &id)).await?;
                // Its columns may stand elsewhere than those of the version that judged.
                select(snapshot).map_err(Refusal::InvalidParameters)?
            }
        };
        Ok(ResolvedRequest { plan, position, options })
    }

    /// Position of the cursor that was sent.
    ///
    /// # Errors
    /// `value_error` for a text that is none, and for one of another kind of rows.
    pub(super) fn cursor_position(
        &self,
        app: &ApiState,
    ) -> Result<Option<CursorPosition>, ValidationError> {
        let Some(text) = &self.selection.cursor else { return Ok(None) };
        let position = app.cursors.open(text).filter(|position| {
            let is_of_revisions = matches!(position.source, CursorSource::Revisions { .. });
            is_of_revisions != self.is_of_snapshot()
        });
        position.map(Some).ok_or_else(|| cursor::invalid_cursor(&self.selection))
    }
}
