//! Metrics of a running server's admin listener, for whatever measures it.

use std::io::Read as _;

use anyhow::{Context as _, Result};
use yearbook_exposition::{MetricSample, parse_samples};

use crate::http;
use crate::http::HttpRequest;

/// One scrape.
pub(crate) struct MetricsScrape(Vec<MetricSample>);

impl MetricsScrape {
    /// Scrapes `address`, the whole address of a server's metrics.
    pub(crate) fn scrape(address: &str) -> Result<Self> {
        let mut begun = http::send(&HttpRequest::get(address.to_owned()))?;
        begun.stream.read_to_end(&mut begun.body).context("the metrics were cut off")?;
        Ok(Self(parse_samples(&String::from_utf8_lossy(&begun.body))))
    }

    /// The values of all labels of `name` together.
    pub(crate) fn sum(&self, name: &str) -> Result<f64> {
        yearbook_exposition::sum(&self.0, name).with_context(|| format!("no metric {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_the_sum_of_its_labels_and_of_no_other_name() {
        let text =
            "# HELP a_b words\na_b{x=\"1\"} 2\na_b{x=\"2\"} 3.5\na_b_c 7\nalone 1.5e3\nodd NaN?\n";
        let metrics = MetricsScrape(parse_samples(text));
        let sum = |name: &str| metrics.sum(name).ok();
        assert_eq!(
            (sum("a_b"), sum("alone"), sum("a"), sum("odd")),
            (Some(5.5), Some(1500.0), None, None)
        );
    }
}
