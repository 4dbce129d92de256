//! Entity tags of bodies with rows (contract-3-etag): a hash over everything that decides the
//! bytes. No I/O, so that a condition can be answered before anything is read or charged.

use sha2::{Digest as _, Sha256};
use yearbook_domain::changes::VALID_FROM;
use yearbook_domain::citation::selection_text;
use yearbook_domain::{Column, ColumnType, Credit, Date, Digest, ReadPlan};
use yearbook_http::EntityTag;
use yearbook_sandbox::{EncoderDescription, OptionScalar, OptionValue, TransformStep};
use yearbook_scan::{BATCHING_VERSION, ChangesPlan};

/// Changes whenever the same transforms would be run otherwise on the same rows, or what they give
/// be cut into other batches; part of the tag of every body that a transform takes part in.
const CHAIN_VERSION: u64 = 3;

/// Returns the tag of the body that `plan` makes, whose rows go through `transforms`. `axis`: the
/// unit of time that the first of them is told of.
pub(super) fn of_rows(
    plan: &ReadPlan,
    transforms: &[TransformStep],
    axis: Option<&str>,
    description: &EncoderDescription,
    digest: &Digest,
    chosen: &[OptionValue],
) -> EntityTag {
    let mut hash = FieldHasher(Sha256::new());
    hash.text(plan.dataset.as_str());
    hash.text(plan.namespace.as_str());
    hash.text(plan.snapshot.id.as_str());
    hash.text(plan.snapshot.file.sha256.as_str());
    hash.positions(&plan.columns);
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
    // Revisions are credited to several versions, which neither id nor file tells.
    if plan.stored_rows().snapshot.column_index(VALID_FROM).is_some() {
        hash.credit(&plan.stored_rows().snapshot.credit);
    }
    if description.codes {
        // Encoders that are told of codes are told when the version was published, and data may go
        // back to what it was.
        hash.number(plan.stored_rows().snapshot.created_at.0.cast_unsigned());
    }
    if let Some(applied) = &plan.applied {
        // The columns above are positions in a table that is made of these.
        hash.positions(&applied.input.columns);
        hash.optional(axis, FieldHasher::text);
    }
    for step in transforms {
        hash.number(CHAIN_VERSION);
        hash.text(step.transform.digest().as_str());
        hash.options(&step.transform.description().parameters.complete(&step.options));
    }
    hash.encoder(description, digest, chosen);
    EntityTag::from_hash(hash.0.finalize().as_slice())
}

/// Returns the key of what `open` of an encoder that is told of no codes is given for the rows of
/// `plan`, with all `options`: the snapshot decides the columns, whichever rows are read.
pub(super) fn of_open(plan: &ReadPlan, digest: &Digest, options: &[OptionValue]) -> [u8; 32] {
    let mut hash = FieldHasher(Sha256::new());
    hash.text("open");
    hash.text(plan.dataset.as_str());
    hash.text(plan.namespace.as_str());
    hash.text(plan.snapshot.id.as_str());
    // Revisions have the id of a snapshot, in a file and with a credit of their own.
    hash.text(plan.snapshot.file.sha256.as_str());
    hash.credit(&plan.snapshot.credit);
    hash.positions(&plan.columns);
    hash.number(u64::from(plan.row_numbers));
    hash.text(digest.as_str());
    hash.options(options);
    hash.0.finalize().into()
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

    fn positions(&mut self, columns: &[usize]) {
        self.number(columns.len() as u64);
        columns.iter().for_each(|column| self.number(*column as u64));
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
    use yearbook_domain::read_plan::AppliedTransforms;
    use yearbook_domain::{DatasetName, Namespace, Snapshot};

    use super::*;
    use yearbook_sandbox::PluginParameters;

    fn column(name: &str) -> Value {
        json!({"name": name, "type": "string", "nullable": true, "role": "value", "unit": null, "description": null, "few_values": false, "text_traits": 0})
    }

    fn snapshot(columns: &[&str]) -> Value {
        let columns: Vec<Value> = columns.iter().map(|name| column(name)).collect();
        json!({
            "id": "01ab".repeat(8), "created_at": 0, "rows": 1, "file": {"sha256": "0".repeat(64), "bytes": 1}, "title": null,
            "description": null, "keywords": [],
            "credit": {
                "source": "A", "attribution": "A", "licence": "A", "licence_title": null, "licence_url": null, "source_url": null,
                "source_url_precision": null, "sources": [],
            },
            "refresh_cadence": null, "bulk_redistribution": true, "columns": columns, "primary_key": [], "dimensions": [],
            "date_column": null, "date_range": null, "layout": "long", "bbox": null,
        })
    }

    fn encoder() -> EncoderDescription {
        EncoderDescription {
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
        }
    }

    /// The plan of all rows of `snapshot`.
    fn all_rows(snapshot: Value) -> ReadPlan {
        let snapshot: Snapshot = serde_json::from_value(snapshot).unwrap();
        let (name, namespace) = (DatasetName::parse("cpi"), Namespace::parse("prices"));
        ReadPlan::full_scan(name.unwrap(), namespace.unwrap(), Arc::new(snapshot))
    }

    fn rows_tag(plan: &ReadPlan, axis: Option<&str>) -> EntityTag {
        of_rows(plan, &[], axis, &encoder(), &"0".repeat(64).parse().unwrap(), &[])
    }

    /// The tag of changes in which `value` stands at `pointer`.
    fn changes_tag(pointer: &str, value: Value) -> EntityTag {
        let (old, new) = ("0".repeat(64), "1".repeat(64));
        let (from, to) = ("01ab".repeat(8), "02cd".repeat(8));
        let line = json!({"attribution": "A", "licence": "A"});
        let mut plan = json!({
            "snapshot": snapshot(&["a"]),
            "set": {
                "from": from, "to": to, "version": 1, "committed_at": 0, "rows": 9, "file": {"sha256": new, "bytes": 1}, "columns": [column("a")],
                "counts": {"inserted": 9, "deleted": 0, "updated": 0}, "from_credit": line, "to_credit": line,
            },
            "geometry": true, "start": 0, "end": 5, "digest": old,
        });
        *plan.pointer_mut(pointer).unwrap() = value;
        let snapshot: Snapshot = serde_json::from_value(plan["snapshot"].clone()).unwrap();
        let set = serde_json::from_value(plan["set"].clone()).unwrap();
        let changes = ChangesPlan {
            dataset: DatasetName::parse("cpi").unwrap(),
            namespace: Namespace::parse("prices").unwrap(),
            columns: snapshot.columns.clone(),
            snapshot: Arc::new(snapshot),
            geometry: plan["geometry"].as_bool().unwrap(),
            parts: vec![(set, plan["start"].as_u64().unwrap()..plan["end"].as_u64().unwrap())],
        };
        of_changes(&changes, &encoder(), &plan["digest"].as_str().unwrap().parse().unwrap(), &[])
    }

    #[test]
    fn what_transforms_are_given_is_part_of_a_tag_contract_16() {
        let made = |columns: Vec<usize>, axis: Option<&str>| {
            let input = ReadPlan { columns, ..all_rows(snapshot(&["a", "b", "c"])) };
            let applied = AppliedTransforms { input, transforms: Vec::new() };
            let made = all_rows(snapshot(&["a", "b"]));
            rows_tag(&ReadPlan { applied: Some(Arc::new(applied)), ..made }, axis)
        };
        let tags = [
            rows_tag(&all_rows(snapshot(&["a", "b"])), None),
            made(vec![0, 1, 2], None),
            made(vec![0, 1], None),
            made(vec![0, 2], None),
            made(vec![0, 1, 2], Some("month")),
            made(vec![0, 1, 2], Some("year")),
        ];
        for (at, tag) in tags.iter().enumerate() {
            assert!(!tags[..at].contains(tag), "{at}");
        }
    }

    #[test]
    fn what_tells_the_time_of_a_version_has_a_tag_of_its_own_contract_3() {
        let tag = |created_at: i64, codes: bool| {
            let mut snapshot = snapshot(&["a"]);
            snapshot["created_at"] = json!(created_at);
            let description = EncoderDescription { codes, ..encoder() };
            let digest = "0".repeat(64).parse().unwrap();
            of_rows(&all_rows(snapshot), &[], None, &description, &digest, &[])
        };
        assert_ne!(tag(0, true), tag(1_000, true));
        assert_eq!(tag(0, false), tag(1_000, false));
    }

    #[test]
    fn an_answer_of_open_is_kept_by_what_decides_the_schema_contract_3() {
        let key = |plan: &ReadPlan, digest: char, option: &str| {
            let value = OptionScalar::Text(option.to_owned());
            let digest = digest.to_string().repeat(64).parse().unwrap();
            of_open(plan, &digest, &[OptionValue { name: "o".to_owned(), value }])
        };
        let with = |pointer: &str, value: Value| {
            let mut snapshot = snapshot(&["a", "b"]);
            *snapshot.pointer_mut(pointer).unwrap() = value;
            all_rows(snapshot)
        };
        let plan = all_rows(snapshot(&["a", "b"]));
        let base = key(&plan, '0', "1");
        let page = ReadPlan { max_rows: Some(1), first_row: Some(9), ..plan.clone() };
        assert_eq!(base, key(&page, '0', "1"), "the rows do not decide");
        for (at, other) in [
            key(&plan, '1', "1"),
            key(&plan, '0', "2"),
            key(&ReadPlan { columns: vec![1, 0], ..plan.clone() }, '0', "1"),
            key(&ReadPlan { columns: vec![0], ..plan.clone() }, '0', "1"),
            key(&ReadPlan { row_numbers: true, ..plan.clone() }, '0', "1"),
            key(&ReadPlan { dataset: DatasetName::parse("x").unwrap(), ..plan.clone() }, '0', "1"),
            key(&ReadPlan { namespace: Namespace::parse("x").unwrap(), ..plan }, '0', "1"),
            key(&with("/id", json!("02cd".repeat(8))), '0', "1"),
            key(&with("/file/sha256", json!("1".repeat(64))), '0', "1"),
            key(&with("/credit/attribution", json!("B")), '0', "1"),
        ]
        .into_iter()
        .enumerate()
        {
            assert_ne!(base, other, "{at}");
        }
    }

    #[test]
    fn revisions_have_the_tag_of_their_credit_contract_21() {
        let credited = |column: &str, credit: &str| {
            let mut snapshot = snapshot(&["a", column]);
            snapshot["credit"]["attribution"] = json!(credit);
            rows_tag(&all_rows(snapshot), None)
        };
        assert_ne!(credited(VALID_FROM, "A"), credited(VALID_FROM, "A; B"));
        assert_eq!(credited("b", "A"), credited("b", "A; B"), "the id of a snapshot tells it");
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
