//! Planning and scanning: what the host does between a query string and the batches that an encoder
//! gets.

use std::fmt::Write as _;
use std::sync::Arc;

use futures::StreamExt as _;
use tokio::runtime::Runtime;
use yearbook_domain::query::{parse_data, parse_pairs};
use yearbook_domain::{Dataset, Millis, PlanTable, ReadPlan, SnapshotSummary, read_plan};
use yearbook_publish::{DataPackage, SilentReporter, publish};
use yearbook_scan::Reader;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::{Workload, count};

/// Rows of the stored table: several pages, so that a slice and a search have something to leave
/// out.
const ROWS: u64 = 24_000;
/// Requests that are planned.
const PLANS: u64 = 1_000;
/// Scans. A few hundred thousand instructions come and go with how threads meet: it has to be so
/// much work that they do not count.
const LARGE: u64 = 40;
const SMALL: u64 = 400;
/// A query with everything that planning looks at.
const QUERY: &str = "start=2001-01-01&end=2001-12-31&limit=500&columns=date,region,value&dimensions=auck&format=json&geometry=false";

/// One work for each kind of read.
pub(crate) fn works() -> Vec<Workload> {
    let work = |name, units, run: Box<dyn Fn()>| Workload { name, units, run };
    let scan = |name, rows: u64, query: &'static str, scans: u64| {
        work(name, rows * scans, Box::new(move || repeat(query, scans)))
    };
    vec![
        work("plan a request", PLANS, Box::new(plans)),
        scan("scan all rows", ROWS, "limit=0", LARGE),
        scan("scan 100 rows", 100, "", SMALL),
        scan("scan a year", 1_000, "start=2005-01-01&end=2005-12-31&limit=1000", SMALL),
        scan("search, found late", ROWS, "dimensions=chatham", LARGE),
        scan("search, found nowhere", ROWS, "dimensions=atlantis", SMALL),
    ]
}

fn plans() {
    let stored = ObjectKey::new();
    let plan = || drop(std::hint::black_box(stored.plan(std::hint::black_box(QUERY))));
    plan();
    count(|| (0..PLANS).for_each(|_| plan()));
}

fn repeat(query: &str, scans: u64) {
    let stored = ObjectKey::new();
    let plan = stored.plan(query);
    // The first scan reads the footer, which every later one finds in memory.
    stored.scan(&plan);
    count(|| (0..scans).map(|_| stored.scan(&plan)).sum::<usize>());
}

/// A published table in a folder of its own.
struct ObjectKey {
    dataset: Dataset,
    reader: Reader,
    runtime: Runtime,
    _folder: tempfile::TempDir,
}

impl ObjectKey {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        package(folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let workers = Workers::new(1);
        let files =
            ObjectStorage::open(&format!("file:{}/store", folder.path().display())).unwrap();
        let package = DataPackage::open(&folder.path().join("datapackage.json")).unwrap();
        let draft =
            runtime.block_on(publish(&files, &workers, &package, None, &SilentReporter)).unwrap();
        let snapshot = Arc::new(draft.snapshot);
        let summary = SnapshotSummary {
            id: snapshot.id,
            version: 0,
            created_at: snapshot.created_at,
            rows: snapshot.rows,
            changes: None,
            largest_revision: None,
            held: false,
            bulk_redistribution: true,
        };
        let dataset = Dataset {
            name: draft.name,
            namespace: draft.namespace,
            checked_at: Millis(0),
            column_changes: 0,
            current: snapshot,
            snapshots: vec![summary],
        };
        Self { dataset, reader: Reader::new(files, workers), runtime, _folder: folder }
    }

    fn plan(&self, query: &str) -> ReadPlan {
        let formats = ["json", "csv", "arrow", "parquet"];
        let (selection, _) = parse_data(&parse_pairs(query), &formats).unwrap();
        let Dataset { name, namespace, current, .. } = self.dataset.clone();
        let plan = read_plan::resolve_selection(name, namespace, current, &selection).unwrap();
        let limits = PlanTable::default().enterprise;
        read_plan::plan_read(&self.dataset, plan, limits, &selection, None).unwrap()
    }

    fn scan(&self, plan: &ReadPlan) -> usize {
        self.runtime.block_on(async {
            let scan = self.reader.scan(plan).await.unwrap();
            scan.batches
                .fold(0, |rows, batch| async move { rows + batch.unwrap().num_rows() })
                .await
        })
    }
}

/// Months of 1990 to 2009 by a hundred regions; the last tenth of the rows has a region that no
/// earlier row has.
fn package(folder: &std::path::Path) {
    let mut csv = "date,region,value,count\n".to_owned();
    for row in 0..ROWS {
        let (month, place) = (row / 100, row % 100);
        let region = if row >= ROWS / 10 * 9 && place == 7 {
            "Chatham Islands".to_owned()
        } else {
            format!("Auckland {place}")
        };
        let value = row.wrapping_mul(2_654_435_761) % 1_000_000;
        writeln!(
            csv,
            "{}-{:02}-01,{region},{}.{},{}",
            1990 + month / 12,
            month % 12 + 1,
            value / 10,
            value % 10,
            value * 7
        )
        .unwrap();
    }
    std::fs::write(folder.join("data.csv"), csv).unwrap();
    std::fs::write(folder.join("datapackage.json"), include_str!("datapackage.json")).unwrap();
}
