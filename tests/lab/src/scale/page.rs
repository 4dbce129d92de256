//! The page: costs, what follows from them, and what is done about it. Owns the words.

use anyhow::Result;

use super::DatabaseCosts;
use super::model::{self, DATASETS, REFRESHES_A_DAY, REQUESTS, TARGET_UTILISATION, TRAFFIC_MIX};
use super::page_costs::{CROWD, FEW, PageCost, PageKind};
use super::share_costs::{CONNECTIONS as QUERY_CONNECTIONS, PAGE_TABLES, PUBLISHED, QueryCost};
use crate::page::ColumnAlign::{Left, Right};
use crate::page::{ReportPage, ReportTable, format_number};

const TIMES: [f64; 4] = [1.0, 10.0, 100.0, 1_000.0];

const AFTER: &str = "
Where measured tables are small, nothing had to be read twice: pages and footers stay in memory
(`cache` of [operations.md](operations.md)). With many large tables asked for in turn, reads are
what `yearbook_storage_reads_total` says. Lines through two points say nothing of what happens far
beyond them: the last row is an order of magnitude, not a plan.

## What gives way first
**One time.** Nothing: a machine of a few cores serves it, and a second one is for when the first is
replaced. SQLite on one machine does; PostgreSQL is what lets there be two.

**Ten times.** *The network to clients*: most bytes are those of the few large exports, as the mix
has it. What helps is there: clients that send `Accept-Encoding` get less, unchanged responses are
304, Parquet is a fraction of CSV, and whole files leave from the object store where
`storage.bulk = \"redirect\"` ([s3.md](s3.md)). Hosts are added as cores are wanted; they share nothing
but the database and the store.

**A hundred times.** *`/v1/datasets`* is one document of all datasets by the specification: a host
renders it once after each change and sends it to whoever has not the newest (304 else), but clients
have to read it. Pages of it would be a new version of the interface. *The catalog* is read again at
each refresh: only what moved ([0180](decisions/0180-hosts-reload-only-changed-datasets.md)), yet
the marks of all datasets are asked for, and publications within 50 ms are read as one; the column
\"part of a host's time\" says when that ends. Then datasets are divided over several catalogs, each
a service of its own behind one proxy: nothing in a request needs two of them but the key.

**A thousand times.** *Counting quotas*: each request of a limited plan is one statement on its
key's row before the work begins, and a database's cores end where the table says. Keys can be
divided over databases without changing what is promised; handing out quotas in portions to hosts
would be cheaper still, but a host would then refuse what another has left, so it is not done.
*Reads of the store*, if they are not served from memory, want many prefixes or a cache of files on
each host, which there is not yet.
";

/// Renders the whole page.
pub(super) fn render(command: &str, machine: &str, measured: &[DatabaseCosts]) -> Result<String> {
    let mut page = ReportPage::new("Scale", command, machine);
    requests(&mut page, measured);
    catalogs(&mut page, measured);
    catalogue_pages(&mut page, measured);
    share_queries(&mut page, measured);
    share_lists(&mut page, measured);
    needs(&mut page, measured)?;
    page.text(AFTER);
    Ok(page.render())
}

fn requests(page: &mut ReportPage, measured: &[DatabaseCosts]) {
    page.section("What a request costs");
    page.text(
        "One host, and the load generator and the database on the same cores. Processor time is\n\
        the server's, and of PostgreSQL that of its own processes (SQLite's is the server's);\n\
        reads are calls of the object store; bytes are the body's. The table that is read has a\n\
        million rows; except where it is named, there is no response cache.",
    );
    let mut table = ReportTable::new(&[
        ("request", Left),
        ("database", Left),
        ("CPU, µs", Right),
        ("of the database, µs", Right),
        ("reads", Right),
        ("bytes", Right),
        ("requests/s here", Right),
    ]);
    for kind in super::costs::RequestKind::ALL {
        for DatabaseCosts { database, costs, .. } in measured {
            for cost in costs.0.iter().filter(|cost| cost.kind == kind) {
                let mut cells = vec![kind.name().to_owned(), (*database).to_owned()];
                cells.extend([cost.cpu, cost.database, cost.reads, cost.bytes].map(format_number));
                cells.push(cost.rate.map_or("–".to_owned(), format_number));
                table.row(cells);
            }
        }
    }
    page.table(&table);
}

fn catalogs(page: &mut ReportPage, measured: &[DatabaseCosts]) {
    page.section("What datasets cost");
    page.text(
        "Synthetic datasets (`cargo xtask generate datasets`) of 120 rows and ten columns, and\n\
        one of a million rows. *Start*: from the command to an answer. *Seen*: from the end of\n\
        `yearbook publish` of one dataset to an\n\
        answer with its new snapshot, the median of five and the latest. *Read*: to read the\n\
        catalog from the database again. Times are milliseconds.",
    );
    let mut table = ReportTable::new(&[
        ("datasets", Right),
        ("database", Left),
        ("publish each", Right),
        ("start", Right),
        ("resident, MiB", Right),
        ("idle, % of a core", Right),
        ("`/v1/datasets`, kB", Right),
        ("first after a refresh", Right),
        ("requests/s", Right),
        ("p99", Right),
        ("seen", Right),
        ("latest", Right),
        ("read", Right),
    ]);
    for DatabaseCosts { database, catalogs, .. } in measured {
        for one in catalogs {
            let values = [
                one.publish,
                one.start,
                one.resident_mib,
                one.idle,
                one.list_bytes as f64 / 1e3,
                one.list_first,
                one.list.rate,
                one.list.p99,
                one.seen,
                one.seen_latest,
                one.read,
            ];
            let mut cells = vec![one.datasets.to_string(), (*database).to_owned()];
            cells.extend(values.map(format_number));
            table.row(cells);
        }
    }
    page.table(&table);
}

fn catalogue_pages(page: &mut ReportPage, measured: &[DatabaseCosts]) {
    let datasets = measured.iter().flat_map(|one| &one.catalogs).map(|one| one.datasets).max();
    page.section("What a page of the catalogue costs");
    page.text(&format!(
        "HTML for a browser, with {} datasets and the load generator on the same cores. A page that\n\
        is asked for again comes from memory; *another each time* is asked for in turn, so that most\n\
        are made anew. Times are milliseconds.",
        datasets.unwrap_or(0),
    ));
    let [crowd, crowd_p99, few, few_p99] = [
        format!("requests/s, {CROWD} connections"),
        "p99".to_owned(),
        format!("requests/s, {FEW} connections"),
        "p99".to_owned(),
    ];
    let mut table = ReportTable::new(&[
        ("page", Left),
        ("database", Left),
        ("bytes", Right),
        (&crowd, Right),
        (&crowd_p99, Right),
        (&few, Right),
        (&few_p99, Right),
    ]);
    for kind in PageKind::ALL {
        for DatabaseCosts { database, pages, .. } in measured {
            for cost in pages.iter().filter(|cost| cost.kind == kind) {
                let mut cells = vec![kind.name().to_owned(), (*database).to_owned()];
                cells.push(cost.bytes.to_string());
                let PageCost { crowd, few, .. } = cost;
                let values = [crowd.rate, crowd.p99, few.rate, few.p99];
                cells.extend(values.map(format_number));
                table.row(cells);
            }
        }
    }
    page.table(&table);
}

fn share_queries(page: &mut ReportPage, measured: &[DatabaseCosts]) {
    page.section("What the warehouse share costs");
    page.text(&format!(
        "`query` of another table each time, by {QUERY_CONNECTIONS} connections, once each table was asked\n\
        for. The load generator is on the same cores. Times are milliseconds.",
    ));
    let mut table = ReportTable::new(&[
        ("tables", Right),
        ("database", Left),
        ("requests/s", Right),
        ("p50", Right),
        ("p99", Right),
    ]);
    for DatabaseCosts { database, queries, .. } in measured {
        for QueryCost { datasets, load } in queries {
            let mut cells = vec![datasets.to_string(), (*database).to_owned()];
            cells.extend([load.rate, load.p50, load.p99].map(format_number));
            table.row(cells);
        }
    }
    page.table(&table);
}

fn share_lists(page: &mut ReportPage, measured: &[DatabaseCosts]) {
    page.text(&format!(
        "`all-tables` in pages of {PAGE_TABLES}, one after the other and each on a connection of its own,\n\
        while {PUBLISHED} datasets are published, half of them new ones. In every list, each table that\n\
        was there before is there once.",
    ));
    let mut table = ReportTable::new(&[
        ("tables", Right),
        ("database", Left),
        ("lists", Right),
        ("pages", Right),
        ("p50 of a page", Right),
        ("p99 of a page", Right),
    ]);
    for DatabaseCosts { database, lists, .. } in measured {
        let mut cells = vec![lists.datasets.to_string(), (*database).to_owned()];
        cells.extend([lists.lists, lists.pages].map(|count| count.to_string()));
        cells.extend([lists.page_p50, lists.page_p99].map(format_number));
        table.row(cells);
    }
    page.table(&table);
}

fn needs(page: &mut ReportPage, measured: &[DatabaseCosts]) -> Result<()> {
    let Some(DatabaseCosts { database, catalogs, costs, .. }) = measured.last() else {
        return Ok(());
    };
    let mix: Vec<String> =
        TRAFFIC_MIX.iter().map(|(kind, share)| format!("{share} × {}", kind.name())).collect();
    page.section("What follows");
    page.text(&format!(
        "Arithmetic on the tables above, with {database}. Assumed, and to be replaced by what\n\
        your own metrics say: {REQUESTS} requests a second and {DATASETS} datasets are *one\n\
        time*; of a thousand requests {}; each dataset\n\
        is refreshed {REFRESHES_A_DAY} time a day; cores are {TARGET_UTILISATION} busy.",
        mix.join(", "),
    ));
    let mut table = ReportTable::new(
        &[
            "times",
            "requests/s",
            "datasets",
            "cores of hosts",
            "cores of the database",
            "reads/s",
            "Gbit/s to clients",
            "refreshes/s",
            "read the catalog, s",
            "… part of a host's time",
            "catalog, MiB a host",
            "`/v1/datasets`, MB",
            "start, s",
        ]
        .map(|heading| (heading, Right)),
    );
    for times in TIMES {
        let needs = model::needs(costs, catalogs, times)?;
        let values = [
            needs.cores,
            needs.database,
            needs.reads,
            needs.gigabits,
            needs.refreshes_a_second,
            needs.read / 1e3,
            needs.reading,
            needs.catalog_mib,
            needs.list_megabytes,
            needs.start,
        ];
        let mut cells =
            vec![times.to_string(), (times * REQUESTS).to_string(), (times * DATASETS).to_string()];
        cells.extend(values.map(format_number));
        table.row(cells);
    }
    page.table(&table);
    Ok(())
}
