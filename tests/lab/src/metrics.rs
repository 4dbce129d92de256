//! Metrics that a server exposes on its admin listener. Owns how Prometheus' text is read.

use std::io::Read as _;

use anyhow::{Context as _, Result};

use crate::http;
use crate::http::HttpRequest;

/// One scrape.
pub(crate) struct MetricsScrape(String);

impl MetricsScrape {
    /// Scrapes `address`, the whole address of a server's metrics.
    pub(crate) fn scrape(address: &str) -> Result<Self> {
        let mut begun = http::send(&HttpRequest::get(address.to_owned()))?;
        begun.stream.read_to_end(&mut begun.body).context("the metrics were cut off")?;
        Ok(Self(String::from_utf8_lossy(&begun.body).into_owned()))
    }

    /// The values of all labels of `name` together.
    pub(crate) fn sum(&self, name: &str) -> Result<f64> {
        let values = self
            .0
            .lines()
            .filter(|line| is_sample(line, name))
            .filter_map(|line| line.rsplit(' ').next());
        let sum = values
            .map(|value| value.parse::<f64>().ok())
            .try_fold(None, |sum: Option<f64>, value| Some(Some(sum.unwrap_or(0.0) + value?)));
        sum.flatten().with_context(|| format!("no metric {name}"))
    }
}

fn is_sample(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_the_sum_of_its_labels_and_of_no_other_name() {
        let text =
            "# HELP a_b words\na_b{x=\"1\"} 2\na_b{x=\"2\"} 3.5\na_b_c 7\nalone 1.5e3\nodd NaN?\n";
        let metrics = MetricsScrape(text.to_owned());
        let sum = |name: &str| metrics.sum(name).ok();
        assert_eq!(
            (sum("a_b"), sum("alone"), sum("a"), sum("odd")),
            (Some(5.5), Some(1500.0), None, None)
        );
    }
}
