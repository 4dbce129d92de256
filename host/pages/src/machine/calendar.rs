//! The release calendar as JSON and as an Atom feed.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::atom::{self, MAX_ENTRIES};
use super::escape::{json_text, xml_text};
use super::view::{CatalogView, SERVICE_LANGUAGE, first_language};
use crate::calendar::{Calendar, CalendarEvent};
use yearbook_domain::Millis;

/// Returns the calendar as JSON.
pub(super) fn json(catalog: &CatalogView<'_>, calendar: &Calendar) -> String {
    let release = |event: &CalendarEvent| {
        let dataset = event.dataset.as_deref();
        json!({
            "uid": event.uid,
            "at": event.at.to_rfc3339(),
            "title": event.title,
            "status": event.outcome.word(),
            "announced_at": event.announced_at.to_rfc3339(),
            "sequence": event.moves,
            "name": dataset.map(|dataset| dataset.name.as_str()),
            "dataset_title": dataset.map(|dataset| dataset.title()),
            "page": event.page_url(catalog.base_url),
            "snapshot_id": event.outcome.snapshot().map(|snapshot| snapshot.to_string()),
        })
    };
    let releases: Vec<Value> = calendar.events.iter().map(release).collect();
    json_text(&json!({ "releases": releases }))
}

/// Returns the feed of the releases of which something was said last.
pub(super) fn feed(catalog: &CatalogView<'_>, calendar: &Calendar) -> String {
    let mut newest: Vec<&CalendarEvent> = calendar.events.iter().collect();
    // Of one instant, by time of release.
    newest.sort_by_key(|event| Reverse(event.changed_at()));
    newest.truncate(MAX_ENTRIES);
    let updated = newest.first().map_or(Millis(0), |event| event.changed_at());
    let entries: String = newest.into_iter().map(|event| entry(catalog, event)).collect();
    let title = format!("{}: release calendar", catalog.settings.title);
    let title = (title.as_str(), SERVICE_LANGUAGE);
    atom::feed(catalog, title, "/calendar/feed.xml", "/calendar", updated, &entries)
}

fn entry(catalog: &CatalogView<'_>, event: &CalendarEvent) -> String {
    let agency = event.dataset.as_deref().map(|dataset| dataset.current.credit.source.as_str());
    let language = event.dataset.as_deref().map_or(SERVICE_LANGUAGE, first_language);
    let [language, own_language] = atom::language_attributes(language);
    let page = event
        .page_url(catalog.base_url)
        .unwrap_or_else(|| format!("{}/calendar", catalog.base_url));
    format!(
        "<entry{language}>\n<id>urn:uuid:{}</id>\n<title>{}</title>\n<updated>{}</updated>\n\
         <author><name>{}</name></author>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n\
         <summary{own_language}>{}</summary>\n</entry>\n",
        event.uid,
        xml_text(&event.title),
        event.changed_at().to_rfc3339(),
        xml_text(agency.unwrap_or_else(|| catalog.settings.publisher())),
        xml_text(&page),
        xml_text(&event.sentence()),
    )
}
