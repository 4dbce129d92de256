//! `yearbook.toml` as a list of assignments, each with its line. Knows TOML; never decides which
//! keys exist.

use std::path::Path;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Assignment, RawSetting, SettingError, SettingOrigin};

/// Every value of the file, `[limits] burst_size = 1` as the key `limits.burst_size`.
///
/// # Errors
/// [`SettingError::Syntax`] when `text` is not TOML.
pub(super) fn assignments(path: &Path, text: &str) -> Result<Vec<Assignment>, SettingError> {
    let origin = |offset: usize| SettingOrigin::File {
        path: path.to_owned(),
        line: line_number(text, offset),
    };
    let table = DeTable::parse(text).map_err(|error| SettingError::Syntax {
        origin: origin(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut found = Vec::new();
    flatten(table.get_ref(), "", &mut |key, offset, value| {
        found.push(Assignment { key, value: RawSetting::Typed(value), origin: origin(offset) })
    });
    Ok(found)
}

fn flatten(table: &DeTable<'_>, prefix: &str, emit: &mut impl FnMut(String, usize, Value)) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => flatten(inner, &format!("{key}."), emit),
            // An empty section says nothing, but its name may be misspelt: it is checked as a key.
            _ => emit(key, name.span().start, to_json(value)),
        }
    }
}

/// Value as JSON; a number that JSON or 64 bits cannot hold stays text and fails as such.
fn to_json(value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Value::from(integer.to_string()), Value::from),
        DeValue::Float(float) => {
            float.as_str().parse::<f64>().map_or_else(|_| Value::from(float.as_str()), Value::from)
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(datetime) => Value::from(datetime.to_string()),
        DeValue::Array(items) => items.iter().map(to_json).collect(),
        DeValue::Table(inner) => {
            inner.iter().map(|(name, value)| (name.get_ref().to_string(), to_json(value))).collect()
        }
    }
}

fn line_number(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_has_its_path_and_its_line() {
        let text = "[server]\nlisten = \"127.0.0.1:1\"\n\n[plans.free]\nrow_cap = 1_000\n[log]\n";
        let found = assignments(Path::new("y.toml"), text).unwrap();
        let flat: Vec<_> = found
            .iter()
            .map(|a| {
                let SettingOrigin::File { line, .. } = a.origin else { panic!("{a:?}") };
                (a.key.as_str(), a.value.clone(), line)
            })
            .collect();
        let typed = RawSetting::Typed;
        // Sections come in the order of their names.
        assert_eq!(
            flat,
            [
                ("log", typed(json!({})), 6),
                ("plans.free.row_cap", typed(json!(1000)), 5),
                ("server.listen", typed(json!("127.0.0.1:1")), 2),
            ]
        );
    }

    #[test]
    fn what_is_not_toml_is_named_by_line() {
        let problem = assignments(Path::new("y.toml"), "[server]\nlisten = \n").unwrap_err();
        assert!(problem.to_string().starts_with("y.toml, line 2: this is not TOML"), "{problem}");
    }
}
