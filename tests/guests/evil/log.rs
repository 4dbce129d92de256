//! The process's log: as records, to compare with, and as the text that an operator's terminal
//! gets.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry};

/// Log since the start of the process.
pub(crate) struct CapturedLog {
    records: Buffer,
    text: Buffer,
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn read(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Buffer {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl CapturedLog {
    /// The log, written as `yearbook serve` writes it, in both of its formats.
    pub(crate) fn start() -> &'static Self {
        static LOG: OnceLock<CapturedLog> = OnceLock::new();
        LOG.get_or_init(|| {
            let (records, text) = (Buffer::default(), Buffer::default());
            let json = tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_writer(records.clone());
            let plain = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(text.clone());
            let subscriber =
                Registry::default().with(json.and_then(plain).with_filter(LevelFilter::INFO));
            tracing::subscriber::set_global_default(subscriber).unwrap();
            Self { records, text }
        })
    }

    /// Returns its length: a position to read from.
    pub(crate) fn end(&self) -> usize {
        self.records.0.lock().unwrap().len()
    }

    /// Returns the log since `start`, one line for each record: level, message and fields, digests
    /// left out.
    pub(crate) fn since(&self, start: usize) -> Vec<String> {
        self.records.read()[start..].lines().map(line).collect()
    }

    /// The log as text.
    pub(crate) fn text(&self) -> String {
        self.text.read()
    }
}

/// A record as people read it.
fn line(record: &str) -> String {
    let record: Value =
        serde_json::from_str(record).unwrap_or_else(|error| panic!("{error}: {record}"));
    let fields = record.as_object().unwrap();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut line = format!("{} {}", text(&fields["level"]), text(&fields["message"]));
    for (name, value) in fields {
        if !["level", "message", "timestamp", "target", "span", "spans", "digest"]
            .contains(&name.as_str())
        {
            line.push_str(&format!("; {name}: {}", text(value)));
        }
    }
    line
}
