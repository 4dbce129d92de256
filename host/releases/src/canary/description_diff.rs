//! Difference between the descriptions of two releases, as clients see it. Where they differ, no
//! comparison of responses can say which of them is right.

use yearbook_sandbox::{AdapterDescription, EncoderDescription, PluginParameters};

/// Difference of `other`'s description that clients would notice, in words.
pub(crate) fn difference(one: &EncoderDescription, other: &EncoderDescription) -> Option<String> {
    let word = |what: &str, one: &str, other: &str| {
        (one != other).then(|| format!("its {what} is {other:?} instead of {one:?}"))
    };
    word("media type", &one.media_type, &other.media_type)
        .or_else(|| word("file extension", &one.extension, &other.extension))
        .or_else(|| {
            (one.compressible != other.compressible)
                .then(|| "it says otherwise whether its output can be compressed".to_owned())
        })
        .or_else(|| {
            (one.codes != other.codes)
                .then(|| "it says otherwise whether it exports codelists".to_owned())
        })
        .or_else(|| parameter_difference(&one.parameters, &other.parameters))
}

/// Difference of what requests to the adapter of `other` may bring, in words.
pub(crate) fn adapter_difference(
    one: &AdapterDescription,
    other: &AdapterDescription,
) -> Option<String> {
    let takes = |what: &str, is_other: bool| is_other.then(|| format!("it says otherwise {what}"));
    takes("whether it takes POST", one.posts != other.posts)
        .or_else(|| takes("what a `+` in the query is", one.plus_is_space != other.plus_is_space))
        .or_else(|| takes("which headers it reads", one.headers != other.headers))
        .or_else(|| {
            takes("which parameter holds the key", one.key_parameter != other.key_parameter)
        })
}

/// Difference of the declared parameters that clients would notice, in words.
pub(crate) fn parameter_difference(
    one: &PluginParameters,
    other: &PluginParameters,
) -> Option<String> {
    // Documentation may be reworded.
    let promises = |parameters: &PluginParameters| -> Vec<_> {
        parameters
            .iter()
            .map(|parameter| {
                (
                    parameter.name.clone(),
                    parameter.kind,
                    parameter.default.clone(),
                    parameter.allowed.clone(),
                )
            })
            .collect()
    };
    let (mut one, mut other) = (promises(one), promises(other));
    // What both have is nothing new.
    one.retain(|parameter| {
        let found = other.iter().position(|candidate| candidate == parameter);
        found.map(|at| other.remove(at)).is_none()
    });
    match (one.first(), other.first()) {
        (None, None) => None,
        (Some((gone, ..)), _) if other.iter().all(|(name, ..)| name != gone) => {
            Some(format!("it has no parameter {gone:?} any more"))
        }
        (_, Some((name, ..))) if one.iter().all(|(gone, ..)| gone != name) => {
            Some(format!("it has a new parameter {name:?}"))
        }
        (Some((name, ..)), _) | (_, Some((name, ..))) => {
            Some(format!("its parameter {name:?} takes other values"))
        }
    }
}

#[cfg(test)]
mod tests {
    use yearbook_sandbox::{OptionScalar, ParameterKind, PluginParameter};

    use super::*;

    fn description(media_type: &str, parameters: &[(&str, &str)]) -> EncoderDescription {
        let parameter = |(name, default): &(&str, &str)| PluginParameter {
            name: (*name).to_owned(),
            kind: ParameterKind::Text,
            default: OptionScalar::Text((*default).to_owned()),
            allowed: Vec::new(),
            docs: format!("{media_type} {name}"),
        };
        EncoderDescription {
            format: "x".to_owned(),
            version: media_type.to_owned(),
            media_type: media_type.to_owned(),
            extension: "x".to_owned(),
            separator: None,
            part_rows: None,
            dictionaries: false,
            codes: false,
            compressible: true,
            parameters: parameters.iter().map(parameter).collect(),
            docs: String::new(),
        }
    }

    #[test]
    fn what_clients_would_notice_is_named_and_nothing_else() {
        let is = |one: &[(&str, &str)], other: &[(&str, &str)]| {
            difference(&description("a/b", one), &description("a/b", other))
        };
        assert_eq!(is(&[("a", "1"), ("b", "2")], &[("b", "2"), ("a", "1")]), None);
        assert_eq!(is(&[], &[("a", "1")]).as_deref(), Some("it has a new parameter \"a\""));
        assert_eq!(
            is(&[("a", "1"), ("b", "2")], &[("a", "1")]).as_deref(),
            Some("it has no parameter \"b\" any more")
        );
        assert_eq!(
            is(&[("a", "1")], &[("a", "2")]).as_deref(),
            Some("its parameter \"a\" takes other values")
        );
        let other = difference(&description("a/b", &[]), &description("a/c", &[]));
        assert_eq!(other.as_deref(), Some("its media type is \"a/c\" instead of \"a/b\""));
        // Rows that were given to one could not be given to the other.
        let told = EncoderDescription { codes: true, ..description("a/b", &[]) };
        assert!(difference(&description("a/b", &[]), &told).is_some());
    }
}
