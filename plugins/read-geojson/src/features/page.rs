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
        match (path.depth(), names, event) {
            // ArcGIS.
            (1, [Some("exceededTransferLimit"), ..], JsonEvent::Boolean(true))
            | (
                2,
                [Some("properties"), Some("exceededTransferLimit"), _],
                JsonEvent::Boolean(true),
            ) => Err(format!("is true: {ADVICE}")),
            // OGC API Features and WFS, older GeoServers, and STAC.
            (1, [Some("numberMatched"), ..], JsonEvent::Number(number)) => {
                self.take("$.numberMatched", number)
            }
            (1, [Some("totalFeatures"), ..], JsonEvent::Number(number)) => {
                self.take("$.totalFeatures", number)
            }
            (2, [Some("context"), Some("matched"), _], JsonEvent::Number(number)) => {
                self.take("$.context.matched", number)
            }
            (3, [Some("links"), _, Some("rel")], JsonEvent::Text(rel))
                if ["next", "prev", "previous"].iter().any(|one| rel.eq_ignore_ascii_case(one)) =>
            {
                Err(format!("is {rel:?}: {ADVICE}"))
            }
            // Django REST framework.
            (1, [Some("next" | "previous"), ..], JsonEvent::Text(_)) => {
                Err(format!("names another page: {ADVICE}"))
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, path: &'static str, number: &str) -> Result<(), String> {
        let number = number.parse().map_err(|_| "is no number of features".to_owned())?;
        if self.matched.is_none_or(|(_, most)| number > most) {
            self.matched = Some((path, number));
        }
        Ok(())
    }

    /// The path and the fault of a number of features that is greater than that of the file.
    pub(super) fn missing(&self, features: u64) -> Option<(&'static str, String)> {
        let (path, matched) = self.matched?;
        let is_page = matched > features as f64;
        is_page
            .then(|| (path, format!("is {matched}, and there are {features} features: {ADVICE}")))
    }
}
