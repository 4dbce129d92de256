//! Signs that a file is one page of a paged service's answer, which is no whole table.

use yearbook_json_parser::{JsonEvent, JsonPath};

const ADVICE: &str = "the file is one page of a service's answer; join the features of all pages in one file, or ask \
     the service for all of them at once";

/// Numbers of features that a service says there are.
#[derive(Debug, Default)]
pub(super) struct PageSigns {
    matched: Option<(&'static str, f64)>,
}

impl PageSigns {
    /// Takes a value of the collection itself.
    ///
    /// # Errors
    /// Fails where it says that there are other pages.
    pub(super) fn check(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        let names = [path.name(0), path.name(1), path.name(2)];
        let is_link = matches!(event, JsonEvent::Text(_) | JsonEvent::BeginObject);
        // OGC API Features and WFS, older GeoServers, and STAC.
        match (path.depth(), names) {
            (1, [Some("numberMatched"), ..]) => self.take("$.numberMatched", event),
            (1, [Some("totalFeatures"), ..]) => self.take("$.totalFeatures", event),
            (2, [Some("context"), Some("matched"), _]) => self.take("$.context.matched", event),
            _ => {}
        }
        match (path.depth(), names, event) {
            // ArcGIS.
            (1, [Some("exceededTransferLimit"), ..], limit)
            | (2, [Some("properties"), Some("exceededTransferLimit"), _], limit)
                if is_true(limit) =>
            {
                Err(format!("is true: {ADVICE}"))
            }
            // OGC API Features and STAC.
            (3 | 4, [Some("links" | "_links"), _, Some("rel")], JsonEvent::Text(rel))
                if is_other_page(rel) =>
            {
                Err(format!("is {rel:?}: {ADVICE}"))
            }
            // JSON:API and HAL, where a member may be an array of links.
            (2 | 3, [Some("links" | "_links"), Some(name), None], _)
                if is_link && is_other_page(name) =>
            {
                Err(format!("names another page: {ADVICE}"))
            }
            // Django REST framework.
            (1, [Some("next" | "previous"), ..], _) if is_link => {
                Err(format!("names another page: {ADVICE}"))
            }
            _ => Ok(()),
        }
    }

    /// Takes a number, which services write as text too; another text is none, as "unknown".
    fn take(&mut self, path: &'static str, event: JsonEvent<'_>) {
        let (JsonEvent::Number(text) | JsonEvent::Text(text)) = event else { return };
        let number = text.trim().parse().ok().filter(|number: &f64| !number.is_nan());
        if let Some(number) = number
            && self.matched.is_none_or(|(_, most)| number > most)
        {
            self.matched = Some((path, number));
        }
    }

    /// The path and the fault of a number of features that is greater than that of the file.
    pub(super) fn missing(&self, features: u64) -> Option<(&'static str, String)> {
        let (path, matched) = self.matched?;
        let is_page = matched > features as f64;
        is_page
            .then(|| (path, format!("is {matched}, and there are {features} features: {ADVICE}")))
    }
}

fn is_true(event: JsonEvent<'_>) -> bool {
    match event {
        JsonEvent::Boolean(value) => value,
        JsonEvent::Text(text) => text.trim().eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// Returns whether one of the words of a link's relation is another page.
fn is_other_page(relation: &str) -> bool {
    let is_other = |word: &str| {
        ["next", "prev", "previous"].iter().any(|other| word.eq_ignore_ascii_case(other))
    };
    relation.split_whitespace().any(is_other)
}
