//! Statements that reach the catalog's SQLite file, as the driver logs them.

use std::fmt::{Debug, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Counts statements of all tests in this process.
#[derive(Default)]
pub(super) struct Statements {
    usage: AtomicUsize,
    keys: AtomicUsize,
    datasets: AtomicUsize,
    histories: AtomicUsize,
    writes: AtomicUsize,
}

impl Statements {
    /// Counts from the first call on.
    pub(super) fn start() -> &'static Self {
        static COUNT: OnceLock<Statements> = OnceLock::new();
        static LISTENS: OnceLock<()> = OnceLock::new();
        let count = COUNT.get_or_init(Self::default);
        LISTENS.get_or_init(|| {
            let driver = Targets::new().with_target("sqlx::query", tracing::Level::DEBUG);
            let subscriber =
                tracing_subscriber::registry().with(Listener(count).with_filter(driver));
            tracing::subscriber::set_global_default(subscriber).unwrap();
        });
        count
    }

    /// Statements about the month's usage.
    pub(super) fn usage(&self) -> usize {
        self.usage.load(Ordering::SeqCst)
    }

    /// Those of them that write.
    pub(super) fn usage_writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// Lookups of one dataset or of its snapshots, past the catalog in memory.
    pub(super) fn datasets(&self) -> usize {
        self.datasets.load(Ordering::SeqCst)
    }

    /// Statements about versions of a dataset and what changed between them.
    pub(super) fn histories(&self) -> usize {
        self.histories.load(Ordering::SeqCst)
    }

    /// Lookups of keys.
    pub(super) fn keys(&self) -> usize {
        self.keys.load(Ordering::SeqCst)
    }
}

struct Listener(&'static Statements);

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let count = |counter: &AtomicUsize, counts: bool| {
            counter.fetch_add(usize::from(counts), Ordering::SeqCst)
        };
        count(&self.0.usage, text.0.contains("usage"));
        count(
            &self.0.writes,
            text.0.contains("INSERT INTO usage") || text.0.contains("UPDATE usage"),
        );
        let of_one = ["FROM datasets WHERE name =", "dataset = $1", "d.name = $1"];
        count(&self.0.datasets, of_one.iter().any(|clause| text.0.contains(clause)));
        let of_history = ["FROM past_", "FROM changes", "FROM snapshots s WHERE"];
        count(&self.0.histories, of_history.iter().any(|clause| text.0.contains(clause)));
        let of_key = ["FROM keys WHERE hash", "FROM keys WHERE id"];
        count(&self.0.keys, of_key.iter().any(|clause| text.0.contains(clause)));
    }
}

/// All fields of an event.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        write!(self.0, "{value:?} ").unwrap();
    }
}
