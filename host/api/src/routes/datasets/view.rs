//! Datasets as clients see them: `DatasetMeta` and its extension (spec-2.1-list, spec-2.1-detail).
//! Field order is that of the specification.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::meaning::{Language, ListedCode, Note, StatusCodes};
use yearbook_domain::read_plan::series_columns;
use yearbook_domain::{
    BoundingBox, ColumnRole, ColumnType, Dataset, DatasetName, Date, Namespace, Snapshot,
    SnapshotId, SourceEntry, TableLayout,
};
use yearbook_http::body_schema::{BodySchema, OptionalMember, Rfc3339};
use yearbook_http::json_body;

json_body! {
    /// `DatasetMeta`.
    pub(crate) struct DatasetMeta<'a> named "DatasetMeta": "A dataset in the list." {
        name: &'a DatasetName => {"description": "Address of the dataset."},
        namespace: &'a Namespace => {"description": "Grouping used in bulk addresses."},
        source: &'a str => {"description": "The publishing agency."},
        title: Option<&'a str>,
        description: Option<&'a str>,
    }

    /// Everything else that clients need before they ask for rows.
    pub(crate) struct DatasetDetails<'a>: "What one dataset has besides those in the list." {
        date_filter_column: Option<&'a str> => {
            "description": "The column that `start` and `end` filter; null: they have no effect."
        },
        attribution_text: &'a str => {"description": "Credit to be passed on verbatim."},
        licence: &'a str,
        licence_title: Option<&'a str>,
        licence_url: Option<&'a str>,
        no_derivatives: bool => {
            "description": "True: the licence forbids to pass changed rows on, so `apply` is refused."
        },
        source_url: Option<&'a str>,
        source_url_precision: Option<SourceUrlPrecision>,
        sources: &'a [SourceEntry] => {
            "description": "Every source that the publisher names."
        },
        last_refreshed_at: Rfc3339,
        refresh_cadence: Option<&'a str> => {
            "description": "How often the source is checked again; not the frequency of the series."
        },
        row_count_at_last_refresh: u64 => {"minimum": 0},
        current_snapshot_id: &'a SnapshotId,
        columns: Vec<ColumnView<'a>>,
        primary_key: &'a [String],
        dimensions: &'a [String],
        series: Option<Vec<&'a str>> => {
            "description": "Columns whose values tell series apart, for `first` and `last`; null without dates."
        },
        layout: TableLayout,
        has_geometry: bool,
        bbox: Option<BoundingBox> => {
            "description": "West, south, east, north (RFC 7946); west > east across 180°."
        },
        date_range: Option<DateRangeView<'a>>,
        checked_at: Rfc3339,
        snapshots: Vec<SnapshotView<'a>>,
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        languages: OptionalMember<&'a [Language]> => {
            "description": "Languages of titles, descriptions, labels and notes, the main one first; left out where the publisher named none."
        },
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        notes: OptionalMember<Vec<NoteView<'a>>> => {"description": "Footnotes; left out where there are none."},
    }

    struct NoteView<'a>: "A footnote." {
        text: &'a str,
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        column: OptionalMember<&'a str> => {"description": "The column that it is about."},
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        conditions as "where": OptionalMember<Conditions<'a>> => {
            "description": "The rows that it is about: conditions by their names without `where.`, each with its values."
        },
    }

    pub(crate) struct ColumnView<'a> named "Column": "A column." {
        name: &'a str,
        column_type as "type": ColumnType,
        nullable: bool,
        role: ColumnRole,
        unit: Option<&'a str>,
        description: Option<&'a str>,
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        title: OptionalMember<&'a str>,
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        of: OptionalMember<&'a [String]> => {"description": "Columns whose values have these statuses."},
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        codes: OptionalMember<CodesView<'a>> => {
            "description": "Where the statuses are from: `sdmx-obs` (CL_OBS_STATUS), `sdmx-conf` (CL_CONF_STATUS), or a list."
        },
        #[serde(skip_serializing_if = "OptionalMember::is_absent")]
        labelled: OptionalMember<bool> => {"description": "True where values have labels, which `/values` tells."},
    }

    pub(crate) struct CodeView<'a>: "A status." {
        code: &'a str,
        label: Option<&'a str>,
        confidential: bool => {"description": "True: no value is published beside it."},
    }

    struct DateRangeView<'a>: "First and last date." {
        first: &'a Date,
        last: &'a Date,
    }

    struct SnapshotView<'a>: "A retained snapshot." {
        id: &'a SnapshotId,
        version: u64 => {
            "minimum": 0, "description": "Its number within the dataset: 0, 1, 2 and so on."
        },
        created_at: Rfc3339,
        rows: u64 => {"minimum": 0},
    }
}

/// A list of statuses: by its name, or one by one.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum CodesView<'a> {
    Named(&'static str),
    Listed(Vec<CodeView<'a>>),
}

impl BodySchema for CodesView<'_> {
    fn schema() -> Value {
        json!({"anyOf": [
            {"type": "string", "enum": ["sdmx-obs", "sdmx-conf"]},
            {"type": "array", "items": CodeView::schema()},
        ]})
    }
}

impl<'a> CodesView<'a> {
    fn new(codes: &'a StatusCodes, language: Option<&Language>) -> Self {
        let view = |listed: &'a ListedCode| CodeView {
            code: &listed.code,
            label: listed.label.as_ref().map(|label| label.in_language(language)),
            confidential: listed.confidential,
        };
        match codes {
            StatusCodes::Own(own) => Self::Listed(own.iter().map(view).collect()),
            StatusCodes::Known(_) => Self::Named(codes.name()),
        }
    }
}

/// Conditions of a note.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Conditions<'a>(&'a BTreeMap<String, Vec<String>>);

impl BodySchema for Conditions<'_> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}})
    }
}

/// One dataset.
#[derive(Serialize)]
pub(crate) struct DatasetBody<'a> {
    #[serde(flatten)]
    meta: DatasetMeta<'a>,
    #[serde(flatten)]
    details: DatasetDetails<'a>,
}

impl BodySchema for DatasetBody<'_> {
    const COMPONENT: Option<&'static str> = Some("Dataset");

    fn schema() -> Value {
        let mut schema = DatasetMeta::schema();
        schema["description"] = json!(
            "One dataset: what `DatasetMeta` says, its columns, its credit and its versions."
        );
        let mut details = DatasetDetails::schema();
        for list in ["properties", "required"] {
            match (&mut schema[list], details[list].take()) {
                (Value::Object(of_list), Value::Object(more)) => of_list.extend(more),
                (Value::Array(of_list), Value::Array(more)) => of_list.extend(more),
                _ => {}
            }
        }
        schema
    }
}

impl<'a> DatasetMeta<'a> {
    /// `snapshot` is the current one, in any of its languages.
    pub(crate) fn new(dataset: &'a Dataset, snapshot: &'a Snapshot) -> Self {
        Self {
            name: &dataset.name,
            namespace: &dataset.namespace,
            source: &snapshot.credit.source,
            title: snapshot.title.as_deref(),
            description: snapshot.description.as_deref(),
        }
    }
}

impl<'a> DatasetBody<'a> {
    /// `snapshot` is the current one, in `language` where it has languages.
    pub(crate) fn new(
        dataset: &'a Dataset,
        snapshot: &'a Snapshot,
        language: Option<&Language>,
    ) -> Self {
        let credit = &snapshot.credit;
        let note = |note: &'a Note| NoteView {
            text: note.text.in_language(language),
            column: OptionalMember(note.column.as_deref()),
            conditions: OptionalMember(
                (!note.conditions.is_empty()).then_some(Conditions(&note.conditions)),
            ),
        };
        let meaning = &snapshot.meaning;
        let column = |column: &'a yearbook_domain::Column| ColumnView {
            name: &column.name,
            column_type: column.column_type,
            nullable: column.nullable,
            role: column.role,
            unit: column.unit.as_deref(),
            description: column.description.as_deref(),
            title: OptionalMember(column.title()),
            of: OptionalMember(column.status().map(|status| status.of.as_slice())),
            codes: OptionalMember(
                column.status().map(|status| CodesView::new(&status.codes, language)),
            ),
            labelled: OptionalMember(
                column.meaning.as_ref().is_some_and(|meaning| meaning.labelled).then_some(true),
            ),
        };
        let retained = |summary: &'a yearbook_domain::SnapshotSummary| SnapshotView {
            id: &summary.id,
            version: summary.version,
            created_at: Rfc3339(summary.created_at),
            rows: summary.rows,
        };
        let details = DatasetDetails {
            date_filter_column: snapshot.date_column.as_deref(),
            attribution_text: &credit.attribution,
            licence: &credit.licence,
            licence_title: credit.licence_title.as_deref(),
            licence_url: credit.licence_url.as_deref(),
            no_derivatives: snapshot.forbids_derivatives(),
            source_url: credit.source_url.as_deref(),
            source_url_precision: credit.source_url_precision,
            sources: &credit.sources,
            last_refreshed_at: Rfc3339(snapshot.created_at),
            refresh_cadence: snapshot.refresh_cadence.as_deref(),
            row_count_at_last_refresh: snapshot.rows,
            current_snapshot_id: &snapshot.id,
            columns: snapshot.columns.iter().map(column).collect(),
            primary_key: &snapshot.primary_key,
            dimensions: &snapshot.dimensions,
            series: series_columns(snapshot).map(|positions| {
                let column = |position: usize| snapshot.columns.get(position);
                positions.into_iter().filter_map(column).map(|column| &*column.name).collect()
            }),
            layout: snapshot.layout,
            has_geometry: snapshot.has_geometry(),
            bbox: snapshot.bbox,
            date_range: snapshot
                .date_range
                .as_ref()
                .map(|(first, last)| DateRangeView { first, last }),
            checked_at: Rfc3339(dataset.checked_at),
            snapshots: dataset.snapshots.iter().map(retained).collect(),
            languages: OptionalMember(
                (!meaning.languages.is_empty()).then_some(&*meaning.languages),
            ),
            notes: OptionalMember(
                (!meaning.notes.is_empty()).then(|| meaning.notes.iter().map(note).collect()),
            ),
        };
        Self { meta: DatasetMeta::new(dataset, snapshot), details }
    }
}
