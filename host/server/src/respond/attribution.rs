//! The credit that every data response carries (spec-4.1-attribution, contract-4-header-text):
//! UTF-8 bytes as they are.

use http::{HeaderMap, HeaderName, HeaderValue};
use yearbook_domain::{Namespace, Snapshot};

use crate::headers::{ATTRIBUTION, LICENCE, NAMESPACE, SNAPSHOT_ID, SOURCE, SOURCE_URL};

/// Writes credit, namespace and snapshot id. An unknown source address leaves its header out.
pub(crate) fn write(headers: &mut HeaderMap, namespace: &Namespace, snapshot: &Snapshot) {
    let credit = &snapshot.credit;
    insert_utf8(headers, ATTRIBUTION, &credit.attribution);
    insert_utf8(headers, SOURCE, &credit.source);
    insert_utf8(headers, LICENCE, &credit.licence);
    if let Some(url) = &credit.source_url {
        insert_utf8(headers, SOURCE_URL, url);
    }
    insert_utf8(headers, NAMESPACE, namespace.as_str());
    insert_utf8(headers, SNAPSHOT_ID, &snapshot.id);
}

fn insert_utf8(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    match HeaderValue::from_bytes(text.as_bytes()) {
        Ok(value) => {
            headers.insert(name, value);
        }
        // Publishing refuses control characters, so this is a catalogue that something else wrote.
        Err(_) => {
            tracing::error!(header = %name, "a text of the catalogue cannot be a header; publish the dataset again")
        }
    }
}
