//! `yearbook datasets`: what is published (contract-6-datasets).

use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};
use yearbook_catalog::{Catalog, HoldOutcome, LastCheck};
use yearbook_domain::{Dataset, DatasetName, Millis, SnapshotId, SnapshotSummary};

use crate::arguments::DatasetsCommand;
use crate::context::CommandContext;
use crate::output::{TextTable, or_dash, render_facts};

pub(super) async fn run(context: &CommandContext, command: DatasetsCommand) -> anyhow::Result<()> {
    let store = context.catalog().await?;
    match command {
        DatasetsCommand::List => list(context, &store).await,
        DatasetsCommand::Show { name } => {
            let dataset = find_dataset(&store, &name).await?;
            let source = store.source_state(&name).await.context("cannot read its last check")?;
            show(context, &dataset, source.last_check.as_ref())
        }
        DatasetsCommand::Snapshots { name } => {
            snapshots(context, &find_dataset(&store, &name).await?)
        }
        DatasetsCommand::Releases => releases(context, &store).await,
        DatasetsCommand::Hold { name, snapshot } => hold(context, &store, &name, &snapshot).await,
        DatasetsCommand::Forget { name, before } => forget(context, &store, &name, before).await,
        DatasetsCommand::Retire { name } => retire(context, store, &name).await,
    }
}

async fn list(context: &CommandContext, store: &Catalog) -> anyhow::Result<()> {
    let datasets = store.datasets().await.context("cannot list datasets")?;
    let values: Vec<Value> = datasets.iter().map(summary_json).collect();
    context.output.print_result(&values, || {
        let rows = datasets.iter().map(|Dataset { name, namespace, current, .. }| {
            [
                name.to_string(),
                namespace.to_string(),
                current.rows.to_string(),
                current.created_at.to_rfc3339(),
                current.id.to_string(),
                current.title.clone().unwrap_or_default(),
            ]
        });
        TextTable::new(&["name", "namespace", "#rows", "refreshed", "snapshot", "title"])
            .with_rows(rows)
            .render_or("No datasets yet. Publish one: yearbook publish PATH/datapackage.json")
    })
}

fn show(
    context: &CommandContext,
    dataset: &Dataset,
    last_check: Option<&LastCheck>,
) -> anyhow::Result<()> {
    let mut details = detail_json(dataset);
    details["last_check"] = last_check.map_or(Value::Null, |check| {
        json!({
            "time": check.ended_at.to_rfc3339(),
            "outcome": check.outcome,
            "reason": check.reason,
        })
    });
    context.output.print_result(&details, || {
        let current = &dataset.current;
        let mut facts = vec![
            ("name", dataset.name.to_string()),
            ("namespace", dataset.namespace.to_string()),
            ("title", or_dash(current.title.as_deref())),
            ("source", current.credit.source.clone()),
            ("source address", or_dash(current.credit.source_url.as_deref())),
            ("licence", current.credit.licence.clone()),
            ("attribution", current.credit.attribution.clone()),
            (
                "bulk download",
                if current.bulk_redistribution {
                    "allowed by the licence"
                } else {
                    "forbidden by the licence"
                }
                .to_owned(),
            ),
            ("cadence", or_dash(current.refresh_cadence.as_deref())),
            ("snapshot", current.id.to_string()),
            ("refreshed", current.created_at.to_rfc3339()),
            ("checked", dataset.checked_at.to_rfc3339()),
            ("last check", last_check.map_or_else(|| or_dash(None), check_line)),
            ("rows", current.rows.to_string()),
            (
                "file",
                format!("snapshots/{}.parquet, {} bytes", current.file.sha256, current.file.bytes),
            ),
            ("primary key", or_dash(Some(&current.primary_key.join(", ")))),
            ("date column", or_dash(current.date_column.as_deref())),
        ];
        if let Some((first, last)) = &current.date_range {
            facts.push(("dates", format!("{first} to {last}")));
        }
        if let Some(bounds) = &current.bbox {
            facts.push(("bounds", bounds.0.map(|degrees| degrees.to_string()).join(", ")));
        }
        let columns = current.columns.iter().map(|column| {
            [
                column.name.clone(),
                wire_name(&column.column_type),
                wire_name(&column.role),
                if column.nullable { "yes" } else { "no" }.to_owned(),
                column.unit.clone().unwrap_or_default(),
                column.description.clone().unwrap_or_default(),
            ]
        });
        let columns = TextTable::new(&["column", "type", "role", "nulls", "unit", "description"])
            .with_rows(columns);
        format!("{}\n{}", render_facts(facts), columns.render())
    })
}

fn check_line(check: &LastCheck) -> String {
    let reason = check.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}, {}{reason}", check.ended_at.to_rfc3339(), check.outcome.as_str())
}

fn snapshots(context: &CommandContext, dataset: &Dataset) -> anyhow::Result<()> {
    let current = &dataset.current.id;
    context.output.print_result(&snapshots_json(dataset), || {
        let rows = dataset.snapshots.iter().map(|snapshot| {
            let marks = [(snapshot.id == *current, "current"), (snapshot.held, "held")];
            let marks = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark);
            [
                snapshot.version.to_string(),
                snapshot.id.to_string(),
                snapshot.created_at.to_rfc3339(),
                snapshot.rows.to_string(),
                marks.collect::<Vec<_>>().join(", "),
            ]
        });
        let headings = ["#version", "snapshot", "created", "#rows", "state"];
        TextTable::new(&headings).with_rows(rows).render()
    })
}

async fn releases(context: &CommandContext, store: &Catalog) -> anyhow::Result<()> {
    let waiting = store.waiting_releases().await.context("cannot list what waits")?;
    let values: Vec<Value> = waiting
        .iter()
        .map(|waiting| {
            json!({
                "id": waiting.id,
                "name": waiting.dataset,
                "snapshot": waiting.snapshot,
                "release_at": waiting.release_at.to_rfc3339(),
                "announced": waiting.announced,
            })
        })
        .collect();
    context.output.print_result(&values, || {
        let rows = waiting.iter().map(|waiting| {
            [
                waiting.id.to_string(),
                waiting.dataset.to_string(),
                waiting.snapshot.to_string(),
                waiting.release_at.to_rfc3339(),
                or_dash(waiting.announced.as_deref()),
            ]
        });
        TextTable::new(&["#release", "name", "snapshot", "visible from", "announced as"])
            .with_rows(rows)
            .render_or("Nothing waits.")
    })
}

async fn forget(
    context: &CommandContext,
    store: &Catalog,
    name: &DatasetName,
    before: Millis,
) -> anyhow::Result<()> {
    if store.current_snapshot(name).await?.is_none() {
        bail!(unknown_dataset(store, name).await)
    }
    let forgotten = store
        .forget_history(name, before)
        .await
        .with_context(|| format!("nothing of {name} is forgotten; try again"))?;
    let report = json!({ "name": name, "forgotten": forgotten });
    context.output.print_result(&report, || {
        let versions = if forgotten == 1 { "version" } else { "versions" };
        format!(
            "{forgotten} old {versions} of {name} cannot be read any more; `yearbook gc` removes their files. Snapshots that are kept are not touched."
        )
    })
}

async fn hold(
    context: &CommandContext,
    store: &Catalog,
    name: &DatasetName,
    snapshot: &str,
) -> anyhow::Result<()> {
    let outcome = match SnapshotId::parse(snapshot) {
        Some(id) => store
            .hold_snapshot(name, &id)
            .await
            .with_context(|| format!("snapshot {snapshot} of {name} is not held; try again"))?,
        None => HoldOutcome::Unknown,
    };
    match outcome {
        HoldOutcome::Held | HoldOutcome::AlreadyHeld => {}
        HoldOutcome::Dropped => bail!(
            "snapshot {snapshot} of {name} was dropped: its file is gone, and nothing is left to hold, though its rows may still be read with as_of; `yearbook datasets snapshots {name}` lists those that can be held"
        ),
        HoldOutcome::Unknown if store.dataset(name).await?.is_none() => {
            bail!(unknown_dataset(store, name).await)
        }
        HoldOutcome::Unknown => bail!(
            "{name} never had a snapshot {snapshot}; `yearbook datasets snapshots {name}` lists those that it has"
        ),
    }
    let report = json!({ "name": name, "snapshot": snapshot, "held": true });
    context.output.print_result(&report, || {
        format!("Snapshot {snapshot} of {name} is held: no rule on retention drops it.")
    })
}

async fn retire(
    context: &CommandContext,
    store: Arc<Catalog>,
    name: &DatasetName,
) -> anyhow::Result<()> {
    if !store
        .retire_dataset(name)
        .await
        .with_context(|| format!("{name} was not retired; try again"))?
    {
        if let Some(waiting) = store.waiting_release(name).await? {
            bail!(
                "release {} of {name} waits until {}; withdraw it first: yearbook release withdraw {}",
                waiting.id,
                waiting.release_at.to_rfc3339(),
                waiting.id
            );
        }
        bail!(unknown_dataset(&store, name).await);
    }
    context.output.print_result(&json!({ "name": name, "retired": true }), || {
        format!("{name} is retired; running servers answer 404 within 2 seconds. Publishing it again brings it back.")
    })
}

async fn find_dataset(store: &Catalog, name: &DatasetName) -> anyhow::Result<Dataset> {
    match store.dataset(name).await.context("cannot read datasets")? {
        Some(dataset) => Ok(dataset),
        None => Err(unknown_dataset(store, name).await),
    }
}

/// "No such dataset", with the reason where its refresh failed, else with the nearest name where
/// one is near.
async fn unknown_dataset(store: &Catalog, name: &DatasetName) -> anyhow::Error {
    let source = store.source_state(name).await.ok();
    let never_published = source.filter(|source| source.checked_at.is_none());
    if let Some(reason) = never_published.and_then(|source| source.last_check?.reason) {
        return anyhow!(
            "there is no dataset {name}; the last check of its source failed: {reason}"
        );
    }
    let names: Vec<String> = store
        .datasets()
        .await
        .unwrap_or_default()
        .into_iter()
        .map(|dataset| dataset.name.to_string())
        .collect();
    let near = |other: &String| strsim::normalized_damerau_levenshtein(other, name.as_str());
    match names.iter().max_by(|a, b| near(a).total_cmp(&near(b))).filter(|other| near(other) > 0.5)
    {
        Some(other) => anyhow!("there is no dataset {name}; did you mean {other}?"),
        None => anyhow!("there is no dataset {name}; `yearbook datasets list` shows what there is"),
    }
}

fn summary_json(dataset: &Dataset) -> Value {
    json!({
        "name": dataset.name,
        "namespace": dataset.namespace,
        "source": dataset.current.credit.source,
        "title": dataset.current.title,
        "current_snapshot_id": dataset.current.id,
        "rows": dataset.current.rows,
        "last_refreshed_at": dataset.current.created_at.to_rfc3339(),
        "checked_at": dataset.checked_at.to_rfc3339(),
    })
}

fn detail_json(dataset: &Dataset) -> Value {
    let current = &dataset.current;
    let mut value = summary_json(dataset);
    let more = json!({
        "description": current.description,
        "attribution_text": current.credit.attribution,
        "licence": current.credit.licence,
        "licence_title": current.credit.licence_title,
        "licence_url": current.credit.licence_url,
        "source_url": current.credit.source_url,
        "source_url_precision": current.credit.source_url_precision,
        "sources": current.credit.sources,
        "refresh_cadence": current.refresh_cadence,
        "bulk_redistribution": current.bulk_redistribution,
        "file": { "object": format!("snapshots/{}.parquet", current.file.sha256), "bytes": current.file.bytes },
        "columns": current.columns.iter().map(|column| json!({
            "name": column.name,
            "type": column.column_type,
            "nullable": column.nullable,
            "role": column.role,
            "unit": column.unit,
            "description": column.description,
        })).collect::<Vec<_>>(),
        "primary_key": current.primary_key,
        "dimensions": current.dimensions,
        "date_filter_column": current.date_column,
        "date_range": current.date_range.as_ref().map(|(first, last)| json!({ "first": first, "last": last })),
        "layout": current.layout,
        "bbox": current.bbox,
        "snapshots": snapshots_json(dataset),
    });
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

fn snapshots_json(dataset: &Dataset) -> Vec<Value> {
    let summary = |snapshot: &SnapshotSummary| {
        json!({
            "id": snapshot.id,
            "version": snapshot.version,
            "created_at": snapshot.created_at.to_rfc3339(),
            "rows": snapshot.rows,
            "held": snapshot.held,
        })
    };
    dataset.snapshots.iter().map(summary).collect()
}

/// A value of a closed list as its word on the wire.
fn wire_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
