//! Types of 1.1.0 as those of 1.0.0.

use crate::OptionScalar;
use crate::guest::HostState;
use crate::guest::bindings::reader::yearbook::plugin::{log, types};
use crate::guest::bindings::yearbook::plugin::{log as old_log, types as old};
use crate::options::OptionValue;

impl types::Host for HostState {}

impl log::Host for HostState {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        let level = match level {
            log::Level::Trace => old_log::Level::Trace,
            log::Level::Debug => old_log::Level::Debug,
            log::Level::Info => old_log::Level::Info,
            log::Level::Warn => old_log::Level::Warn,
            log::Level::Error => old_log::Level::Error,
        };
        old_log::Host::write(self, level, message)
    }
}

pub(super) fn parameters(parameters: Vec<types::Parameter>) -> Vec<old::Parameter> {
    let one = |parameter: types::Parameter| old::Parameter {
        name: parameter.name,
        kind: match parameter.kind {
            types::ParameterKind::Text => old::ParameterKind::Text,
            types::ParameterKind::Integer => old::ParameterKind::Integer,
            types::ParameterKind::Number => old::ParameterKind::Number,
            types::ParameterKind::Boolean => old::ParameterKind::Boolean,
        },
        default: parameter.default,
        allowed: parameter.allowed,
        docs: parameter.docs,
    };
    parameters.into_iter().map(one).collect()
}

pub(super) fn wire_option(option: &OptionValue) -> types::OptionValue {
    let value = match &option.value {
        OptionScalar::Text(text) => types::Value::Text(text.clone()),
        OptionScalar::Integer(integer) => types::Value::Integer(*integer),
        OptionScalar::Number(number) => types::Value::Number(*number),
        OptionScalar::Boolean(boolean) => types::Value::Boolean(*boolean),
    };
    types::OptionValue { name: option.name.clone(), value }
}
