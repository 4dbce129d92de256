//! Which settings are in force that are not the defaults, and who says so.

use super::{Finding, Status};
use crate::context::{CommandContext, redact_password};
use crate::settings::{Assignment, RawSetting};

/// Never wrong: wrong settings are refused before any command runs.
pub(super) fn effective_settings(context: &CommandContext) -> Finding {
    let settings = &context.settings;
    let file = settings
        .file
        .as_deref()
        .map_or_else(|| "no settings file".to_owned(), |path| path.display().to_string());
    let written: Vec<String> = settings.written.iter().map(describe).collect();
    let rest = if written.is_empty() {
        "every value is the default".to_owned()
    } else {
        written.join("; ")
    };
    (Status::Ok, format!("{file}; {rest}"))
}

fn describe(assignment: &Assignment) -> String {
    let value = match &assignment.value {
        RawSetting::Text(text) => text.clone(),
        RawSetting::Typed(serde_json::Value::String(text)) => text.clone(),
        RawSetting::Typed(value) => value.to_string(),
    };
    // An address may have a password among its parameters, too.
    let value = if assignment.key.ends_with("url") {
        redact_password(value.split('?').next().unwrap_or_default())
    } else {
        value
    };
    format!("{} = {value} ({})", assignment.key, assignment.origin)
}
