//! `yearbook plugin top`: activity of each release, from the metrics of a running server. Two
//! readings a second apart make a table; on a terminal it is made again every second.

mod releases;

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use self::releases::ReleaseReading;
use crate::context::CommandContext;
use crate::http_client;
use crate::output::TextTable;

/// Time between two readings.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Puts the cursor home and clears what is below, so that the new table takes the old one's place.
const CURSOR_HOME: &str = "\x1b[H\x1b[J";

pub(super) async fn run(
    context: &CommandContext,
    url: Option<String>,
    once: bool,
) -> anyhow::Result<()> {
    let url = match (url, context.settings.values.server.admin_listen) {
        (Some(url), _) => url,
        (None, Some(address)) => format!("http://{address}"),
        (None, None) => bail!(
            "which server? Name its admin listener with --url, or set server.admin_listen as it is set for `serve`"
        ),
    };
    let once = once || context.output.json || !io::stdout().is_terminal();
    let mut earlier = scrape(&url).await?;
    loop {
        tokio::time::sleep(SAMPLE_INTERVAL).await;
        let now = scrape(&url).await?;
        let rows = now.1.rates_since(&earlier.1, now.0 - earlier.0);
        context.output.print_result(&rows, || {
            if once { render(&rows) } else { format!("{CURSOR_HOME}{url}\n\n{}", render(&rows)) }
        })?;
        if once {
            return Ok(());
        }
        earlier = now;
    }
}

async fn scrape(url: &str) -> anyhow::Result<(Instant, ReleaseReading)> {
    let text = http_client::get(url, "/metrics", http_client::TIMEOUT)
        .await
        .with_context(|| format!("cannot read the metrics of {url}"))?;
    Ok((Instant::now(), ReleaseReading::from_samples(&yearbook_exposition::parse_samples(&text))))
}

fn render(rows: &[releases::ReleaseActivity]) -> String {
    let headings = [
        "name",
        "version",
        "release",
        "#per s",
        "#p50 ms",
        "#p99 ms",
        "#cpu %",
        "#memory MiB",
        "#live",
        "#waiting",
        "#traps",
        "#failures",
        "#refused",
    ];
    let ms = |seconds: Option<f64>| {
        seconds.map_or("-".to_owned(), |seconds| format!("{:.2}", seconds * 1e3))
    };
    let cells = rows.iter().map(|row| {
        [
            row.name.clone(),
            row.version.clone(),
            row.release.clone(),
            format!("{:.1}", row.responses_per_second),
            ms(row.p50_seconds),
            ms(row.p99_seconds),
            format!("{:.1}", row.cpu_share * 1e2),
            format!("{:.1}", row.memory_bytes / f64::from(1 << 20)),
            row.instances.to_string(),
            row.waiting.to_string(),
            row.traps.to_string(),
            row.failures.to_string(),
            row.refused.to_string(),
        ]
    });
    TextTable::new(&headings).with_rows(cells).render_or("No plugin is loaded.")
}
