//! A citation in DataCite's JSON, metadata schema 4. There is no DOI: the service mints none.

use serde_json::{Value, json};

use super::{Citation, one_line};

pub(super) fn render(citation: &Citation) -> String {
    let credit = &citation.credit;
    let mut rights = json!({
        "rights": one_line(credit.licence_title.as_deref().unwrap_or(&credit.licence)),
        "rightsIdentifier": one_line(&credit.licence),
    });
    if let (Some(url), Some(rights)) = (&credit.licence_url, rights.as_object_mut()) {
        rights.insert("rightsUri".to_owned(), Value::from(url.as_str()));
    }
    let digest = citation.digest.map(|digest| {
        json!({
            "alternateIdentifier": digest.to_string(),
            "alternateIdentifierType": "yearbook-result-1",
        })
    });
    let mut record = json!({
        "creators": [{ "name": citation.agency(), "nameType": "Organizational" }],
        "titles": [{ "title": citation.title() }],
        "publisher": { "name": citation.agency() },
        "publicationYear": citation.year(),
        "types": { "resourceTypeGeneral": "Dataset", "resourceType": "Data set" },
        "version": citation.snapshot_id.as_str(),
        "dates": [{ "date": citation.date(), "dateType": "Issued" }],
        "url": citation.url,
        "rightsList": [rights],
        "descriptions": [{
            "description": citation.notes().join(" "),
            "descriptionType": "TechnicalInfo",
        }],
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    });
    if let Some(record) = record.as_object_mut() {
        if let Some(rows) = citation.rows {
            let noun = if rows == 1 { "row" } else { "rows" };
            record.insert("sizes".to_owned(), json!([format!("{rows} {noun}")]));
        }
        if let Some(digest) = digest {
            record.insert("alternateIdentifiers".to_owned(), json!([digest]));
        }
    }
    format!("{record:#}\n")
}
