//! Distinct values of columns that an encoder is told before the first row. They travel as metadata
//! of the schema, so that everything that holds a schema has them too: keys of outcomes, canaries,
//! dumps. At the crossing they leave it again.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use yearbook_domain::metadata_key::{self, ROLE};

use crate::guest::bindings::transform::yearbook::plugin::statistics::Code;

/// Values of a column at most.
pub(crate) const CODES: usize = 10_000;

/// Values of all columns together at most.
const VALUES: usize = 100_000;

/// Returns `schema` with the distinct values of its columns, as an encoder that exports its
/// codelists is told them (contract-19-codelists): those of the first columns that fit.
#[must_use]
pub fn with_codes(schema: &Schema, codes: Vec<Option<Vec<String>>>) -> SchemaRef {
    with_labelled_codes(schema, codes, |_, _| None)
}

/// The same with labels: `labels` has those of the values of a column by its name, in their order;
/// none where the column has none.
#[must_use]
pub fn with_labelled_codes<'a>(
    schema: &Schema,
    codes: Vec<Option<Vec<String>>>,
    labels: impl Fn(&str, &[String]) -> Option<Vec<Option<&'a str>>>,
) -> SchemaRef {
    let mut left = VALUES;
    let fields = schema.fields().iter().zip(codes).map(|(field, codes)| {
        let fits = |codes: &Vec<String>| codes.len() <= left.min(CODES) && !is_measured(field);
        let Some(codes) = codes.filter(fits) else { return Arc::clone(field) };
        left -= codes.len();
        let mut metadata = field.metadata().clone();
        metadata.insert(metadata_key::CODES.to_owned(), serde_json::json!(codes).to_string());
        if let Some(labels) = labels(field.name(), &codes) {
            let labels = serde_json::json!(labels).to_string();
            metadata.insert(metadata_key::CODE_LABELS.to_owned(), labels);
        }
        Arc::new(Field::clone(field).with_metadata(metadata))
    });
    let fields: Vec<_> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns whether the values of a column are measurements or places, of which nobody asks for a
/// list.
pub(crate) fn is_measured(field: &Field) -> bool {
    let role = field.metadata().get(ROLE).map(|role| role.as_str());
    matches!(role, Some("value" | "geometry"))
}

/// Values of a column with their labels.
pub(crate) struct ToldCodes {
    values: Vec<String>,
    /// None of a column that has none.
    labels: Vec<Option<String>>,
}

impl ToldCodes {
    fn read(field: &Field) -> Option<Self> {
        let values = serde_json::from_str(field.metadata().get(metadata_key::CODES)?).ok()?;
        let labels = field.metadata().get(metadata_key::CODE_LABELS);
        let labels = labels.and_then(|labels| serde_json::from_str(labels).ok());
        Some(Self { values, labels: labels.unwrap_or_default() })
    }

    /// They as they cross.
    pub(crate) fn lend(&self) -> Vec<Code<'_>> {
        let labels = self.labels.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        let codes = self.values.iter().zip(labels);
        codes.map(|(value, label)| Code { value, label }).collect()
    }

    fn bytes(&self) -> usize {
        self.values.iter().chain(self.labels.iter().flatten()).map(String::len).sum()
    }
}

/// The values of each column of `schema`, where they are told.
pub(crate) fn codes(schema: &Schema) -> Vec<Option<ToldCodes>> {
    schema.fields().iter().map(|field| ToldCodes::read(field)).collect()
}

/// Values without labels as they cross.
pub(crate) fn lend(values: &[String]) -> Vec<Code<'_>> {
    values.iter().map(|value| Code { value, label: None }).collect()
}

/// Bytes of all values and labels.
pub(crate) fn bytes(codes: &[Option<ToldCodes>]) -> usize {
    codes.iter().flatten().map(ToldCodes::bytes).sum()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::HashMap;

    use arrow::datatypes::DataType;

    use super::*;
    use crate::guest::WireSchema;

    #[test]
    fn values_are_told_of_few_columns_and_never_cross_as_metadata() {
        let column = |name: &str, role: &str| {
            let metadata = HashMap::from([(ROLE.to_owned(), role.to_owned())]);
            let field = Field::new(name, DataType::Utf8, true).with_metadata(metadata);
            Arc::new(field)
        };
        let count = |count: usize| Some((0..count).map(|n| n.to_string()).collect::<Vec<_>>());
        let mut columns = vec![
            (column("region", "dimension"), count(2)),
            (column("code", "attribute"), None),
            (column("value", "value"), count(2)),
            (column("outline", "geometry"), count(2)),
            (column("note", "attribute"), count(CODES + 1)),
        ];
        // The last one does not fit any more.
        let many = (0..10).map(|n| (column(&format!("key_{n}"), "key"), count(CODES)));
        columns.extend(many);
        let (fields, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let schema = with_codes(&Schema::new(fields), values);
        let told: Vec<_> =
            codes(&schema).iter().map(|codes| Some(codes.as_ref()?.values.len())).collect();
        assert_eq!(told[..5], [Some(2), None, None, None, None]);
        assert_eq!(told[5..14], [Some(CODES); 9]);
        assert_eq!(told[14], None);
        let codes_of = codes(&schema).into_iter().map(|codes| Some(codes?.values)).collect();
        let schema = with_labelled_codes(&schema, codes_of, |column, values| {
            let south = |value: &String| (value == "1").then_some("South");
            (column == "region").then(|| values.iter().map(south).collect())
        });
        let region = codes(&schema).swap_remove(0).unwrap();
        let lent: Vec<_> = region.lend().iter().map(|code| (code.value, code.label)).collect();
        assert_eq!(lent, [("0", None), ("1", Some("South"))]);
        assert_eq!(codes(&schema)[5].as_ref().unwrap().lend()[0].label, None);
        let flattened = WireSchema::new(&schema, true).unwrap();
        let keys = flattened.borrow(|schema| {
            let pairs = schema.fields.iter().flat_map(|field| field.metadata);
            pairs.map(|pair| pair.key.to_owned()).collect::<Vec<_>>()
        });
        assert!(!keys.is_empty() && keys.iter().all(|key| key == ROLE), "{keys:?}");
    }
}
