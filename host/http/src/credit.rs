//! Headers with the credit of rows (spec-4.1-attribution).

use http::HeaderMap;
use yearbook_domain::{Namespace, Snapshot};

use crate::headers::{
    ATTRIBUTION, LICENCE, NAMESPACE, SNAPSHOT_ID, SOURCE, SOURCE_URL, insert_text,
};

/// Writes credit, namespace and snapshot id. An unknown source address leaves its header out.
pub fn write_credit(headers: &mut HeaderMap, namespace: &Namespace, snapshot: &Snapshot) {
    let credit = &snapshot.credit;
    insert_text(headers, ATTRIBUTION, &credit.attribution);
    insert_text(headers, SOURCE, &credit.source);
    insert_text(headers, LICENCE, &credit.licence);
    if let Some(url) = &credit.source_url {
        insert_text(headers, SOURCE_URL, url);
    }
    insert_text(headers, NAMESPACE, namespace.as_str());
    insert_text(headers, SNAPSHOT_ID, snapshot.id.as_str());
}
