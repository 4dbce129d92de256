//! Filters of components, `c[ID]=…`: what operators, commas and plus signs say, as conditions that
//! must all hold.

use yearbook_sdk::adapter::{Operator, Step};

use crate::problem::{bad_request, unsaid};

/// A comparison with values, of which `equal` takes any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) operator: Operator,
    pub(crate) values: Vec<String>,
}

/// The component that a parameter names, `c[ID]`.
pub(crate) fn component(parameter: &str) -> Option<&str> {
    parameter.strip_prefix("c[")?.strip_suffix(']')
}

/// Reads the value of `c[component]`. A comma is OR, `+` is AND and binds closer.
///
/// # Errors
/// 400 for what is no filter, 501 for one that conditions cannot say.
pub(crate) fn comparisons(component: &str, text: &str) -> Step<Vec<Comparison>> {
    let terms: Vec<Vec<Comparison>> = text
        .split(',')
        .map(|term| term.split('+').map(|one| comparison(component, one)).collect())
        .collect::<Step<_>>()?;
    if let [term] = &terms[..] {
        return Ok(term.clone());
    }
    // Any of some values is one condition; other alternatives are none.
    let values = terms.iter().map(|term| match &term[..] {
        [Comparison { operator: Operator::Equal, values }] => values.first().cloned(),
        _ => None,
    });
    let Some(values) = values.collect() else {
        return Err(unsaid(format!(
            "c[{component}]: alternatives are values without an operator here (`A,B`); ask once \
             for each of the others"
        )));
    };
    Ok(vec![Comparison { operator: Operator::Equal, values }])
}

fn comparison(component: &str, text: &str) -> Step<Comparison> {
    let (operator, value) = match text.split_once(':') {
        Some(("eq", value)) => (Operator::Equal, value),
        Some(("ne", value)) => (Operator::NotEqual, value),
        Some(("lt", value)) => (Operator::Lt, value),
        Some(("le", value)) => (Operator::Le, value),
        Some(("gt", value)) => (Operator::Gt, value),
        Some(("ge", value)) => (Operator::Ge, value),
        Some(("co", value)) => (Operator::Contains, value),
        Some(("sw", value)) => (Operator::Starts, value),
        Some((operator @ ("nc" | "ew"), _)) => {
            return Err(unsaid(format!("c[{component}]: there is no operator `{operator}` here")));
        }
        // Times have colons.
        _ => (Operator::Equal, text),
    };
    if value.is_empty() {
        return Err(bad_request(format!("c[{component}] has an empty value")));
    }
    Ok(Comparison { operator, values: vec![value.to_owned()] })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_sdk::adapter::Stop;

    use super::*;

    fn read(text: &str) -> Vec<(Operator, Vec<String>)> {
        let comparisons = comparisons("X", text).unwrap();
        comparisons.into_iter().map(|one| (one.operator, one.values)).collect()
    }

    fn status(text: &str) -> u16 {
        match comparisons("X", text).unwrap_err() {
            Stop::Refused(refusal) => refusal.status,
            Stop::Document(document) => document.status,
            Stop::Ask(_) => 0,
        }
    }

    #[test]
    fn operators_are_those_of_the_standard_contract_19() {
        let one = |operator, value: &str| vec![(operator, vec![value.to_owned()])];
        assert_eq!(read("A"), one(Operator::Equal, "A"));
        assert_eq!(read("ne:A"), one(Operator::NotEqual, "A"));
        assert_eq!(read("sw:A"), one(Operator::Starts, "A"));
        assert_eq!(read("2010-01-01T10:00:00"), one(Operator::Equal, "2010-01-01T10:00:00"));
        assert_eq!(read("A,eq:B"), [(Operator::Equal, vec!["A".to_owned(), "B".to_owned()])]);
        assert_eq!(
            read("ge:A+le:B"),
            [(Operator::Ge, vec!["A".to_owned()]), (Operator::Le, vec!["B".to_owned()])]
        );
    }

    #[test]
    fn what_conditions_cannot_say_is_501_contract_19() {
        for text in ["A,B+C", "ge:A+le:B,ge:C+le:D", "ne:A,B", "nc:A", "ew:A"] {
            assert_eq!(status(text), 501, "{text}");
        }
        for text in ["", "A,", "ge:", "A+"] {
            assert_eq!(status(text), 400, "{text}");
        }
        assert_eq!(component("c[FREQ]"), Some("FREQ"));
        assert_eq!(component("c"), None);
    }
}
