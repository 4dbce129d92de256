//! Keys of the settings, and the way from a written value to a typed one. The keys are read off the
//! default [`SettingsDocument`], so a field that a crate adds to its settings is a key at once and
//! no list has to follow.

use serde_json::{Map, Value};

use super::variables::variable_name;
use super::{Assignment, RawSetting, SettingError, SettingOrigin, SettingsDocument};

/// Word for "no limit" where a key may have none; TOML has no null.
const UNLIMITED: &str = "unlimited";

/// Every key with what may be written for it.
pub(super) struct SettingsSchema {
    defaults: Value,
    keys: Vec<SettingKey>,
}

struct SettingKey {
    path: String,
    kind: ValueKind,
    /// True where [`UNLIMITED`] may be written.
    unlimited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Flag,
    Integer,
    Decimal,
    Text,
    /// List of texts; in a variable with commas between them.
    List,
}

impl SettingsSchema {
    /// Reads the keys off the defaults.
    pub(super) fn new() -> Self {
        let defaults = serde_json::to_value(SettingsDocument::default()).unwrap_or_default();
        let mut keys = Vec::new();
        for_each_leaf(&defaults, "", &mut |path, value| {
            let kind = match value {
                Value::Bool(_) => ValueKind::Flag,
                Value::Number(number) if number.is_f64() => ValueKind::Decimal,
                Value::Number(_) => ValueKind::Integer,
                Value::Array(_) => ValueKind::List,
                Value::Null if validate(&defaults, path, &Value::from(1)).is_ok() => {
                    ValueKind::Integer
                }
                _ => ValueKind::Text,
            };
            let unlimited =
                kind == ValueKind::Integer && validate(&defaults, path, &Value::Null).is_ok();
            keys.push(SettingKey { path: path.to_owned(), kind, unlimited });
        });
        Self { defaults, keys }
    }

    /// Puts `assignments` over the defaults, a later one over an earlier one; faults are
    /// added to `problems`.
    pub(super) fn apply(
        &self,
        assignments: &[Assignment],
        problems: &mut Vec<SettingError>,
    ) -> SettingsDocument {
        let mut values = self.defaults.clone();
        let mut seen: Vec<&Assignment> = Vec::new();
        for assignment in assignments {
            if let Some(first) = seen.iter().find(|first| contradicts(first, assignment)) {
                let (first, second) = (first.origin.clone(), assignment.origin.clone());
                problems.push(SettingError::Conflict {
                    key: assignment.key.clone(),
                    first,
                    second,
                });
            }
            seen.push(assignment);
            match self.value(assignment) {
                Ok(Some(value)) => set_path(&mut values, &assignment.key, value),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        serde_json::from_value(values).unwrap_or_else(|error| {
            problems.push(SettingError::Incompatible { message: error.to_string() });
            SettingsDocument::default()
        })
    }

    /// Typed value of one assignment; `None` for an empty section.
    fn value(&self, assignment: &Assignment) -> Result<Option<Value>, SettingError> {
        let Assignment { key: path, value: written, origin } = assignment;
        let Some(key) = self.keys.iter().find(|key| key.path == *path) else {
            let section = format!("{path}.");
            let is_section = self.keys.iter().any(|key| key.path.starts_with(&section));
            return match written {
                RawSetting::Typed(Value::Object(_)) if is_section => Ok(None),
                _ if is_section => Err(invalid_value(
                    assignment,
                    format!("a section: write [{path}] and its keys below"),
                )),
                _ => Err(self.unknown_key(path, origin)),
            };
        };
        let value = key.typed(written).ok_or_else(|| invalid_value(assignment, key.expected()))?;
        validate(&self.defaults, path, &value)
            .map_err(|message| invalid_value(assignment, self.describe_expected(key, &message)))?;
        Ok(Some(value))
    }

    fn unknown_key(&self, path: &str, origin: &SettingOrigin) -> SettingError {
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        // The last word counts twice: a right key in the wrong section is nearer than a similar one
        // in the right section.
        let near = strsim::normalized_damerau_levenshtein;
        let score = |known: &str| near(known, path) + near(&last(known), &last(path));
        let nearest = self
            .keys
            .iter()
            .max_by(|a, b| score(&a.path).total_cmp(&score(&b.path)))
            .map_or("", |key| key.path.as_str());
        let written_as = |path: &str| match origin {
            SettingOrigin::Variable(_) => variable_name(path),
            _ => path.to_owned(),
        };
        SettingError::Unknown {
            origin: origin.clone(),
            key: written_as(path),
            nearest: written_as(nearest),
        }
    }

    /// Description of the values that fit, from serde's sentence about a value of the right kind.
    fn describe_expected(&self, key: &SettingKey, message: &str) -> String {
        let or_none = if key.unlimited { format!(", or \"{UNLIMITED}\"") } else { String::new() };
        match message.split_once("expected ").map(|(_, expected)| expected) {
            Some("u8") => format!("a whole number from 0 to {}{or_none}", u8::MAX),
            Some("u16") => format!("a whole number from 0 to {}{or_none}", u16::MAX),
            Some("u32") => format!("a whole number from 0 to {}{or_none}", u32::MAX),
            Some("u64" | "usize") => format!("a whole number of at least 0{or_none}"),
            Some(expected) if expected.starts_with("a nonzero") => {
                format!("a whole number of at least 1{or_none}")
            }
            Some(expected) => expected.to_owned(),
            None => match lookup(&self.defaults, &key.path) {
                Some(Value::String(example)) => format!("something like {example:?} ({message})"),
                _ => format!("valid ({message})"),
            },
        }
    }
}

impl SettingKey {
    fn typed(&self, written: &RawSetting) -> Option<Value> {
        match written {
            RawSetting::Typed(Value::String(text)) if self.unlimited && text == UNLIMITED => {
                Some(Value::Null)
            }
            RawSetting::Typed(value) => match self.kind {
                ValueKind::Flag => value.is_boolean(),
                ValueKind::Integer => value.is_i64() || value.is_u64(),
                ValueKind::Decimal => value.is_number(),
                ValueKind::Text => value.is_string(),
                ValueKind::List => {
                    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
                }
            }
            .then(|| value.clone()),
            RawSetting::Text(text) if self.unlimited && text == UNLIMITED => Some(Value::Null),
            RawSetting::Text(text) => match self.kind {
                ValueKind::Flag => text.parse::<bool>().ok().map(Value::from),
                ValueKind::Integer => text.parse::<i64>().ok().map(Value::from),
                ValueKind::Decimal => text.parse::<f64>().ok().map(Value::from),
                ValueKind::Text => Some(Value::from(text.as_str())),
                ValueKind::List => {
                    Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect())
                }
            },
        }
    }

    fn expected(&self) -> String {
        let kind = match self.kind {
            ValueKind::Flag => "true or false",
            ValueKind::Integer => "a whole number",
            ValueKind::Decimal => "a number",
            ValueKind::Text => "text",
            ValueKind::List => "a list of texts",
        };
        if self.unlimited { format!("{kind} or \"{UNLIMITED}\"") } else { kind.to_owned() }
    }
}

/// Finds two variables for one key with different texts: the winner would be an accident.
fn contradicts(first: &Assignment, second: &Assignment) -> bool {
    let variables = matches!(
        (&first.origin, &second.origin),
        (SettingOrigin::Variable(_), SettingOrigin::Variable(_))
    );
    variables && first.key == second.key && first.value != second.value
}

fn invalid_value(assignment: &Assignment, expected: String) -> SettingError {
    let found = match &assignment.value {
        _ if assignment.is_secret() => "a text that is not shown here".to_owned(),
        RawSetting::Typed(Value::Object(_)) => "a section".to_owned(),
        RawSetting::Typed(Value::Array(_)) => "a list".to_owned(),
        RawSetting::Typed(value) => value.to_string(),
        RawSetting::Text(text) => format!("{text:?}"),
    };
    SettingError::Value {
        origin: assignment.origin.clone(),
        key: assignment.key.clone(),
        expected,
        found,
    }
}

/// Checks that the settings hold with `value` at `path`; the error is serde's sentence.
fn validate(defaults: &Value, path: &str, value: &Value) -> Result<(), String> {
    let mut values = defaults.clone();
    set_path(&mut values, path, value.clone());
    serde_json::from_value::<SettingsDocument>(values).map(drop).map_err(|error| error.to_string())
}

fn for_each_leaf(value: &Value, path: &str, emit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                for_each_leaf(member, &below, emit);
            }
        }
        leaf => emit(path, leaf),
    }
}

fn lookup<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(values, |value, name| value.get(name))
}

fn set_path(values: &mut Value, path: &str, value: Value) {
    let mut place = values;
    for name in path.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[name];
    }
    *place = value;
}

#[cfg(test)]
mod tests;
