//! One dataset as a stream of the tap.

use serde_json::{Map, Value, json};
use yearbook_sdk::generator::{Column, ColumnType, Dataset, Plan};

/// Way of reading one dataset.
#[derive(Debug)]
pub(crate) struct TapStream<'a> {
    dataset: &'a Dataset,
    geometry: bool,
    incremental: bool,
    page: u64,
}

impl<'a> TapStream<'a> {
    /// Decides page and columns; `geometry`: whether it is wanted where there is one;
    /// `incremental`: whether later runs go on from the last date where there is one.
    pub(crate) fn new(
        dataset: &'a Dataset,
        plan: &Plan,
        geometry: bool,
        incremental: bool,
    ) -> Self {
        Self { dataset, geometry, incremental, page: dataset.page(plan, geometry) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.dataset.name
    }

    /// Requests of a run that reads everything.
    pub(crate) fn requests(&self) -> u64 {
        self.dataset.requests(self.page)
    }

    pub(crate) fn drops_geometry(&self) -> bool {
        !self.geometry && self.dataset.geometry().is_some()
    }

    /// True where a later run asks only for newer rows, as its owner chose: that misses revisions
    /// of older rows, so it is never the default. A spatial dataset is an edition of a map: it
    /// changes as a whole.
    pub(crate) fn is_incremental(&self) -> bool {
        self.incremental
            && self.dataset.date_column.is_some()
            && (self.dataset.geometry().is_none() || self.drops_geometry())
    }

    /// The stream's configuration.
    pub(crate) fn definition(&self) -> Value {
        let dataset = self.dataset;
        let mut params = Map::from_iter([
            ("limit".to_owned(), json!(self.page)),
            ("format".to_owned(), json!("json")),
        ]);
        if self.drops_geometry() {
            // Text: a YAML boolean would be sent as `False`, which reads well enough, but not
            // everywhere.
            params.insert("geometry".to_owned(), json!("false"));
        }
        let mut stream = json!({
            "name": dataset.name,
            "path": format!("/datasets/{}/data", dataset.name),
            "records_path": "$[*]",
            "primary_keys": dataset.primary_key,
            "params": params,
        });
        if let (Some(date), Some(stream), true) =
            (&dataset.date_column, stream.as_object_mut(), self.is_incremental())
        {
            stream.insert("replication_key".to_owned(), json!(date));
            stream.insert("source_search_field".to_owned(), json!("start"));
            // The tap's placeholder, not the environment's.
            stream.insert("source_search_query".to_owned(), json!("$last_run_date"));
        }
        stream["schema"] = self.schema();
        stream
    }

    /// Written out, so that the tap spends no request on guessing it.
    fn schema(&self) -> Value {
        let sent = |column: &&Column| {
            !(self.drops_geometry()
                && self.dataset.geometry().is_some_and(|geometry| geometry.name == column.name))
        };
        let properties: Map<String, Value> = self
            .dataset
            .columns
            .iter()
            .filter(sent)
            .map(|column| (column.name.clone(), property(column)))
            .collect();
        json!({"type": "object", "properties": properties})
    }
}

fn property(column: &Column) -> Value {
    let mut property = json!({"type": column.json_types()});
    if column.column_type == ColumnType::Date {
        // Without it the tap takes the replication key for a time and asks with one.
        property["format"] = json!("date");
    }
    property
}
