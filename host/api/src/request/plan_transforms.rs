//! Plans of `/data` with `apply`: transforms are asked what they make before anything is charged or
//! read, and what clients name of it is resolved against their answer (contract-16-apply).

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_domain::read_plan::{self, AppliedTransform, AppliedTransforms};
use yearbook_domain::{Dataset, ReadPlan, Refusal, Selection};
use yearbook_http::{AuthenticatedCaller, Error};
use yearbook_sandbox::{
    OptionScalar, RequestFingerprint, TransformChain, TransformFailure, TransformInput,
    TransformStep,
};

use super::plan_rows::ResolvedRequest;
use super::transform_input::{self, StoredRows, in_window};
use super::{DataRequest, output_table};
use crate::ApiState;
use crate::response::chain_cache::PlannedChain;
use crate::response::plan::{ResponsePlan, RowSource, TransformedRows};
use crate::response::transform_failure;

/// Key of schema metadata: transforms that changed the rows.
const MODIFIED: &str = "yearbook.modified";

impl DataRequest {
    /// Plans the response with rows that transforms make of rows of `dataset`.
    ///
    /// # Errors
    /// Those of stored rows; 403 where the licence forbids changed rows; 422 with the sentence of a
    /// transform that declines, then for names that its output does not have; 413 for more rows
    /// than the plan's transforms may see.
    pub(super) async fn plan_transforms(
        &self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
        dataset: &Dataset,
    ) -> Result<ResponsePlan, Error> {
        let sent = &self.selection;
        let resolved = self.resolve(app, dataset, &sent.transform_input()).await?;
        let ResolvedRequest { plan: input, position, options } = resolved;
        check_licence(dataset, &input)?;
        let steps = self.transform_steps().map_err(Refusal::InvalidParameters)?;
        let request = TransformRequest {
            app,
            auth,
            dataset,
            selection: sent,
            pairs: &self.pairs,
            input: &input,
            steps: &steps,
        };
        let PlannedTransforms { plan, mut chain, schema } = request.plan().await?;
        if let Some(position) = &position {
            position.validate_filters(&plan, sent).map_err(Error::invalid_parameter)?;
        }
        let limits = auth.caller.limits();
        let first_row = position.map(|position| position.row);
        let plan = read_plan::plan_read(dataset, plan, limits, sent, first_row)?;
        request.check_rows(&chain).await?;
        let shape = output_table::shape(&plan, &mut chain);
        let is_whole = plan.columns.iter().copied().eq(0..schema.fields().len());
        let schema = if is_whole {
            schema
        } else {
            let schema = schema.project(&plan.columns);
            Arc::new(schema.map_err(|error| Error::internal("project a schema", &error))?)
        };
        let (input, plan) = (Arc::clone(&input.snapshot), Arc::new(plan));
        let rows = TransformedRows { input, plan, steps, chain, shape, schema };
        Ok(ResponsePlan::new(self, auth, RowSource::Transformed(Arc::new(rows)), options))
    }
}

/// Rows of a snapshot, and transforms of them.
pub(crate) struct TransformRequest<'a> {
    pub(crate) app: &'a ApiState,
    pub(crate) auth: &'a AuthenticatedCaller,
    pub(crate) dataset: &'a Dataset,
    /// The whole selection.
    pub(crate) selection: &'a Selection,
    /// Parameters as sent, which problems repeat.
    pub(crate) pairs: &'a [(String, String)],
    /// Rows that the first transform sees.
    pub(crate) input: &'a ReadPlan,
    pub(crate) steps: &'a [TransformStep],
}

/// Transforms that are planned, and what is read of their rows.
pub(crate) struct PlannedTransforms {
    pub(crate) plan: ReadPlan,
    pub(crate) chain: TransformChain,
    /// All columns of the chain as they are sent, with the credit.
    pub(crate) schema: SchemaRef,
}

impl TransformRequest<'_> {
    /// Plans the transforms, and resolves the selection against what the last of them gives,
    /// without pages or a row cap.
    ///
    /// # Errors
    /// 422 with the sentence of a transform that declines, then for names that its output does not
    /// have; 500 for one that fails.
    pub(crate) async fn plan(&self) -> Result<PlannedTransforms, Error> {
        let input = self.input;
        let PlannedChain { chain, table, schema } = self.plan_chain().await?;
        let (name, namespace) = (input.dataset.clone(), input.namespace.clone());
        let shaped = read_plan::resolve_made(name, namespace, table, self.selection)
            .map_err(Refusal::InvalidParameters)?;
        let plan = ReadPlan {
            start: input.start,
            end: input.end,
            search_text: input.search_text.clone(),
            order: output_table::shortest_order(shaped.order, &chain),
            applied: Some(Arc::new(self.applied())),
            ..shaped
        };
        Ok(PlannedTransforms { plan, chain, schema })
    }

    /// The request, in case a transform fails at it. `asked`: what names it.
    pub(crate) fn fingerprint(&self, asked: String) -> RequestFingerprint {
        RequestFingerprint {
            key_id: self.auth.caller.id().clone(),
            request: asked,
            datasets: vec![self.dataset.name.to_string()],
            default_options: self.steps.iter().all(|step| applied(step).options.is_empty()),
        }
    }

    /// Asks the transforms what they make.
    async fn plan_chain(&self) -> Result<PlannedChain, Error> {
        let Self { app, auth, dataset, input, steps, .. } = *self;
        let axis = app.core.axis(dataset, &input.snapshot.id).await?;
        let reader = app.core.reader.for_caller(&auth.holder);
        let rows = Arc::new(StoredRows { reader, plan: input.clone() });
        let plan = async {
            let schema = transform_input::schema(input, axis)?;
            let own = Arc::clone(&rows);
            let planned = TransformChain::plan(&auth.holder, steps.to_vec(), schema, own).await;
            let chain = planned.map_err(|failure| self.refuse(failure))?;
            let table = Arc::new(output_table::describe(&input.snapshot, chain.schema()));
            let mut metadata = yearbook_scan::schema::credit_metadata(input);
            metadata.insert(MODIFIED.to_owned(), self.applied().to_notice());
            let schema = Arc::new(chain.schema().as_ref().clone().with_metadata(metadata));
            Ok::<_, Error>(PlannedChain { chain, table, schema })
        };
        let PlannedChain { chain, table, schema } =
            app.bodies.chains.get_or_plan(steps, axis, input, plan).await?;
        // One from memory has read for somebody else.
        let rows: Arc<dyn TransformInput> = match (steps.first(), chain.input_schema()) {
            (Some(first), Some(schema)) => app.core.releases.tee_transform(first, schema, rows),
            _ => rows,
        };
        Ok(PlannedChain { chain: chain.for_input(rows), table, schema })
    }

    fn applied(&self) -> AppliedTransforms {
        let transforms = self.steps.iter().map(applied).collect();
        AppliedTransforms { input: self.input.clone(), transforms }
    }

    /// Records that a transform could not be planned, and refuses the request.
    fn refuse(&self, failure: TransformFailure) -> Error {
        let Self { app, input, steps, .. } = *self;
        let names: Vec<&str> = steps.iter().map(|step| step.transform.name()).collect();
        let asked = format!("plan of {} {names:?}", input.snapshot.id);
        let fingerprint = self.fingerprint(asked);
        transform_failure::record(&*app.core.releases, &fingerprint, &failure);
        transform_failure::refuse(self.pairs, failure)
    }

    /// Checks that the transforms see no more rows than the plan has for them: those between the
    /// dates, by the file's statistics, as often as they are read.
    ///
    /// # Errors
    /// 413 for more.
    pub(crate) async fn check_rows(&self, chain: &TransformChain) -> Result<(), Error> {
        let Self { app, input, .. } = *self;
        let Some(limit) = self.auth.caller.limits().transform_rows else { return Ok(()) };
        let mut rows = 0_u64;
        for window in chain.windows(input.start) {
            let dates = ReadPlan {
                search_text: None,
                conditions: Vec::new(),
                bbox: None,
                ..in_window(input, window)
            };
            let counts = app.core.reader.row_counts(&dates).await?;
            rows = rows.saturating_add(counts.total.unwrap_or(input.snapshot.rows));
        }
        if rows > limit {
            let dated = input.snapshot.date_column.is_some();
            return Err(Refusal::TooManyRowsToTransform { rows, limit, dated }.into());
        }
        Ok(())
    }
}

/// A transform with the options that are not defaults, by name.
pub(crate) fn applied(step: &TransformStep) -> AppliedTransform {
    let description = step.transform.description();
    let options = description.parameters.non_default(&step.options);
    let mut options: Vec<(String, OptionScalar)> =
        options.map(|option| (option.name.clone(), option.value.clone())).collect();
    options.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    AppliedTransform {
        name: description.name.clone(),
        version: description.version.clone(),
        options,
    }
}

/// Checks that changed rows may be passed on: by the licence of the version, and by that of now.
pub(crate) fn check_licence(dataset: &Dataset, input: &ReadPlan) -> Result<(), Refusal> {
    let versions = [&input.snapshot, &dataset.current];
    match versions.into_iter().find(|snapshot| snapshot.forbids_derivatives()) {
        Some(snapshot) => Err(Refusal::NoDerivatives { licence: snapshot.credit.licence.clone() }),
        None => Ok(()),
    }
}
