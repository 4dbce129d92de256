//! Options with which a transform takes a table, found by trying. A parameter that must be given is
//! given the first value that suits the table.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, SchemaRef};
use yearbook_sandbox::{
    GuestError, OptionScalar, OptionValue, ParameterKind, PluginTransform, TrialError,
};

use super::allowed_values::allowed_values;

/// Parameters that are given because the transform asks for them.
const MAX_GIVEN: usize = 4;

/// Returns no option where `transform` takes the table of `trial` without, or those that it asks
/// for one after the other, each an allowed value or the name of a column.
pub(crate) fn suitable_options(
    transform: &PluginTransform,
    schema: &SchemaRef,
    trial: impl Fn(&[OptionValue]) -> Result<(), TrialError>,
) -> Result<Vec<OptionValue>, TrialError> {
    let mut options: Vec<OptionValue> = Vec::new();
    loop {
        let failed = match trial(&options) {
            Ok(()) => return Ok(options),
            Err(failed) => failed,
        };
        let GuestError::InvalidTransformOption { option: wanted, .. } = &failed.error else {
            return Err(failed);
        };
        let is_new = options.iter().all(|given| given.name != *wanted);
        let is_wanted = |candidate: &&OptionValue| {
            let mut tried = options.clone();
            tried.push((*candidate).clone());
            !matches!(
                trial(&tried),
                Err(TrialError { error: GuestError::InvalidTransformOption { option, .. }, .. })
                    if option == *wanted
            )
        };
        let candidates = candidates(transform, schema, wanted);
        match candidates.iter().find(is_wanted) {
            Some(candidate) if is_new && options.len() < MAX_GIVEN => {
                options.push(candidate.clone());
            }
            _ => return Err(failed),
        }
    }
}

/// Values that a parameter may have for a table.
fn candidates(transform: &PluginTransform, schema: &SchemaRef, wanted: &str) -> Vec<OptionValue> {
    let parameters = &transform.description().parameters;
    let declared = parameters.iter().filter(|declared| declared.name == wanted);
    let allowed = allowed_values(parameters).map(|(_, option)| option);
    let allowed = allowed.filter(|option| option.name == wanted);
    let mut fields: Vec<_> = schema.fields().iter().collect();
    // Most transforms that want a column want a dimension.
    let role = |field: &Field| field.metadata().get("yearbook.role").cloned();
    fields.sort_by_key(|field| role(field).as_deref() != Some("dimension"));
    let names = declared.filter(|declared| declared.kind == ParameterKind::Text).flat_map(|_| {
        fields.iter().map(|field| OptionValue {
            name: wanted.to_owned(),
            value: OptionScalar::Text(field.name().clone()),
        })
    });
    allowed.chain(names).collect()
}

/// The distinct values of each column, by name; but of none with floating-point numbers.
pub(crate) fn distinct_values(rows: &RecordBatch) -> BTreeMap<String, Vec<String>> {
    let schema = rows.schema_ref();
    let columns = schema.fields().iter().zip(rows.columns()).filter_map(|(field, column)| {
        let values: Vec<String> = match column.data_type() {
            DataType::Int64 => {
                let values: BTreeSet<i64> =
                    column.as_primitive::<Int64Type>().iter().flatten().collect();
                values.iter().map(i64::to_string).collect()
            }
            DataType::Float64 => return None,
            _ => {
                let texts = cast(column, &DataType::Utf8).ok()?;
                let values: BTreeSet<&str> =
                    texts.as_string_opt::<i32>()?.iter().flatten().collect();
                values.into_iter().map(str::to_owned).collect()
            }
        };
        Some((field.name().clone(), values))
    });
    columns.collect()
}
