//! Every route with what it takes and answers, in the order of `docs/spec/routes.md`. A test holds
//! this list against the router.

use serde_json::{Map, Value, json};
use yearbook_domain::bulk::FILE_MEDIA_TYPE;
use yearbook_http::{CoreSettings, media_types};
use yearbook_sandbox::{GeneratorDescription, PluginSet};

use super::operation::{Operation, RouteKind};
use super::{examples, headers, parameters};
use crate::request::known_parameters;

/// Headers of an answer that can be asked for again with its tag.
const TAGGED: [&str; 1] = ["ETag"];

/// Headers of one that may be compressed, too.
const PACKED: [&str; 2] = ["ETag", "Content-Encoding"];

/// Headers of a document that may be in several languages.
const SPOKEN: [&str; 3] = ["ETag", "Content-Encoding", "Content-Language"];

/// Headers of rows and of the answer that they have not changed.
const ROWS_ALSO: [&str; 5] = [
    "Last-Modified",
    "Content-Disposition",
    "X-Service-Geometry-Omitted",
    "X-Service-Modified",
    "Link",
];

/// Further headers of rows that are sent.
const ROWS_SENT: [&str; 6] = [
    "X-Service-Rows",
    "X-Service-Total-Rows",
    "X-Next-Page",
    "X-Service-Truncated",
    "X-Plan-Row-Cap",
    "Content-Encoding",
];

/// Conditions on what has a tag.
const CONDITIONS: [&str; 2] = ["If-Match", "If-None-Match"];

/// Conditions on what has a date too.
const DATED_CONDITIONS: [&str; 3] = ["If-Match", "If-Unmodified-Since", "If-None-Match"];

/// Path items by path.
pub(super) fn all(settings: &CoreSettings, plugins: &PluginSet) -> Value {
    let health = Operation::new(
        RouteKind::Health,
        "getHealth",
        "Is the process alive",
        "Asks nothing of anybody.",
    )
    .answers(
        200,
        "It is.",
        &[],
        Some(examples::json_content("Health", &json!({"status": "ok"}))),
    );
    let ready = Some(examples::json_content("Readiness", &examples::readiness()));
    let readiness = Operation::new(
        RouteKind::Health,
        "getReadiness",
        "Is everything there that requests need",
        "Database, object storage, catalogue and plugins, looked at once in 60 s.",
    )
    .answers(
        200,
        "Requests can be answered; `degraded` says that something is amiss.",
        &[],
        ready.clone(),
    )
    .answers(503, "Requests cannot be answered.", &["Retry-After"], ready);
    let list =
        Operation::new(RouteKind::Listing, "listDatasets", "List all datasets", "Sorted by name.")
            .takes(known_parameters::LANGUAGE.names)
            .takes(&CONDITIONS)
            .takes(&["Accept-Encoding"])
            .answers(200, "The datasets.", &PACKED, Some(examples::datasets()))
            .answers(304, "Nothing changed since this tag.", &TAGGED, None);
    let show = Operation::new(
        RouteKind::Dataset,
        "getDataset",
        "Describe one dataset",
        "Its columns, credit, versions and size: look here before asking for rows.",
    )
    .takes(&["name"])
    .takes(known_parameters::LANGUAGE.names)
    .takes(&CONDITIONS)
    .takes(&["Accept-Encoding"])
    .answers(
        200,
        "The dataset.",
        &SPOKEN,
        Some(examples::json_content("Dataset", &examples::dataset())),
    )
    .answers(304, "Nothing changed since this tag.", &TAGGED, None);
    let credited = [&PACKED[..], &headers::CREDIT_HEADERS].concat();
    let preview = Operation::new(
        RouteKind::Preview,
        "previewDataset",
        "Look at ten rows",
        "Newest first where there are dates; without geometry. Texts are cut at 1,000 characters, and the document at 64 KiB by leaving out \
         rows, then columns. Needs no key and charges nothing.",
    )
    .takes(&["name"])
    .takes(&CONDITIONS)
    .takes(&["Accept-Encoding"])
    .answers(200, "Up to ten rows.", &credited, Some(examples::json_content("Preview", &examples::preview())))
    .answers(304, "Nothing changed since this tag.", &TAGGED, None);
    let me = Operation::new(RouteKind::Me, "getMe", "What the key may do", "Costs nothing.")
        .answers(
            200,
            "The plan, and what is left of it.",
            &headers::RATE_LIMIT_HEADERS,
            Some(examples::json_content("Me", &examples::me(settings))),
        );
    let mut paths = Map::new();
    let mut put = |path: &str, operation: Operation| {
        paths.insert(path.to_owned(), operation.finish(plugins));
    };
    put("/health", health);
    put("/health/full", readiness);
    put("/v1/datasets", list);
    put("/v1/datasets/{name}", show);
    put("/v1/datasets/{name}/preview", preview);
    put("/v1/datasets/{name}/data", data("getData", "Rows of a dataset", plugins));
    put("/v1/datasets/{name}/changes", changes(plugins));
    put("/v1/datasets/{name}/revisions", revisions(plugins));
    put("/v1/datasets/{name}/values", values());
    put("/v1/datasets/{name}/link", link(plugins));
    put("/l/{file}", linked_rows(plugins));
    put(
        "/v1/series/{name}/data",
        data("getSeriesData", "Rows of a dataset, by its catalogue address", plugins),
    );
    put("/v1/bulk/{namespace}/{name}", bulk());
    for generator in plugins.generators() {
        let description = generator.description();
        put(&format!("/v1/integrations/{}", description.tool), integration(description));
    }
    put("/v1/me", me);
    Value::Object(paths)
}

fn data(id: &str, summary: &str, plugins: &PluginSet) -> Operation {
    let credited = [&TAGGED[..], &ROWS_ALSO, &headers::CREDIT_HEADERS].concat();
    Operation::new(
        RouteKind::Data,
        id,
        summary,
        "By date, then by primary key, then as published; the same in every request for the same snapshot. \
         Arrow and Parquet are typed and recommended for large pulls.",
    )
    .takes(&["name"])
    .takes(known_parameters::DATA.names)
    .takes_also(transform_parameters(plugins))
    .takes_also(format_parameters(plugins))
    .takes(&DATED_CONDITIONS)
    .takes(&["If-Modified-Since", "Accept", "Accept-Encoding"])
    .answers(200, "The rows.", &[&credited[..], &ROWS_SENT].concat(), Some(examples::rows(plugins)))
    .answers(304, "Nothing changed since this tag; not charged.", &credited, None)
}

fn changes(plugins: &PluginSet) -> Operation {
    let also = [
        "X-Service-Watermark",
        "X-Service-Has-More",
        "X-Service-Geometry-Omitted",
        "X-Service-Truncated",
        "X-Plan-Row-Cap",
    ];
    let credited = [&TAGGED[..], &also, &headers::CREDIT_HEADERS].concat();
    Operation::new(
        RouteKind::Changes,
        "getChanges",
        "What changed between versions",
        "Rows of a snapshot and all changes since then are the rows of the newest. Ask again with `since` set to `X-Service-Watermark` \
         while `X-Service-Has-More` is `true`.",
    )
    .takes(&["name", "since", "changes_limit", "format", "geometry"])
    .takes_also(format_parameters(plugins))
    .takes(&CONDITIONS)
    .takes(&["Accept", "Accept-Encoding"])
    .answers(200, "The changes.", &[&credited[..], &["Content-Disposition", "Content-Encoding"]].concat(), Some(examples::changes(plugins)))
    .answers(304, "Nothing changed since this tag; not charged.", &credited, None)
}

fn revisions(plugins: &PluginSet) -> Operation {
    let credited = [&TAGGED[..], &ROWS_ALSO, &headers::CREDIT_HEADERS].concat();
    let names: Vec<&str> = known_parameters::REVISIONS.names.to_vec();
    let names: Vec<&str> = names
        .into_iter()
        .map(|name| if name == "since" { "revisions_since" } else { name })
        .collect();
    Operation::new(
        RouteKind::Revisions,
        "getRevisions",
        "Rows of all versions",
        "Each row as often as it was published differently, with the times from which (`_valid_from`) and until which (`_valid_to`, null: it \
         still is) it was so. Both are columns for conditions and `sort`. By date, then by primary key, then by `_valid_from`.",
    )
    .takes(&["name"])
    .takes(&names)
    .takes_also(transform_parameters(plugins))
    .takes_also(format_parameters(plugins))
    .takes(&DATED_CONDITIONS)
    .takes(&["If-Modified-Since", "Accept", "Accept-Encoding"])
    .answers(200, "The revisions.", &[&credited[..], &ROWS_SENT].concat(), Some(examples::revisions(plugins)))
    .answers(304, "Nothing changed since this tag; not charged.", &credited, None)
}

fn values() -> Operation {
    let credited = [&TAGGED[..], &["Last-Modified"], &headers::CREDIT_HEADERS].concat();
    Operation::new(
        RouteKind::Values,
        "getValues",
        "Values that columns have",
        "Distinct values, ascending, each with its number of rows and its first and last date. Without a selection, the values of columns with \
         at most 10,000 of them are free; anything else is charged as rows are.",
    )
    .takes(&parameters::VALUES_PARAMETERS)
    .takes(&DATED_CONDITIONS)
    .takes(&["If-Modified-Since", "Accept-Encoding"])
    .answers(
        200,
        "The values.",
        &[&credited[..], &["Content-Encoding", "Content-Language"]].concat(),
        Some(examples::json_content("Values", &examples::values())),
    )
    .answers(304, "Nothing changed since this tag; not charged.", &credited, None)
}

fn link(plugins: &PluginSet) -> Operation {
    let format = plugins.data_formats().first().copied().unwrap_or_default();
    Operation::new(
        RouteKind::Link,
        "getLink",
        "Make a link to rows",
        "An address that stands for the key, for programs that can send no header. It reads the newest snapshot of exactly this selection, \
         is as secret as the key, and ends with its time, with the key, or with all links of the key. Free; refuses what HEAD of the rows \
         would refuse.",
    )
    .takes(&["name"])
    .takes(known_parameters::LINK.names)
    .takes_also(transform_parameters(plugins))
    .takes_also(format_parameters(plugins))
    .takes(&["Accept-Encoding"])
    .answers(
        200,
        "The link.",
        &[&headers::RATE_LIMIT_HEADERS[..], &["Content-Encoding"]].concat(),
        Some(examples::json_content("Link", &examples::link(format))),
    )
}

fn linked_rows(plugins: &PluginSet) -> Operation {
    let credited =
        [&TAGGED[..], &ROWS_ALSO, &headers::CREDIT_HEADERS, &headers::LINK_HEADERS].concat();
    let mut content = examples::rows(plugins);
    content[media_types::HTML] = json!({});
    Operation::new(
        RouteKind::LinkedRows,
        "getLinkedRows",
        "Rows by a link",
        "The rows that the link was made for, charged and limited as those of its key. `cursor` is the only parameter. Programs that \
         draw previews of links get a page about the dataset in place of the rows, uncharged.",
    )
    .takes(&["file", "cursor"])
    .takes(&DATED_CONDITIONS)
    .takes(&["If-Modified-Since", "Accept-Encoding"])
    .answers(200, "The rows.", &[&credited[..], &ROWS_SENT].concat(), Some(content))
    .answers(304, "Nothing changed since this tag; not charged.", &credited, None)
}

/// Parameters that loaded formats declare.
fn transform_parameters(plugins: &PluginSet) -> impl Iterator<Item = Value> {
    let transforms = plugins.transforms().map(|transform| transform.description());
    transforms
        .flat_map(|transform| parameters::plugin_parameters(&transform.name, &transform.parameters))
}

fn format_parameters(plugins: &PluginSet) -> impl Iterator<Item = Value> {
    let formats = plugins.encoders().map(|encoder| encoder.description());
    formats.flat_map(|format| parameters::plugin_parameters(&format.format, &format.parameters))
}

fn bulk() -> Operation {
    let also =
        ["Last-Modified", "Content-Disposition", "Repr-Digest", "X-Service-Freshness", "Link"];
    let credited = [&TAGGED[..], &also, &headers::CREDIT_HEADERS].concat();
    let moved = [
        &TAGGED[..],
        &["Last-Modified", "Location", "X-Service-Freshness", "Link"],
        &headers::CREDIT_HEADERS,
    ]
    .concat();
    let file = || Some(json!({FILE_MEDIA_TYPE: {}}));
    Operation::new(
        RouteKind::Bulk,
        "downloadBulk",
        "Download a whole dataset",
        "The stored Parquet file, never compressed on the way: whole, or one range of it, so that a download can go on where it stopped.",
    )
    .takes(&["namespace", "name", "freshness", "Range", "If-Range", "If-Modified-Since"])
    .takes(&DATED_CONDITIONS)
    .answers(200, "The whole file.", &credited, file())
    .answers(206, "The range.", &[&credited[..], &["Content-Range"]].concat(), file())
    .answers(304, "Nothing changed since this tag; not charged.", &credited, None)
    .answers(
        307,
        "The file itself, at an address that holds for a minute or so; charged as the file is. Asked for a range, the service answers itself.",
        &moved,
        None,
    )
}

fn integration(tool: &GeneratorDescription) -> Operation {
    let camel: String = tool
        .tool
        .split('-')
        .map(|word| word.split_at(1))
        .map(|(first, rest)| first.to_ascii_uppercase() + rest)
        .collect();
    let mut content = examples::json_content("Project", &examples::project(&tool.tool));
    content[media_types::ZIP] = json!({});
    Operation::new(
        RouteKind::Integration,
        &format!("generate{camel}"),
        &format!("Files for {}", tool.title),
        tool.docs.clone(),
    )
    .takes(&["datasets", "Accept", "Accept-Encoding"])
    .takes_also(parameters::plugin_parameters(&tool.tool, &tool.parameters))
    .answers(
        200,
        "The files, as JSON or as one zip by `Accept`. A key never stands in them.",
        &["Content-Disposition", "Content-Encoding"],
        Some(content),
    )
}
