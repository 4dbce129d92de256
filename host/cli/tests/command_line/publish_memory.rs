//! A table several times larger than the memory that publishing may use (contract-7-out-of-core),
//! and a record that never ends (contract-7-record).

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::binary::{CommandOutput, Yearbook};

/// Memory for publishing: the least that the setting takes.
const MEMORY_BYTES: u64 = 64 << 20;

/// Rows of 8 KiB: four times [`MEMORY_BYTES`].
const ROWS: u64 = 32 << 10;

/// Hexadecimal digits of a row.
const TEXT_BYTES: usize = 8 << 10;

/// Peak memory that is allowed, with some 55 MiB of the program's own: less than the text of the
/// table alone, which with its keys and chunks takes 390 MiB where it is held.
const PEAK_KIB: u64 = 240 << 10;

/// Time after which a publication hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// Writes the descriptor of a package of texts; returns its table's file and arguments that publish
/// it.
fn write_package(yearbook: &Yearbook) -> (std::fs::File, [String; 4]) {
    let fields =
        json!([{ "name": "code", "type": "string" }, { "name": "note", "type": "string" }]);
    let descriptor = json!({
        "name": "large",
        "licenses": [{ "name": "CC-BY-4.0" }],
        "sources": [{ "title": "Test agency", "path": "https://example.org/large" }],
        "resources": [{ "path": "rows.csv", "schema": { "fields": fields, "primaryKey": ["code"] } }],
        "yearbook": { "namespace": "tests" },
    });
    yearbook.write("large/datapackage.json", &descriptor.to_string());
    let file = std::fs::File::create(yearbook.path("large/rows.csv")).unwrap();
    let arguments = ["publish", "large", "--memory-bytes", &MEMORY_BYTES.to_string()];
    (file, arguments.map(str::to_owned))
}

/// A package whose rows come in the reverse of their order.
fn large_package(yearbook: &Yearbook) -> [String; 4] {
    let (file, arguments) = write_package(yearbook);
    let mut file = std::io::BufWriter::new(file);
    file.write_all(b"code,note\n").unwrap();
    let mut state = 1_u64;
    let mut note = String::with_capacity(TEXT_BYTES);
    for row in (0..ROWS).rev() {
        note.clear();
        while note.len() < TEXT_BYTES {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let _ = write!(note, "{:08x}", state >> 32);
        }
        writeln!(file, "r{row:08},{note}").unwrap();
    }
    file.flush().unwrap();
    arguments
}

fn start(yearbook: &Yearbook, arguments: &[String], temporary: &Path) -> Child {
    std::fs::create_dir_all(temporary).unwrap();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = yearbook.command(&arguments);
    command.env("TMPDIR", temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Most memory that a running process has had, in KiB.
fn peak_kib(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Number of open files of a process in `folder`, with or without a name.
fn open_files(child: &Child, folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{}/fd", child.id())) else { return 0 };
    let targets = entries.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.filter(|target| target.starts_with(folder)).count()
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let below =
        |path: std::path::PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.flatten().flat_map(|entry| below(entry.path())).collect()
}

#[test]
fn a_table_of_four_times_the_memory_is_published_within_it_and_a_kill_leaves_nothing_contract_7() {
    let yearbook = Yearbook::new();
    let arguments = large_package(&yearbook);
    let temporary = yearbook.path("temporary");

    let mut killed = start(&yearbook, &arguments, &temporary);
    let begun = Instant::now();
    while open_files(&killed, &temporary) < 3 {
        assert!(begun.elapsed() < PATIENCE, "no run was spilled");
        assert!(killed.try_wait().unwrap().is_none(), "it ended before a third run was spilled");
        std::thread::sleep(Duration::from_millis(2));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    yearbook.run(&["gc"]).ok();
    assert_eq!(files_below(&temporary), [""; 0].map(std::path::PathBuf::from));
    assert_eq!(files_below(&yearbook.path("yearbook-data/objects")).len(), 0);

    let mut publishing = start(&yearbook, &arguments, &temporary);
    let (mut peak, mut spilled) = (0, 0);
    while publishing.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "publishing hangs");
        peak = peak.max(peak_kib(&publishing).unwrap_or(0));
        spilled = spilled.max(open_files(&publishing, &temporary));
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = CommandOutput::from_output(publishing.wait_with_output().unwrap()).ok();
    assert!(said.stdout.ends_with(&format!(", {ROWS} rows, new\n")), "{}", said.stdout);
    println!("{peak} KiB at most, {spilled} temporary files");
    assert!(spilled > 4, "{spilled} temporary files");
    assert!(peak < PEAK_KIB, "{peak} KiB of memory where {PEAK_KIB} are allowed");
    assert_eq!(files_below(&temporary).len(), 0);
}

/// Waits for a process to end; what it said and its most memory in KiB.
fn watch(mut child: Child) -> (CommandOutput, u64) {
    let (begun, mut peak) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "publishing hangs");
        peak = peak.max(peak_kib(&child).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    (CommandOutput::from_output(child.wait_with_output().unwrap()), peak)
}

#[test]
fn a_quote_that_is_never_closed_takes_bounded_memory_contract_7() {
    let yearbook = Yearbook::new();
    let (mut file, arguments) = write_package(&yearbook);
    file.write_all(b"code,note\na,b\nc,\"").unwrap();
    // Zeros that take no room on disk.
    file.set_len(2 << 30).unwrap();
    let (said, peak) = watch(start(&yearbook, &arguments, &yearbook.path("temporary")));
    let said = said.failed(1);
    println!("{peak} KiB at most");
    let cell = |name: &str| said.lines().any(|line| line.contains(name) && line.contains("2  "));
    assert!(cell("note") && said.contains("belongs to a record of over 32 MiB"), "{said}");
    assert!(peak < PEAK_KIB, "{peak} KiB of memory where {PEAK_KIB} are allowed");
}

#[test]
fn too_little_memory_for_publishing_is_an_error_that_names_the_least() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    let said = yearbook.run(&["publish", "tiny", "--memory-bytes", "1000"]).failed(1);
    assert!(
        said.contains("`publish.memory_bytes` must be a whole number of at least 67108864")
            && said.contains("--memory-bytes"),
        "{said}"
    );
    yearbook.write("yearbook.toml", "[publish]\nmemory_bytes = 67108864\n");
    yearbook.run(&["publish", "tiny"]).ok();
}
