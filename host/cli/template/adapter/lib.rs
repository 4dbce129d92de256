//! The adapter `{{name}}`: an API with pages of JSON over every dataset. Replace its requests and
//! its answers by those of the API that you want to speak.
//!
//! `/api/{{address}}` has the names of the datasets, `/api/{{address}}/DATASET?COLUMN=VALUE` rows.

use serde_json::json;
use yearbook_sdk::Adapter;
use yearbook_sdk::adapter::{
    AdapterDescription, DatasetQuery, Document, Example, Fact, Framing, Host, Known, Refusal,
    Reply, Request, Rows, Selection, Step, Wrapping,
};

yearbook_sdk::export_adapter!(Api);

/// The API. Every call is a new instance: nothing outlives one.
pub struct Api;

impl Adapter for Api {
    /// Description that operators see. The rules for each field stand in
    /// `yearbook/plugins/sdk/wit/1.2.0/adapter.wit`.
    fn describe() -> AdapterDescription {
        AdapterDescription {
            name: "{{address}}",
            version: env!("CARGO_PKG_VERSION"),
            title: "{{name}}",
            docs: "Rows of every dataset, in pages.",
            posts: false,
            plus_is_space: true,
            headers: vec![],
            key_parameter: None,
            // Each with its status over the sample catalogue, which `plugin check` tries.
            examples: vec![
                Example::get("/", 200),
                Example::get("/harvest_long?region=north", 200),
                Example::get("/harvest_long?colour=red", 400),
                Example::get("/nothing", 404),
            ],
        }
    }

    /// `?` on a question ends the call; the next one has its answer. What the host refuses goes to
    /// `refuse`, as what is refused here does.
    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        let name = match request.segments()[..] {
            [] => return datasets(host),
            [name] => name,
            _ => return Err(Refusal::new(404, "there is nothing at this address").into()),
        };
        let dataset = host.dataset(name)?;
        let mut selection = Selection { limit: Some(100), ..Selection::new(name) };
        for (key, value) in request.parameters() {
            if key == "page" {
                selection.cursor = Some(value.to_owned());
            } else if dataset.columns.iter().any(|column| column.name == key) {
                selection.equal(key, value);
            } else {
                return Err(Refusal::new(400, format!("'{key}' is no parameter here")).into());
            }
        }
        Ok(Rows::new(selection, "json").into())
    }

    /// Puts an object around the rows, which the host writes, with a link to the next page. The
    /// number of all rows is not known where a host would have to read them first.
    fn frame(request: &Request, _: &[Fact], known: &Known) -> Framing {
        let next = known.next.as_deref().map(|cursor| request.address_with("page", cursor));
        Wrapping::object(&json!({ "count": known.total, "next": next }), "results").into()
    }

    /// The form in which this API reports failures.
    fn refuse(_: &Request, refusal: &Refusal) -> Document {
        Document::json(refusal.status, &json!({ "error": refusal.sentence() }))
    }
}

fn datasets(host: &mut Host) -> Step<Reply> {
    let query = DatasetQuery { columns: false, ..DatasetQuery::page(1_000) };
    let page = host.datasets(query)?;
    let names: Vec<String> = page.datasets.into_iter().map(|dataset| dataset.name).collect();
    Ok(Document::json(200, &json!({ "datasets": names })).into())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use yearbook_sdk::testing::adapting;

    use super::*;

    /// The list that every adapter must hold, over the sample catalogue.
    #[test]
    fn conforms() {
        adapting::check::<Api>();
    }

    #[test]
    fn rows_stand_in_a_page() {
        let request = Example::get("/harvest_long?region=north", 200).request;
        let page: Value = serde_json::from_slice(&adapting::answer::<Api>(&request).body).unwrap();
        assert_eq!(page["results"][0]["region"], "north");
        assert_eq!(page["next"], Value::Null, "all rows fit in a page");
    }
}
