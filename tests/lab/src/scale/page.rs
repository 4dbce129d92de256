//! The page: what was measured, what follows, and what is done about it. Owns wording and layout.

use std::fmt::Write as _;

use anyhow::Result;

use super::DatabaseCosts;
use super::model::{self, DATASETS, REFRESHES_A_DAY, REQUESTS, TARGET_UTILISATION, TRAFFIC_MIX};
use crate::bench::page::number;

const TIMES: [f64; 4] = [1.0, 10.0, 100.0, 1_000.0];

const AFTER: &str = "
Where measured tables are small, nothing had to be read twice: pages and footers stay in memory (`cache` of [operations.md](operations.md)). With many large tables asked for in turn, reads are what
`yearbook_storage_reads_total` says. Lines through two points say nothing of what happens far beyond them: the last row is an order of magnitude, not a plan.

## What gives way first
**One time.** Nothing: a machine of a few cores serves it, and a second one is for when the first is replaced. SQLite on one machine does; PostgreSQL is what lets there be two.

**Ten times.** *The network to clients*: most bytes are those of the few large exports, as the mix has it. What helps is there: clients that send `Accept-Encoding` get less, unchanged responses are 304, Parquet is a fraction of CSV, and whole
files leave from the object store where `storage.bulk = \"redirect\"` ([s3.md](s3.md)). Hosts are added as cores are wanted; they share nothing but the database and the store.

**A hundred times.** *`/v1/datasets`* is one document of all datasets by the specification: a host renders it once after each change and sends it to whoever has not the newest (304 else), but clients have to read it. Pages of it would be a new
version of the interface. *The catalogue* is read again at each refresh: only what moved ([0180](decisions/0180-hosts-reload-only-changed-datasets.md)), yet the marks of all datasets are asked for, and publications within 50 ms are read as one; the column \"part of a host's time\"
says when that ends. Then datasets are divided over several catalogues, each a service of its own behind one proxy: nothing in a request needs two of them but the key.

**A thousand times.** *Counting quotas*: each request of a limited plan is one statement on its key's row before the work begins, and a database's cores end where the table says. Keys can be divided over databases without changing what is
promised; handing out quotas in portions to hosts would be cheaper still, but a host would then refuse what another has left, so it is not done. *Reads of the store*, if they are not served from memory, want many prefixes or a cache of
files on each host, which there is not yet.
";

/// The whole page.
pub(super) fn render(command: &str, machine: &str, measured: &[DatabaseCosts]) -> Result<String> {
    let mut page = format!("# Scale\nMade by `{command}`, which replaces this page. {machine}\n");
    page += &requests(measured);
    page += &catalogues(measured);
    page += &needs(measured)?;
    page += AFTER;
    Ok(page)
}

fn requests(measured: &[DatabaseCosts]) -> String {
    let mut text = String::from(
        "\n## What a request costs\n\
        One host, and the load generator and the database on the same cores. Processor time is the server's, and of PostgreSQL that of its own processes (SQLite's is the server's);\n\
        reads are calls of the object store; bytes are the body's. The table that is read has a million rows; except where it is named, there is no response cache.\n\n\
        | request | database | CPU, µs | of the database, µs | reads | bytes | requests/s here |\n|---|---|--:|--:|--:|--:|--:|\n",
    );
    for kind in super::costs::RequestKind::ALL {
        for DatabaseCosts { database, costs, .. } in measured {
            for cost in costs.0.iter().filter(|cost| cost.kind == kind) {
                let rate = cost.rate.map_or("–".to_owned(), number);
                let (cpu, spent, reads, bytes) = (
                    number(cost.cpu),
                    number(cost.database),
                    number(cost.reads),
                    number(cost.bytes),
                );
                let _ = writeln!(
                    text,
                    "| {} | {database} | {cpu} | {spent} | {reads} | {bytes} | {rate} |",
                    kind.name()
                );
            }
        }
    }
    text
}

fn catalogues(measured: &[DatabaseCosts]) -> String {
    let mut text = String::from(
        "\n## What datasets cost\n\
        Synthetic datasets (`cargo xtask generate datasets`) of 120 rows and ten columns, and one of a million rows. *Start*: from the command to an answer. *Seen*: from the end of `yearbook publish` of one dataset to an\n\
        answer with its new snapshot, the middle of five and the latest. *Read*: to read the catalogue from the database again. Times are milliseconds.\n\n\
        | datasets | database | publish each | start | resident, MiB | idle, % of a core | `/v1/datasets`, kB | first after a refresh | requests/s | 99 % | seen | latest | read |\n\
        |--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for DatabaseCosts { database, catalogues, .. } in measured {
        for one in catalogues {
            let values = [
                one.publish,
                one.start,
                one.resident_mib,
                one.idle,
                one.list_bytes as f64 / 1e3,
                one.list_first,
                one.list.rate,
                one.list.slow,
                one.seen,
                one.seen_latest,
                one.read,
            ];
            let _ = writeln!(
                text,
                "| {} | {database} | {} |",
                one.datasets,
                values.map(number).join(" | ")
            );
        }
    }
    text
}

fn needs(measured: &[DatabaseCosts]) -> Result<String> {
    let Some(DatabaseCosts { database, catalogues, costs }) = measured.last() else {
        return Ok(String::new());
    };
    let mix: Vec<String> =
        TRAFFIC_MIX.iter().map(|(kind, share)| format!("{share} × {}", kind.name())).collect();
    let mut text = format!(
        "\n## What follows\n\
        Arithmetic on the tables above, with {database}. Assumed, and to be replaced by what your own metrics say: {REQUESTS} requests a second and {DATASETS} datasets are *one time*; of a thousand requests {}; each dataset\n\
        is refreshed {REFRESHES_A_DAY} time a day; cores are {TARGET_UTILISATION} busy.\n\n\
        | times | requests/s | datasets | cores of hosts | cores of the database | reads/s | Gbit/s to clients | refreshes/s | read the catalogue, s | … part of a host's time | catalogue, MiB a host | `/v1/datasets`, MB | start, s |\n\
        |--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        mix.join(", "),
    );
    for times in TIMES {
        let needs = model::needs(costs, catalogues, times)?;
        let values = [
            needs.cores,
            needs.database,
            needs.reads,
            needs.gigabits,
            needs.refreshes_a_second,
            needs.read / 1e3,
            needs.reading,
            needs.catalogue_mib,
            needs.list_megabytes,
            needs.start,
        ];
        let (requests, datasets) = (times * REQUESTS, times * DATASETS);
        let _ = writeln!(
            text,
            "| {times} | {requests} | {datasets} | {} |",
            values.map(number).join(" | ")
        );
    }
    Ok(text)
}
