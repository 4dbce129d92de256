//! The Prometheus text format, as far as samples go.

use std::collections::HashMap;

/// One sample.
#[derive(Debug, PartialEq)]
pub(super) struct MetricSample {
    /// Its name, with `_total` or `_bucket`.
    pub(super) name: String,
    /// Its labels.
    pub(super) labels: HashMap<String, String>,
    /// Its value.
    pub(super) value: f64,
}

/// Every sample; lines that are none are passed over.
pub(super) fn parse_samples(text: &str) -> Vec<MetricSample> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<MetricSample> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = HashMap::new();
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
    // A time stamp may follow.
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(MetricSample { name: name.to_owned(), labels, value })
}

/// The text up to the closing quote, and what is behind that.
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

    fn of(name: &str, labels: &[(&str, &str)], value: f64) -> MetricSample {
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
            of("a_total", &[("x", "1"), ("y", "a \"b\"\n}")], 2.5),
            of("b", &[], 3.0),
            of("h_bucket", &[("le", "+Inf")], f64::INFINITY),
        ];
        assert_eq!(parse_samples(text), expected);
    }

    #[test]
    fn what_is_no_sample_is_passed_over() {
        assert_eq!(parse_samples("<html>\na{\na{b=\"c} 1\na{b} 1\na x\n\n"), []);
    }
}
