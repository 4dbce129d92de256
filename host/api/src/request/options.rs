//! Parameters `<format>.<name>`, `<transform>.<name>` and `<tool>.<name>` against what the loaded
//! plugins declare.

use yearbook_domain::query::last_value;
use yearbook_domain::query::options as rules;
use yearbook_domain::{OutputParameters, ValidationError};
use yearbook_sandbox::{
    EncoderDescription, GeneratorDescription, OptionScalar, OptionValue, ParameterKind,
    PluginParameter, PluginSet,
};

/// The boolean parameter that `envelope=true` sets in an encoder that declares it
/// (spec-4.1-envelope: JSON does).
pub(crate) const ENVELOPE: &str = "envelope";

/// Options that a client named, each with the name of the plugin that declares it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct NamedOptions(Vec<(String, OptionValue)>);

/// Judges the options of `output` against the formats and transforms of `plugins`. A parameter that
/// no loaded plugin declares is ignored like any other unknown one; a wrong value is wrong even
/// where another format was asked for, as with every declared parameter.
pub(crate) fn choose(
    plugins: &PluginSet,
    output: &OutputParameters,
) -> Result<NamedOptions, Vec<ValidationError>> {
    if output.options.is_empty() {
        return Ok(NamedOptions::default());
    }
    let formats = plugins.encoders().map(|encoder| encoder.description());
    let formats = formats.map(|format| (&*format.format, &*format.parameters));
    let transforms = plugins.transforms().map(|transform| transform.description());
    let transforms = transforms.map(|transform| (&*transform.name, &*transform.parameters));
    named_options(&formats.chain(transforms).collect::<Vec<_>>(), output)
}

/// The same where `chosen` writes the rows, which may be loaded under no name of its own.
pub(super) fn choose_for(
    plugins: &PluginSet,
    chosen: &EncoderDescription,
    output: &OutputParameters,
) -> Result<NamedOptions, Vec<ValidationError>> {
    if output.options.is_empty() || plugins.encoder(&chosen.format).is_some() {
        return choose(plugins, output);
    }
    let own = named_options(&[(&*chosen.format, &*chosen.parameters)], output);
    match (own, choose(plugins, output)) {
        (Ok(own), Ok(others)) => Ok(NamedOptions(own.0.into_iter().chain(others.0).collect())),
        (own, others) => {
            let problems = own.err().into_iter().chain(others.err());
            Err(problems.flatten().collect())
        }
    }
}

fn named_options(
    loaded: &[(&str, &[PluginParameter])],
    output: &OutputParameters,
) -> Result<NamedOptions, Vec<ValidationError>> {
    let mut options = Vec::new();
    let mut problems = Vec::new();
    for (name, raw) in &output.options {
        let Some((plugin, parameter)) = name.split_once('.') else { continue };
        // A format and a transform of one name may be loaded: hosts of one catalog differ in what
        // is built in.
        let of_name = loaded.iter().filter(|(known, _)| *known == plugin);
        let mut parameters = of_name.flat_map(|(_, parameters)| *parameters);
        let Some(declared) = parameters.find(|declared| declared.name == parameter) else {
            continue;
        };
        match rules::validate(name, declared.kind, &declared.allowed, raw) {
            Ok(value) => {
                let value = OptionValue { name: declared.name.clone(), value };
                options.push((plugin.to_owned(), value));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(NamedOptions(options)) } else { Err(problems) }
}

impl NamedOptions {
    /// Returns those of `plugin`.
    pub(crate) fn for_plugin(&self, plugin: &str) -> Vec<OptionValue> {
        let own = self.0.iter().filter(|(name, _)| name == plugin);
        own.map(|(_, option)| option.clone()).collect()
    }

    /// Returns those of an encoder, where `envelope` was asked for.
    pub(super) fn for_encoder(
        &self,
        chosen: &EncoderDescription,
        envelope: bool,
    ) -> Vec<OptionValue> {
        let mut options = self.for_plugin(&chosen.format);
        if envelope && has_envelope(chosen) {
            let value = OptionScalar::Boolean(true);
            options.retain(|option| option.name != ENVELOPE);
            options.push(OptionValue { name: ENVELOPE.to_owned(), value });
        }
        options
    }
}

/// Returns whether an encoder declares the boolean parameter `envelope`.
pub(crate) fn has_envelope(description: &EncoderDescription) -> bool {
    description
        .parameters
        .iter()
        .any(|declared| declared.name == ENVELOPE && declared.kind == ParameterKind::Boolean)
}

/// Returns the options that a generator gets; in contrast to formats there is only one that can be
/// meant.
pub(crate) fn generator_options(
    chosen: &GeneratorDescription,
    pairs: &[(String, String)],
) -> Result<Vec<OptionValue>, Vec<ValidationError>> {
    let mut options = Vec::new();
    let mut problems = Vec::new();
    for declared in chosen.parameters.iter() {
        let name = format!("{}.{}", chosen.tool, declared.name);
        let Some(raw) = last_value(pairs, &name) else { continue };
        match rules::validate(&name, declared.kind, &declared.allowed, raw) {
            Ok(value) => options.push(OptionValue { name: declared.name.clone(), value }),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(options) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use yearbook_domain::query::{parse_data, parse_pairs};

    fn description(
        format: &str,
        parameters: &[(&str, ParameterKind, OptionScalar, &[&str])],
    ) -> EncoderDescription {
        let parameter =
            |(name, kind, default, allowed): &(&str, ParameterKind, OptionScalar, &[&str])| {
                PluginParameter {
                    name: (*name).to_owned(),
                    kind: *kind,
                    default: default.clone(),
                    allowed: allowed.iter().map(|text| (*text).to_owned()).collect(),
                    docs: String::new(),
                }
            };
        EncoderDescription {
            format: format.to_owned(),
            version: "1.0.0".to_owned(),
            media_type: "text/plain".to_owned(),
            extension: "txt".to_owned(),
            separator: None,
            part_rows: None,
            dictionaries: false,
            codes: false,
            compressible: true,
            parameters: parameters.iter().map(parameter).collect(),
            docs: String::new(),
        }
    }

    fn check(chosen: usize, raw: &str) -> Result<Vec<(String, OptionScalar)>, Vec<String>> {
        let loaded = [
            description(
                "json",
                &[("envelope", ParameterKind::Boolean, OptionScalar::Boolean(false), &[])],
            ),
            description(
                "csv",
                &[(
                    "delimiter",
                    ParameterKind::Text,
                    OptionScalar::Text(",".to_owned()),
                    &[",", ";"],
                )],
            ),
        ];
        let (_, output) = parse_data(&parse_pairs(raw), &["json", "csv"]).unwrap();
        let chosen = &loaded[chosen];
        let loaded = loaded.each_ref().map(|format| (&*format.format, &*format.parameters));
        named_options(&loaded, &output)
            .map(|named| named.for_encoder(chosen, output.envelope))
            .map(|options| options.into_iter().map(|option| (option.name, option.value)).collect())
            .map_err(|problems| {
                problems.into_iter().map(|problem| problem.loc[1].clone()).collect()
            })
    }

    #[test]
    fn declared_parameters_reach_their_own_encoder_only() {
        assert_eq!(
            check(1, "csv.delimiter=;"),
            Ok(vec![("delimiter".to_owned(), OptionScalar::Text(";".to_owned()))])
        );
        assert_eq!(check(0, "csv.delimiter=;"), Ok(Vec::new()));
        assert_eq!(check(1, "csv.other=1&xml.indent=2&.=3&a.b.c=4"), Ok(Vec::new()));
    }

    #[test]
    fn options_reach_whichever_plugin_of_their_name_declares_them_contract_15() {
        let any: &[&str] = &[];
        let parameter = |name| [(name, ParameterKind::Integer, OptionScalar::Integer(1), any)];
        let one = description("twin", &parameter("width"));
        let other = description("twin", &parameter("by"));
        let loaded = [&one, &other].map(|plugin| (&*plugin.format, &*plugin.parameters));
        for (name, value) in [("width", 9), ("by", 7)] {
            let raw = format!("twin.{name}={value}");
            let (_, output) = parse_data(&parse_pairs(&raw), &["twin"]).unwrap();
            let options = named_options(&loaded, &output).unwrap().for_plugin("twin");
            let value = OptionScalar::Integer(value);
            assert_eq!(options, [OptionValue { name: name.to_owned(), value }]);
        }
    }

    #[test]
    fn a_wrong_value_is_wrong_whichever_format_is_asked_for() {
        assert_eq!(
            check(0, "csv.delimiter=x&json.envelope=7"),
            Err(vec!["csv.delimiter".to_owned(), "json.envelope".to_owned()])
        );
    }

    #[test]
    fn envelope_is_ignored_outside_json_contract_3() {
        assert_eq!(
            check(0, "envelope=true"),
            Ok(vec![("envelope".to_owned(), OptionScalar::Boolean(true))])
        );
        assert_eq!(
            check(0, "envelope=true&json.envelope=false"),
            Ok(vec![("envelope".to_owned(), OptionScalar::Boolean(true))])
        );
        assert_eq!(check(1, "envelope=true"), Ok(Vec::new()));
    }
}
