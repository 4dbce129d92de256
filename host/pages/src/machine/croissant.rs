//! Croissant 1.1: the stored file with its digest, and a record set with a field for each column,
//! as loaders of training data read them.

use serde_json::{Map, Value, json};
use yearbook_domain::bulk::FILE_MEDIA_TYPE;
use yearbook_domain::{Column, ColumnType};

use super::schema_org::licence;
use super::view::{DatasetView, SERVICE_LANGUAGE};

/// Id of the stored file within the document.
const FILE: &str = "table";

/// Id of the record set within the document.
const RECORDS: &str = "rows";

/// Returns the document of `view`. Without a file that may be passed on it has neither file nor
/// fields: a field without a source says nothing to a loader.
pub(super) fn dataset(view: &DatasetView<'_>) -> Value {
    let snapshot = view.snapshot();
    let credit = &snapshot.credit;
    let mut node = Map::new();
    let mut set = |key: &str, value: Value| {
        node.insert(key.to_owned(), value);
    };
    set("@context", context(view.language));
    set("@type", json!("sc:Dataset"));
    set("conformsTo", json!("http://mlcommons.org/croissant/1.1"));
    set("name", json!(view.dataset.name));
    set("alternateName", json!(view.title()));
    set("description", text(&view.description(), view.description_language(), view.language));
    set("url", json!(view.page_url()));
    set("license", view.licence_url().map_or_else(|| json!(credit.licence), |_| licence(view)));
    set("citeAs", json!(credit.attribution));
    let mut creator = json!({"@type": "sc:Organization", "name": credit.source});
    if let Some(url) = view.source_url() {
        creator["url"] = json!(url);
    }
    set("creator", creator);
    set("version", json!(snapshot.id));
    set("datePublished", json!(snapshot.created_at.date()));
    set("dateModified", json!(snapshot.created_at.date()));
    set("isLiveDataset", json!(true));
    if !snapshot.keywords.is_empty() {
        set("keywords", json!(snapshot.keywords));
    }
    if let Some(url) = view.bulk_url() {
        set(
            "distribution",
            json!([{
                "@type": "cr:FileObject",
                "@id": FILE,
                "name": FILE,
                "description": text(
                    "The whole table; an API key is needed.", SERVICE_LANGUAGE, view.language
                ),
                "contentUrl": url,
                "contentSize": format!("{} B", snapshot.file.bytes),
                "encodingFormat": FILE_MEDIA_TYPE,
                "sha256": snapshot.file.sha256,
            }]),
        );
        set(
            "recordSet",
            json!([{
                "@type": "cr:RecordSet",
                "@id": RECORDS,
                "name": RECORDS,
                "field": snapshot.columns.iter().map(field).collect::<Vec<_>>(),
            }]),
        );
    }
    Value::Object(node)
}

fn field(column: &Column) -> Value {
    let data_type = match column.column_type {
        ColumnType::String => "sc:Text",
        ColumnType::Integer => "sc:Integer",
        ColumnType::Number => "sc:Float",
        ColumnType::Boolean => "sc:Boolean",
        ColumnType::Date => "sc:Date",
    };
    let mut field = json!({
        "@type": "cr:Field",
        "@id": format!("{RECORDS}/{}", column.name),
        "name": column.name,
        "dataType": data_type,
        "source": {"fileObject": {"@id": FILE}, "extract": {"column": column.name}},
    });
    let unit = column.unit.as_ref().map(|unit| format!("Unit: {unit}."));
    let words: Vec<&str> =
        [column.description.as_deref(), unit.as_deref()].into_iter().flatten().collect();
    if !words.is_empty() {
        field["description"] = json!(words.join(" "));
    }
    field
}

/// A text in a document of another language, or of the same.
fn text(text: &str, language: &str, document: &str) -> Value {
    if language == document { json!(text) } else { json!({language: text}) }
}

/// The context that the specification prescribes for version 1.1, in a language.
fn context(language: &str) -> Value {
    json!({
        "@language": language,
        "@vocab": "https://schema.org/",
        "arrayShape": "cr:arrayShape",
        "citeAs": "cr:citeAs",
        "column": "cr:column",
        "conformsTo": "dct:conformsTo",
        "containedIn": "cr:containedIn",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "description": {"@container": "@language"},
        "equivalentProperty": "cr:equivalentProperty",
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "extract": "cr:extract",
        "field": "cr:field",
        "fileProperty": "cr:fileProperty",
        "fileObject": "cr:fileObject",
        "fileSet": "cr:fileSet",
        "format": "cr:format",
        "includes": "cr:includes",
        "isArray": "cr:isArray",
        "isLiveDataset": "cr:isLiveDataset",
        "jsonPath": "cr:jsonPath",
        "key": "cr:key",
        "md5": "cr:md5",
        "name": {"@container": "@language"},
        "parentField": "cr:parentField",
        "path": "cr:path",
        "recordSet": "cr:recordSet",
        "references": "cr:references",
        "regex": "cr:regex",
        "repeated": "cr:repeated",
        "replace": "cr:replace",
        "samplingRate": "cr:samplingRate",
        "sc": "https://schema.org/",
        "separator": "cr:separator",
        "source": "cr:source",
        "subField": "cr:subField",
        "transform": "cr:transform",
    })
}
