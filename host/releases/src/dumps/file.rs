//! A failure dump as a file: one Arrow IPC stream that any Arrow library reads. The schema is the
//! response's, with its own metadata. Everything that is not data stands beside it as JSON under
//! keys that begin with `yearbook.dump`. A reader trusts nothing of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use yearbook_domain::PluginKind;
use yearbook_sandbox::{DUMP_VERSION, DumpMetadata, FailureDump, GuestFunction, Limits, sanitize};

use super::request_record::RequestRecord;
use crate::ipc_size_check::claimed_uncompressed_bytes;

/// Largest file that is written or read, bytes: a part has some 16 MiB and notes as much.
pub const MAX_DUMP_BYTES: u64 = 128 << 20;

/// Longest line or sentence that is shown, bytes.
const SHOWN_BYTES: usize = 4096;

const ABOUT: &str = "yearbook.dump";
const NOTES: &str = "yearbook.dump.notes";
const REQUEST: &str = "yearbook.dump.request";
const ADAPTER: &str = "yearbook.dump.adapter";

/// Last bytes of every complete Arrow stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// A file is no failure dump that can be replayed.
#[derive(Debug, thiserror::Error)]
pub enum DumpReadError {
    /// The file cannot be read at all.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Larger than any dump.
    #[error("it has more than {MAX_DUMP_BYTES} bytes, which no dump has")]
    TooLarge,
    /// Its end is missing.
    #[error("its end is missing: it is no dump, or was cut off; copy it again")]
    Truncated,
    /// Not an Arrow stream.
    #[error("it is no Arrow IPC stream, or damaged: {0}")]
    NotArrow(String),
    /// An Arrow stream that somebody else made.
    #[error("it is an Arrow stream, but no dump: its schema has no metadata {ABOUT:?}")]
    NotADump,
    /// Of another version of this program.
    #[error(
        "it is a dump of version {0}, and this program reads version {DUMP_VERSION}; replay it with the program that made it"
    )]
    Version(u64),
    /// Something of it breaks a rule.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

/// Writes `dump` into `folder` under its own name, for this user alone (mode 0600), whole or not at
/// all. A file that is there already is replaced.
///
/// # Errors
/// Fails when it cannot be written, or would be too large.
pub fn write_dump(dump: &FailureDump, folder: &Path) -> io::Result<PathBuf> {
    // Of mode 0600.
    let mut file = tempfile::Builder::new().prefix(".dump-").tempfile_in(folder)?;
    let mut out = BoundedWriter { to: BufWriter::new(file.as_file_mut()), left: MAX_DUMP_BYTES };
    write(dump, &mut out).map_err(io::Error::other)?;
    out.flush()?;
    drop(out);
    file.as_file().sync_data()?;
    let path = folder.join(dump.file_name());
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

fn write(dump: &FailureDump, out: &mut impl Write) -> Result<(), ArrowError> {
    let json = |value: serde_json::Result<String>| {
        value.map_err(|error| ArrowError::ExternalError(Box::new(error)))
    };
    let mut metadata = vec![(ABOUT, json(serde_json::to_string(&dump.about))?)];
    if !dump.notes.is_empty() {
        let notes: Vec<(u64, String)> =
            dump.notes.iter().map(|(offset, note)| (*offset, STANDARD.encode(note))).collect();
        metadata.push((NOTES, json(serde_json::to_string(&notes))?));
    }
    if let Some(request) = &dump.request {
        metadata.push((REQUEST, json(serde_json::to_string(&RequestRecord::from(request)))?));
    }
    if let Some(input) = &dump.adapter {
        metadata.push((ADAPTER, json(serde_json::to_string(input))?));
    }
    let own = dump.schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone()));
    let all = own.chain(metadata.into_iter().map(|(key, value)| (key.to_owned(), value)));
    let schema = Arc::new(
        Schema::new(dump.schema.fields().clone()).with_metadata(all.collect::<BTreeMap<_, _>>()),
    );
    let mut writer = StreamWriter::try_new(out, &schema)?;
    if let Some(batch) = &dump.batch {
        writer.write(&RecordBatch::try_new(schema, batch.columns().to_vec())?)?;
    }
    writer.finish()
}

/// Reads a dump that anybody may have made.
///
/// # Errors
/// [`DumpReadError`].
pub fn read_dump(path: &Path) -> Result<FailureDump, DumpReadError> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_DUMP_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_DUMP_BYTES {
        return Err(DumpReadError::TooLarge);
    }
    // The library checks what it reads; where it forgets to, the file is no less damaged.
    let read = std::panic::catch_unwind(|| read(&bytes));
    read.unwrap_or_else(|_| Err(DumpReadError::NotArrow("a reader panicked over it".to_owned())))
}

fn read(bytes: &[u8]) -> Result<FailureDump, DumpReadError> {
    if !bytes.ends_with(&END) {
        return Err(DumpReadError::Truncated);
    }
    // Dumps are written without compression, so nothing may claim to be more than it is.
    if claimed_uncompressed_bytes(bytes) != Some(0) {
        return Err(DumpReadError::NotArrow(
            "its messages do not hang together, or are compressed".to_owned(),
        ));
    }
    let broken =
        |error: ArrowError| DumpReadError::NotArrow(sanitize(&error.to_string(), SHOWN_BYTES));
    let mut reader = StreamReader::try_new(bytes, None).map_err(broken)?;
    let schema = reader.schema();
    let about = parse_metadata(schema.metadata().get(ABOUT).ok_or(DumpReadError::NotADump)?)?;
    let notes =
        schema.metadata().get(NOTES).map(|text| parse_notes(text)).transpose()?.unwrap_or_default();
    let request = schema
        .metadata()
        .get(REQUEST)
        .map(|text| parse_json::<RequestRecord>("the request", text))
        .transpose()?
        .map(Into::into);
    let adapter = schema.metadata().get(ADAPTER);
    let adapter = adapter.map(|text| parse_json("the request", text)).transpose()?;
    let own = schema
        .metadata()
        .iter()
        .filter(|(key, _)| !key.starts_with(ABOUT))
        .map(|(key, value)| (key.clone(), value.clone()));
    let schema = Arc::new(
        Schema::new(schema.fields().clone()).with_metadata(own.collect::<BTreeMap<_, _>>()),
    );
    let batch = reader.next().transpose().map_err(broken)?;
    if batch.is_some() && reader.next().transpose().map_err(broken)?.is_some() {
        return Err(damaged("it has more than one batch"));
    }
    let batch = batch
        .map(|batch| RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec()))
        .transpose()
        .map_err(broken)?;
    let dump = FailureDump { about, schema, batch, notes, request, adapter };
    check_consistency(&dump)?;
    Ok(dump)
}

fn check_consistency(dump: &FailureDump) -> Result<(), DumpReadError> {
    let call = dump.about.call;
    use GuestFunction as Call;
    let fits = match dump.about.component.kind {
        PluginKind::Adapter => dump.adapter.as_ref().is_some_and(|input| input.function() == call),
        PluginKind::Encoder => matches!(call, Call::Open | Call::Head | Call::Part | Call::Tail),
        PluginKind::Generator => call == Call::Generate,
        PluginKind::Reader => {
            matches!(call, Call::Open | Call::Push | Call::Columns | Call::Pull)
        }
        PluginKind::Transform => {
            matches!(call, Call::Plan | Call::Open | Call::Output | Call::Push | Call::Finish)
                || call == Call::Prime
        }
    };
    if call != Call::Describe && !fits {
        return Err(damaged("its call is none of its plugin's kind"));
    }
    match call {
        GuestFunction::Part if dump.batch.as_ref().is_none_or(|batch| batch.num_rows() == 0) => {
            Err(damaged("the part has no rows"))
        }
        GuestFunction::Generate if dump.request.is_none() => Err(damaged("there is no request")),
        _ => Ok(()),
    }
}

fn damaged(what: &str) -> DumpReadError {
    DumpReadError::Damaged(what.to_owned())
}

fn parse_json<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, DumpReadError> {
    serde_json::from_str(text)
        .map_err(|error| DumpReadError::Damaged(sanitize(&format!("{what}: {error}"), SHOWN_BYTES)))
}

/// The version first: what a later one has more is no damage.
fn parse_metadata(text: &str) -> Result<DumpMetadata, DumpReadError> {
    let value: serde_json::Value = parse_json("its description", text)?;
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(DUMP_VERSION) => {}
        Some(version) => return Err(DumpReadError::Version(version)),
        None => return Err(damaged("it says no version")),
    }
    let mut about: DumpMetadata = parse_json("its description", text)?;
    check_replay_bounds(&about.limits).map_err(DumpReadError::Damaged)?;
    // Whatever is shown, on one line and without what moves a cursor.
    let DumpMetadata { component, failure, log, .. } = &mut about;
    let lines = log.iter_mut().flat_map(|line| [&mut line.level, &mut line.message]);
    let texts =
        [&mut component.name, &mut component.version, &mut failure.kind, &mut failure.message];
    lines.chain(texts).for_each(|text| *text = sanitize(text, SHOWN_BYTES));
    Ok(about)
}

fn parse_notes(text: &str) -> Result<Vec<(u64, Vec<u8>)>, DumpReadError> {
    let notes: Vec<(u64, String)> = parse_json("the notes", text)?;
    let note = |(offset, note): (u64, String)| Some((offset, STANDARD.decode(note).ok()?));
    notes.into_iter().map(note).collect::<Option<_>>().ok_or_else(|| damaged("a note is no base64"))
}

/// Refuses limits of an unknown origin under which nobody should replay. The stack is bounded when
/// it is read.
fn check_replay_bounds(limits: &Limits) -> Result<(), String> {
    const HOUR_MS: u64 = 3_600_000;
    let bytes = |bytes: usize| bytes as u64;
    let rules = [
        ("memory_bytes", bytes(limits.memory_bytes), 4 << 30),
        ("table_elements", bytes(limits.table_elements), 10_000_000),
        ("cpu_ms_per_call", limits.cpu_ms_per_call, HOUR_MS),
        ("wall_ms_per_call", limits.wall_ms_per_call, HOUR_MS),
        ("output_bytes_per_call", bytes(limits.output_bytes_per_call), 4 << 30),
        ("component_bytes", bytes(limits.component_bytes), 1 << 30),
        ("compile_ms", limits.compile_ms, HOUR_MS),
    ];
    match rules.into_iter().find(|(_, value, most)| value > most) {
        Some((limit, value, most)) => {
            Err(format!("its limit {limit} is {value}, and replays are run with {most} at most"))
        }
        None => Ok(()),
    }
}

/// A writer with a bound on its bytes.
struct BoundedWriter<W> {
    to: W,
    left: u64,
}

impl<W: Write> Write for BoundedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| io::Error::other("the dump would be too large"))?;
        self.to.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests;
