//! The text that a scraper reads: OpenMetrics 1.0, or the older Prometheus format for those that do
//! not ask for it.

use std::fmt;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

/// Content type of OpenMetrics.
pub const OPENMETRICS_CONTENT_TYPE: &str =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Content type of the older format.
pub const PROMETHEUS_CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Labels of one series.
pub type Labels<'a> = Vec<(&'a str, &'a str)>;

/// Everything that `write` tells now, as OpenMetrics.
///
/// # Errors
/// Those of `write`: a text takes whatever is written to it.
pub fn text(
    write: impl Fn(&mut MetricsWriter<'_>) -> fmt::Result + Send + Sync + 'static,
) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(WriterCollector(write)));
    let mut text = String::with_capacity(64 << 10);
    encode(&mut text, &registry)?;
    Ok(text)
}

/// The same in the older format, where a counter is called as its sample is and units stand in
/// names alone.
pub fn prometheus_text(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    let mut help = "";
    for line in open.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or((rest, "untyped"));
            let suffix = if kind == "counter" { "_total" } else { "" };
            let said = help.split_once(' ').map_or("", |(_, said)| said);
            text.push_str(&format!("# HELP {name}{suffix} {said}\n# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with("# ") {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Writer of the families of one scrape.
struct WriterCollector<W>(W);

impl<W> fmt::Debug for WriterCollector<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriterCollector")
    }
}

impl<W> Collector for WriterCollector<W>
where
    W: Fn(&mut MetricsWriter<'_>) -> fmt::Result + Send + Sync + 'static,
{
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.0)(&mut MetricsWriter(encoder))
    }
}

/// The writer of metrics, one family after the other. Families without a series are left out.
pub struct MetricsWriter<'a>(DescriptorEncoder<'a>);

impl MetricsWriter<'_> {
    /// A counter; its samples are called `name` with `_total`.
    pub fn counter<'l, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Counter, series, |metric, value| {
            metric.encode_counter::<NoLabelSet, V, f64>(&value, None)
        })
    }

    /// A value that goes up and down.
    pub fn gauge<'l, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Gauge, series, |metric, value| {
            metric.encode_gauge(&value)
        })
    }

    /// Durations in buckets with these upper `bounds`, seconds; each series has one count more than
    /// there are bounds.
    pub fn histogram<'l>(
        &mut self,
        name: &str,
        help: &str,
        bounds: &[f64],
        series: impl IntoIterator<Item = (Labels<'l>, Vec<u64>, Duration)>,
    ) -> fmt::Result {
        let series = series.into_iter().map(|(labels, counts, sum)| (labels, (counts, sum)));
        self.family(name, help, MetricType::Histogram, series, |metric, (counts, sum)| {
            let bounds = bounds.iter().copied().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(counts.iter().copied()).collect();
            metric.encode_histogram::<NoLabelSet>(
                sum.as_secs_f64(),
                counts.iter().sum(),
                &buckets,
                None,
            )
        })
    }

    fn family<'l, V>(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        series: impl IntoIterator<Item = (Labels<'l>, V)>,
        write: impl Fn(&mut MetricEncoder<'_>, V) -> fmt::Result,
    ) -> fmt::Result {
        let mut series = series.into_iter().peekable();
        if series.peek().is_none() {
            return Ok(());
        }
        let mut metric = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in series {
            if labels.is_empty() {
                write(&mut metric, value)?
            } else {
                write(&mut metric.encode_family(&labels)?, value)?
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::prometheus_text;

    #[test]
    fn the_older_format_names_counters_as_their_samples() {
        let open = "# HELP a_bytes Bytes.\n# TYPE a_bytes counter\na_bytes_total{x=\"1\"} 2\n# HELP b Now.\n# TYPE b gauge\nb 3\n# EOF\n";
        let expected = "# HELP a_bytes_total Bytes.\n# TYPE a_bytes_total counter\na_bytes_total{x=\"1\"} 2\n# HELP b Now.\n# TYPE b gauge\nb 3\n";
        assert_eq!(prometheus_text(open), expected);
    }
}
