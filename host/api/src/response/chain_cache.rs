//! Planned chains of transforms in memory: what transforms need and make is a function of their
//! releases, the schema, what is known of the table's values, and the options, so they are asked
//! once (decision 0457).

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use quick_cache::sync::Cache;
use yearbook_domain::citation::selection_text;
use yearbook_domain::{CalendarUnit, ReadPlan, Snapshot};
use yearbook_sandbox::{TransformChain, TransformStep};

/// Chains in memory: one has the values of a few columns at most, which take some hundred
/// kilobytes.
const ENTRIES: usize = 128;

/// A chain, and the table that it makes.
#[derive(Clone)]
pub(crate) struct PlannedChain {
    pub(crate) chain: TransformChain,
    pub(crate) table: Arc<Snapshot>,
    /// Its columns as they are sent: as the transforms describe them, with the credit, and that
    /// they were changed.
    pub(crate) schema: SchemaRef,
}

/// Chains by everything that their planning is given.
pub(crate) struct ChainCache(Cache<String, PlannedChain>);

impl Default for ChainCache {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}

impl ChainCache {
    /// Returns the chain of `steps` on rows of `input`, whose dates have the unit `axis`: from
    /// memory, or what `plan` makes. Other requests for the same one wait meanwhile. A failure is
    /// not kept.
    ///
    /// # Errors
    /// Those of `plan`.
    pub(crate) async fn get_or_plan<E>(
        &self,
        steps: &[TransformStep],
        axis: Option<CalendarUnit>,
        input: &ReadPlan,
        plan: impl Future<Output = Result<PlannedChain, E>>,
    ) -> Result<PlannedChain, E> {
        match self.0.get_value_or_guard_async(&key(steps, axis, input)).await {
            Ok(chain) => Ok(chain),
            Err(slot) => {
                let chain = plan.await?;
                // An entry that others pushed out meanwhile is planned again some day.
                let _ = slot.insert(chain.clone());
                Ok(chain)
            }
        }
    }
}

/// Key of a chain. The snapshot decides the schema and the values, with the columns and conditions
/// of the selection; its file, in which of their forms they are read; the dataset and the credit,
/// which for revisions is that of several snapshots, what is credited.
fn key(steps: &[TransformStep], axis: Option<CalendarUnit>, input: &ReadPlan) -> String {
    let step = |step: &TransformStep| {
        let TransformStep { transform, options } = step;
        (transform.digest().to_string(), transform.description().parameters.complete(options))
    };
    let steps: Vec<_> = steps.iter().map(step).collect();
    let Snapshot { id, file, created_at, credit, .. } = &*input.snapshot;
    let ReadPlan { dataset, namespace, columns, .. } = input;
    let (file, selection) = (&file.sha256, selection_text(input));
    // `Debug` quotes texts, so no two keys read the same.
    format!(
        "{namespace} {dataset} {id} {file} {created_at:?} {credit:?} {axis:?} {columns:?} {steps:?} {selection:?}"
    )
}
