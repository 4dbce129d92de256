//! Reader of the Prometheus text exposition format, as far as samples go. Serves `yearbook plugin
//! top`, the tests and what measures; never writes the format and never opens a connection.

use std::collections::BTreeMap;

/// Sample of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSample {
    /// Name as printed, with its suffix `_total` or `_bucket`.
    pub name: String,
    /// Labels with their values unescaped.
    pub labels: BTreeMap<String, String>,
    /// Value, in the unit that the name ends with.
    pub value: f64,
}

/// Parses every sample of `text`. Comments, and lines that are no samples, are skipped.
#[must_use]
pub fn parse_samples(text: &str) -> Vec<MetricSample> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect()
}

/// Adds up the samples that `selector` names: `name`, or `name{label="value"}` with as many labels
/// as narrow the sum. None where no sample matches.
#[must_use]
pub fn sum(samples: &[MetricSample], selector: &str) -> Option<f64> {
    let (name, labels, _) = parse_series(selector)?;
    samples
        .iter()
        .filter(|sample| sample.name == name)
        .filter(|sample| {
            labels.iter().all(|(label, value)| sample.labels.get(label) == Some(value))
        })
        .map(|sample| sample.value)
        .reduce(|total, value| total + value)
}

fn parse_line(line: &str) -> Option<MetricSample> {
    let (name, labels, rest) = parse_series(line)?;
    // A time stamp may follow.
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(MetricSample { name: name.to_owned(), labels, value })
}

/// Splits off name and labels from the start of `text`; the third item is the rest.
fn parse_series(text: &str) -> Option<(&str, BTreeMap<String, String>, &str)> {
    let end = text.find(['{', ' ']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, quoted) = rest.trim_start_matches(',').split_once("=\"")?;
            let (value, after) = parse_quoted(quoted)?;
            labels.insert(label.to_owned(), value);
            rest = after;
        }
        rest = rest.strip_prefix('}')?;
    }
    Some((name, labels, rest))
}

/// Unescapes the text up to the closing quote; the second item is the rest behind the quote.
fn parse_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str, labels: &[(&str, &str)], value: f64) -> MetricSample {
        let labels = labels
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect();
        MetricSample { name: name.to_owned(), labels, value }
    }

    #[test]
    fn samples_are_read_with_their_labels() {
        let text = "# TYPE a counter\na_total{x=\"1\",y=\"a \\\"b\\\"\\n}\"} 2.5\nb 3 1700000000\nh_bucket{le=\"+Inf\"} +Inf\n";
        let expected = [
            sample("a_total", &[("x", "1"), ("y", "a \"b\"\n}")], 2.5),
            sample("b", &[], 3.0),
            sample("h_bucket", &[("le", "+Inf")], f64::INFINITY),
        ];
        assert_eq!(parse_samples(text), expected);
    }

    #[test]
    fn what_is_no_sample_is_passed_over() {
        assert_eq!(parse_samples("<html>\na\na{b=\"c} 1\na{b} 1\na x\n\n"), []);
    }

    #[test]
    fn a_sum_is_of_one_name_and_of_the_labels_that_are_given() {
        let samples = parse_samples("a{x=\"1\",y=\"1\"} 2\na{x=\"1\",y=\"2\"} 3.5\na_b 7\n");
        let check =
            |selector, expected| assert_eq!(sum(&samples, selector), expected, "{selector}");
        check("a", Some(5.5));
        check("a{x=\"1\"}", Some(5.5));
        check("a{y=\"2\",x=\"1\"}", Some(3.5));
        check("a{y=\"3\"}", None);
        check("a{y}", None);
        check("b", None);
    }
}
