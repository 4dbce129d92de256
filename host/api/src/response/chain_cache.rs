//! Planned chains of transforms in memory: what transforms need and make is a function of their
//! releases, the schema, what is known of the table's values, and the options, so they are asked
//! once (decision 0457).

use arrow::datatypes::Schema;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use yearbook_domain::ReadPlan;
use yearbook_domain::citation::selection_text;
use yearbook_sandbox::{TransformChain, TransformFailure, TransformStep};

/// Chains in memory: one has the values of a few columns at most, which take some hundred
/// kilobytes.
const ENTRIES: usize = 128;

/// Chains by everything that their planning is given.
pub(crate) struct ChainCache(Cache<[u8; 32], TransformChain>);

impl Default for ChainCache {
    fn default() -> Self {
        Self(Cache::new(ENTRIES))
    }
}

impl ChainCache {
    /// Returns the chain of `steps` on rows of `schema` and `input`: from memory, or what `plan`
    /// makes. Other requests for the same one wait meanwhile. A failure is not kept.
    ///
    /// # Errors
    /// Those of `plan`.
    pub(crate) async fn get_or_plan(
        &self,
        steps: &[TransformStep],
        schema: &Schema,
        input: &ReadPlan,
        plan: impl Future<Output = Result<TransformChain, TransformFailure>>,
    ) -> Result<TransformChain, TransformFailure> {
        match self.0.get_value_or_guard_async(&key(steps, schema, input)).await {
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

/// Key of a chain. Snapshot and conditions decide what is known of values.
fn key(steps: &[TransformStep], schema: &Schema, input: &ReadPlan) -> [u8; 32] {
    let mut metadata: Vec<_> = schema.metadata().iter().collect();
    metadata.sort_unstable();
    let step = |step: &TransformStep| {
        let TransformStep { transform, options } = step;
        (transform.digest().to_string(), transform.description().parameters.complete(options))
    };
    let steps: Vec<_> = steps.iter().map(step).collect();
    let (id, selection) = (&input.snapshot.id, selection_text(input));
    // `Debug` quotes texts, so no two lists read the same.
    let text = format!("{steps:?} {:?} {metadata:?} {id} {selection:?}", schema.fields());
    Sha256::digest(text.as_bytes()).into()
}
