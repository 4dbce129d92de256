//! The refusal of an answer that is more than its plugin can make within the limits of the sandbox
//! (decision 0220): 422 with the option's name where one was chosen, 413 with advice otherwise.

use yearbook_domain::query::last_value;
use yearbook_domain::{Refusal, ValidationError};
use yearbook_http::Error;
use yearbook_sandbox::OptionValue;

use crate::request::DataRequest;
use crate::request::options::ENVELOPE;

/// Returns the refusal of rows in a format. `chosen`: the options that the client named.
pub(crate) fn rows_too_large(request: &DataRequest, chosen: &[OptionValue]) -> Error {
    let description = request.encoder.description();
    let format = &description.format;
    option_problems(format, description.parameters.non_default(chosen), &request.pairs)
        .unwrap_or_else(|| {
            let mut ways = Vec::new();
            if request.selection.limit != 1 {
                ways.push("ask for fewer rows with limit".to_owned());
            }
            if request.accepts_columns() {
                ways.push("name fewer columns with columns".to_owned());
            }
            let others = request.other_formats();
            if !others.is_empty() {
                ways.push(format!("use another format ({})", others.join(", ")));
            }
            Refusal::ResponseTooLarge { plugin: format.clone(), ways }.into()
        })
}

/// Returns the refusal of an integration's files for so many datasets.
pub(crate) fn files_too_large<'a>(
    tool: &str,
    chosen: impl Iterator<Item = &'a OptionValue>,
    pairs: &[(String, String)],
    datasets: usize,
) -> Error {
    option_problems(tool, chosen, pairs).unwrap_or_else(|| {
        let ways = if datasets > 1 { vec!["name fewer datasets".to_owned()] } else { Vec::new() };
        Refusal::ResponseTooLarge { plugin: tool.to_owned(), ways }.into()
    })
}

/// Returns 422 with a problem for each of `chosen`; none where nothing was chosen.
fn option_problems<'a>(
    plugin: &str,
    chosen: impl Iterator<Item = &'a OptionValue>,
    pairs: &[(String, String)],
) -> Option<Error> {
    let problem = |option: &OptionValue| {
        let full = format!("{plugin}.{}", option.name);
        let name = if option.name == ENVELOPE && last_value(pairs, ENVELOPE).is_some() {
            ENVELOPE
        } else {
            full.as_str()
        };
        let sentence = format!(
            "with this value the answer is larger than '{plugin}' can make; leave it out, or ask for less"
        );
        ValidationError::value_error(name, &sentence, last_value(pairs, name).unwrap_or_default())
    };
    let problems: Vec<ValidationError> = chosen.map(problem).collect();
    (!problems.is_empty()).then(|| Refusal::InvalidParameters(problems).into())
}

#[cfg(test)]
mod tests {
    use yearbook_sandbox::OptionScalar;

    use super::*;

    fn option(name: &str) -> OptionValue {
        OptionValue { name: name.to_owned(), value: OptionScalar::Boolean(true) }
    }

    #[test]
    fn an_option_is_named_as_the_client_wrote_it() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        for (sent, chosen, expected) in [
            (&[("envelope", "yes")][..], ENVELOPE, ("envelope", "yes")),
            (&[("json.envelope", "1")], ENVELOPE, ("json.envelope", "1")),
            (&[("json.indent", "9")], "indent", ("json.indent", "9")),
        ] {
            let refused = option_problems("json", [option(chosen)].iter(), &pairs(sent));
            let Some(Error::Refused(Refusal::InvalidParameters(problems))) = refused else {
                panic!("{refused:?}")
            };
            let named: Vec<_> = problems
                .iter()
                .map(|problem| {
                    (problem.loc[1].as_str(), problem.input.as_deref().unwrap_or_default())
                })
                .collect();
            assert_eq!(named, [expected]);
        }
        assert!(option_problems("json", [].iter(), &[]).is_none());
    }

    #[test]
    fn fewer_datasets_are_advised_where_there_are_several() {
        for (datasets, expected) in [(2, &["name fewer datasets"][..]), (1, &[])] {
            let refused = files_too_large("dbt", [].iter(), &[], datasets);
            assert!(
                matches!(&refused, Error::Refused(Refusal::ResponseTooLarge { ways, .. }) if ways == expected),
                "{refused:?}"
            );
        }
    }
}
