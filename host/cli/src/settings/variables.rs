//! Settings from variables: `YEARBOOK_<SECTION>__<KEY>`, and the few short names
//! (contract-6-variables).

use super::{Assignment, RawSetting, SettingOrigin};

const PREFIX: &str = "YEARBOOK_";

/// Names that operators meet first, and the key that each sets.
const ALIASES: [(&str, &str); 3] = [
    ("YEARBOOK_DATABASE_URL", "database.url"),
    ("YEARBOOK_STORAGE_URL", "storage.url"),
    // The name that every program with OpenTelemetry has for it.
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "log.otlp_endpoint"),
];

/// Value of a variable; an empty one counts as not set, as many tools write an unset one.
pub(super) fn value(variables: &[(String, String)], name: &str) -> Option<String> {
    variables
        .iter()
        .find(|(found, text)| found == name && !text.is_empty())
        .map(|(_, text)| text.clone())
}

/// Every variable that has our prefix and two underscores, known or not, and those with names of
/// their own. Our prefix alone may belong to another program (a client's `YEARBOOK_KEY`).
pub(super) fn assignments(variables: &[(String, String)]) -> Vec<Assignment> {
    let mut found: Vec<_> = variables
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .filter_map(|(name, text)| {
            let key = match ALIASES.iter().find(|(short, _)| short == name) {
                Some((_, key)) => (*key).to_owned(),
                None => setting_key(name.strip_prefix(PREFIX)?)?,
            };
            Some(Assignment {
                key,
                value: RawSetting::Text(text.clone()),
                origin: SettingOrigin::Variable(name.clone()),
            })
        })
        .collect();
    // The environment has no order; problems should.
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found
}

/// Name of the variable that sets `key`.
pub(super) fn variable_name(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

fn setting_key(rest: &str) -> Option<String> {
    rest.contains("__").then(|| rest.replace("__", ".").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&str]) -> Vec<String> {
        let variables: Vec<_> =
            names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        assignments(&variables).into_iter().map(|assignment| assignment.key).collect()
    }

    #[test]
    fn variables_with_our_prefix_and_a_section_are_settings_contract_6() {
        assert_eq!(
            keys(&["YEARBOOK_LIMITS__BURST_SIZE", "YEARBOOK_PLANS__FREE__ROW_CAP"]),
            ["limits.burst_size", "plans.free.row_cap"]
        );
        assert_eq!(
            keys(&["YEARBOOK_DATABASE_URL", "YEARBOOK_STORAGE_URL"]),
            ["database.url", "storage.url"]
        );
        assert_eq!(
            keys(&["YEARBOOK_KEY", "YEARBOOK_DATA_DIR", "LIMITS__BURST_SIZE", "HOME"]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let empty = [("YEARBOOK_STORAGE_URL".to_owned(), String::new())];
        assert!(assignments(&empty).is_empty());
        assert_eq!(value(&empty, "YEARBOOK_STORAGE_URL"), None);
    }

    #[test]
    fn a_key_and_its_variable_name_each_other() {
        assert_eq!(variable_name("plans.free.row_cap"), "YEARBOOK_PLANS__FREE__ROW_CAP");
        assert_eq!(setting_key("PLANS__FREE__ROW_CAP").as_deref(), Some("plans.free.row_cap"));
    }
}
