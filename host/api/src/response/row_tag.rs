//! Entity tags of bodies with rows (contract-3-etag): a hash over everything that decides the
//! bytes. No I/O, so that a condition can be answered before anything is read or charged.

use sha2::{Digest as _, Sha256};
use yearbook_domain::citation::selection_text;
use yearbook_domain::{Column, ColumnType, Credit, Date, Digest, ReadPlan};
use yearbook_http::EntityTag;
use yearbook_sandbox::{EncoderDescription, OptionScalar, OptionValue, TransformStep};
use yearbook_scan::{BATCHING_VERSION, ChangesPlan};

/// Changes whenever the same transforms would be run otherwise on the same rows, or what they give
/// be cut into other batches; part of the tag of every body that a transform takes part in.
const CHAIN_VERSION: u64 = 2;

/// Returns the tag of the body that `plan` makes, whose rows go through `transforms`.
pub(super) fn of_rows(
    plan: &ReadPlan,
    transforms: &[TransformStep],
    description: &EncoderDescription,
    digest: &Digest,
    chosen: &[OptionValue],
) -> EntityTag {
    let mut hash = FieldHasher(Sha256::new());
    hash.text(plan.dataset.as_str());
    hash.text(plan.namespace.as_str());
    hash.text(plan.snapshot.id.as_str());
    hash.text(plan.snapshot.file.sha256.as_str());
    hash.number(plan.columns.len() as u64);
    plan.columns.iter().for_each(|column| hash.number(*column as u64));
    let [start, end] = [&plan.start, &plan.end].map(|date| date.as_ref().map(Date::as_str));
    for text in [start, end, plan.search_text.as_deref()] {
        hash.optional(text, FieldHasher::text);
    }
    hash.number(plan.first_row.unwrap_or(0));
    hash.optional(plan.max_rows, FieldHasher::number);
    // Absent where there is none of it: tags of other requests are those of releases before.
    let selection = selection_text(plan);
    if !selection.is_empty() {
        hash.text(&selection);
        // In another order than the natural one, row 0 may come first on a later page.
        hash.number(u64::from(plan.first_row.is_some()));
    }
    // Absent where there is none of it, likewise.
    if plan.skip > 0 || plan.row.is_some() || plan.row_numbers {
        hash.number(plan.skip);
        hash.optional(plan.row, FieldHasher::number);
        hash.number(u64::from(plan.row_numbers));
    }
    for step in transforms {
        hash.number(CHAIN_VERSION);
        hash.text(step.transform.digest().as_str());
        hash.options(&step.transform.description().parameters.complete(&step.options));
    }
    hash.encoder(description, digest, chosen);
    EntityTag::from_hash(hash.0.finalize().as_slice())
}

/// Returns the tag of the body with the changes of `plan`: rows, their credit, and the encoder.
pub(super) fn of_changes(
    plan: &ChangesPlan,
    description: &EncoderDescription,
    digest: &Digest,
    chosen: &[OptionValue],
) -> EntityTag {
    let mut hash = FieldHasher(Sha256::new());
    hash.text("changes");
    hash.text(plan.dataset.as_str());
    hash.text(plan.namespace.as_str());
    // An id decides the words of its own snapshot. The credit is that of several snapshots.
    hash.text(plan.snapshot.id.as_str());
    hash.credit(&plan.snapshot.credit);
    hash.number(plan.columns.len() as u64);
    plan.columns.iter().for_each(|column| hash.column(column));
    hash.number(u64::from(plan.geometry));
    hash.number(plan.parts.len() as u64);
    for (set, rows) in &plan.parts {
        hash.text(set.to.as_str());
        hash.number(set.committed_at.0.cast_unsigned());
        hash.text(set.file.sha256.as_str());
        hash.number(rows.start);
        hash.number(rows.end);
    }
    hash.encoder(description, digest, chosen);
    EntityTag::from_hash(hash.0.finalize().as_slice())
}

/// A hash over fields, each with its length, so that no two lists of fields read the same.
struct FieldHasher(Sha256);

impl FieldHasher {
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// Every word of `credit` that travels with rows.
    fn credit(&mut self, credit: &Credit) {
        self.text(&credit.source);
        self.text(&credit.attribution);
        self.text(&credit.licence);
        for text in [&credit.licence_title, &credit.licence_url, &credit.source_url] {
            self.optional(text.as_deref(), Self::text);
        }
        self.number(credit.sources.len() as u64);
        for source in &credit.sources {
            self.optional(source.title.as_deref(), Self::text);
            self.optional(source.path.as_deref(), Self::text);
        }
    }

    /// Every property of `column` that reaches an encoder.
    fn column(&mut self, column: &Column) {
        self.text(&column.name);
        self.text(match column.column_type {
            ColumnType::String => "string",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date => "date",
        });
        self.text(column.role.as_str());
        self.number(u64::from(column.nullable));
        self.optional(column.unit.as_deref(), Self::text);
        self.number(u64::from(column.few_values));
    }

    /// The encoder that writes the rows: its release, its options, and how rows reach it.
    fn encoder(
        &mut self,
        description: &EncoderDescription,
        digest: &Digest,
        chosen: &[OptionValue],
    ) {
        self.number(u64::from(BATCHING_VERSION));
        self.text(digest.as_str());
        self.options(&description.parameters.complete(chosen));
    }

    fn options(&mut self, options: &[OptionValue]) {
        for option in options {
            self.text(&option.name);
            match &option.value {
                OptionScalar::Text(text) => self.text(text),
                OptionScalar::Integer(integer) => self.number(integer.cast_unsigned()),
                OptionScalar::Number(number) => self.number(number.to_bits()),
                OptionScalar::Boolean(boolean) => self.number(u64::from(*boolean)),
            }
        }
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.0.update([u8::from(value.is_some())]);
        if let Some(value) = value {
            write(self, value);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use serde_json::{Value, json};
    use yearbook_domain::{DatasetName, Namespace};

    use super::*;
    use yearbook_sandbox::PluginParameters;

    /// The tag of changes in which `value` stands at `pointer`.
    fn changes_tag(pointer: &str, value: Value) -> EntityTag {
        let column = json!({"name": "a", "type": "string", "nullable": true, "role": "value", "unit": null, "description": null, "few_values": false, "text_traits": 0});
        let (old, new) = ("0".repeat(64), "1".repeat(64));
        let (from, to) = ("01ab".repeat(8), "02cd".repeat(8));
        let line = json!({"attribution": "A", "licence": "A"});
        let mut plan = json!({
            "snapshot": {
                "id": from, "created_at": 0, "rows": 1, "file": {"sha256": old, "bytes": 1}, "title": null, "description": null, "keywords": [],
                "credit": {
                    "source": "A", "attribution": "A", "licence": "A", "licence_title": null, "licence_url": null, "source_url": null,
                    "source_url_precision": null, "sources": [],
                },
                "refresh_cadence": null, "bulk_redistribution": true, "columns": [column], "primary_key": [], "dimensions": [],
                "date_column": null, "date_range": null, "layout": "long", "bbox": null,
            },
            "set": {
                "from": from, "to": to, "version": 1, "committed_at": 0, "rows": 9, "file": {"sha256": new, "bytes": 1}, "columns": [column],
                "counts": {"inserted": 9, "deleted": 0, "updated": 0}, "from_credit": line, "to_credit": line,
            },
            "geometry": true, "start": 0, "end": 5, "digest": old,
        });
        *plan.pointer_mut(pointer).unwrap() = value;
        let snapshot: yearbook_domain::Snapshot =
            serde_json::from_value(plan["snapshot"].clone()).unwrap();
        let set = serde_json::from_value(plan["set"].clone()).unwrap();
        let changes = ChangesPlan {
            dataset: DatasetName::parse("cpi").unwrap(),
            namespace: Namespace::parse("prices").unwrap(),
            columns: snapshot.columns.clone(),
            snapshot: Arc::new(snapshot),
            geometry: plan["geometry"].as_bool().unwrap(),
            parts: vec![(set, plan["start"].as_u64().unwrap()..plan["end"].as_u64().unwrap())],
        };
        let description = EncoderDescription {
            format: "f".to_owned(),
            version: "1.0.0".to_owned(),
            media_type: "text/plain".to_owned(),
            extension: "txt".to_owned(),
            separator: None,
            part_rows: None,
            dictionaries: false,
            codes: false,
            compressible: true,
            parameters: PluginParameters::default(),
            docs: String::new(),
        };
        of_changes(&changes, &description, &plan["digest"].as_str().unwrap().parse().unwrap(), &[])
    }

    #[test]
    fn each_field_that_decides_changes_has_a_tag_of_its_own_contract_3() {
        let base = changes_tag("/digest", json!("0".repeat(64)));
        assert_eq!(
            base,
            changes_tag("/snapshot/title", json!("T")),
            "a title does not travel with rows"
        );
        for (pointer, value) in [
            ("/digest", json!("e".repeat(64))),
            ("/geometry", json!(false)),
            ("/start", json!(1)),
            ("/end", json!(6)),
            ("/set/to", json!("03ef".repeat(8))),
            ("/set/committed_at", json!(1)),
            ("/set/file/sha256", json!("2".repeat(64))),
            ("/snapshot/id", json!("02cd".repeat(8))),
            ("/snapshot/credit/source", json!("B")),
            ("/snapshot/credit/attribution", json!("B")),
            ("/snapshot/credit/licence", json!("B")),
            ("/snapshot/credit/licence_title", json!("B")),
            ("/snapshot/credit/licence_url", json!("B")),
            ("/snapshot/credit/source_url", json!("B")),
            ("/snapshot/credit/sources", json!([{"title": "B", "path": null}])),
            ("/snapshot/columns/0/name", json!("b")),
            ("/snapshot/columns/0/type", json!("date")),
            ("/snapshot/columns/0/role", json!("key")),
            ("/snapshot/columns/0/nullable", json!(false)),
            ("/snapshot/columns/0/unit", json!("kg")),
        ] {
            assert_ne!(base, changes_tag(pointer, value), "{pointer}");
        }
    }
}
