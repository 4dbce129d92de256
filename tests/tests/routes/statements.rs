//! Statements that reach the catalogue's SQLite file, as the driver logs them.

use std::fmt::{Debug, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Counts statements about the month's usage, of all tests in this process.
#[derive(Default)]
pub(super) struct UsageStatements(AtomicUsize);

impl UsageStatements {
    /// Counts from the first call on.
    pub(super) fn start() -> &'static Self {
        static COUNT: OnceLock<UsageStatements> = OnceLock::new();
        static LISTENS: OnceLock<()> = OnceLock::new();
        let count = COUNT.get_or_init(Self::default);
        LISTENS.get_or_init(|| {
            let driver = Targets::new().with_target("sqlx::query", tracing::Level::DEBUG);
            let subscriber = tracing_subscriber::registry().with(Listener(count).with_filter(driver));
            tracing::subscriber::set_global_default(subscriber).unwrap();
        });
        count
    }

    /// How many there were.
    pub(super) fn so_far(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

struct Listener(&'static UsageStatements);

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        if text.0.contains("usage") {
            self.0.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// All fields of an event.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        write!(self.0, "{value:?} ").unwrap();
    }
}
