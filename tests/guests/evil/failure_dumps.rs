//! Failure dumps of attacks: replayed, they fail as before on the component that failed, and on no
//! other.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::reader::StreamReader;
use futures::StreamExt;
use tempfile::TempDir;
use yearbook_releases::{DumpFolder, read_dump, write_dump};
use yearbook_sandbox::{
    Batches, ComponentRejection, EncodedBody, FailureDump, GuestError, Limits, Plugin,
    PluginEncoder, Sandbox, SandboxConfig,
};
use yearbook_shares::CallerShare;
use yearbook_tests::components::sandbox;
use yearbook_workers::Workers;

use crate::attack_arena::sandbox_limits;
use crate::exclusive;
use crate::guest::{GeneratorGuest, Guest, TransformGuest, bare_request};
use crate::list::attacks;
use crate::list::transforms::transform_attacks;
use crate::transform_arena::Table;

/// Chunks of a response: enough for every attack.
fn rows() -> (Schema, Vec<RecordBatch>) {
    let field =
        Field::new("place", DataType::Utf8, true).with_metadata([("yearbook.role", "dimension")]);
    let schema = Schema::new(vec![field])
        .with_metadata([("yearbook.attribution", "© A"), ("yearbook.dataset", "parks")]);
    let batch = |first: &str| {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(first), None, Some("ccc")]));
        RecordBatch::try_new(Arc::new(schema.clone()), vec![texts]).unwrap()
    };
    let batches = ["one", "two", "three"].map(batch).to_vec();
    (schema, batches)
}

/// Returns the failure dump of a plugin that is loaded and called once.
fn dump_of(sandbox: &Arc<Sandbox>, component: &[u8]) -> Option<Box<FailureDump>> {
    let (schema, batches) = rows();
    match sandbox.load_with_dump(component) {
        Err((_, dump)) => dump,
        Ok(Plugin::Adapter(_)) => None,
        Ok(Plugin::Encoder(encoder)) => {
            encoder.trial(&schema, &[], &batches, false).err().and_then(|failed| failed.dump)
        }
        Ok(Plugin::Generator(generator)) => {
            generator.trial(&bare_request()).err().and_then(|failed| failed.dump)
        }
        Ok(Plugin::Reader(reader)) => {
            let example = &reader.description().example;
            reader.trial(&[], &[], &[example]).err().and_then(|failed| failed.dump)
        }
        Ok(Plugin::Transform(transform)) => {
            let table = Table::new(&["2020-06-01", "2021-06-01"], 100);
            let codes = |_: &str| Some(["north", "south"].map(str::to_owned).to_vec());
            let tried = transform.trial(&table.schema, &[], codes, &table.batches());
            tried.err().and_then(|failed| failed.dump)
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn in_folder(limits: Limits, folder: &Path) -> Arc<Sandbox> {
    let folder = DumpFolder::open(folder).unwrap();
    Sandbox::new(
        &SandboxConfig { limits, dump_sink: Some(Arc::new(folder)), ..SandboxConfig::default() },
        Workers::new(2),
    )
    .unwrap()
}

#[test]
fn every_failure_of_an_attack_fails_again_from_its_file() {
    let _alone = exclusive();
    let (sandbox, folder) = (sandbox(sandbox_limits()), TempDir::new().unwrap());
    let mut ways = BTreeSet::new();
    for attack in attacks() {
        let component = attack.component();
        let Some(dump) = dump_of(&sandbox, &component) else { continue };
        let read = read_dump(&write_dump(&dump, folder.path()).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", attack.name));
        assert_eq!(
            (&read.about, &read.batch, &read.notes),
            (&dump.about, &dump.batch, &dump.notes),
            "{}",
            attack.name
        );
        let again = sandbox
            .replay(&component, &read)
            .unwrap_or_else(|error| panic!("{}: {error}", attack.name));
        let failed = again.failed.as_ref().unwrap_or_else(|| panic!("{} succeeds", attack.name));
        assert!(again.reproduces(&read), "{}: {failed:?}\nnot {:?}", attack.name, read.about);
        assert_eq!(failed.failure, read.about.failure, "{}", attack.name);
        assert_eq!(again.log, read.about.log, "{}", attack.name);
        ways.insert(format!("{} {}", read.about.call, read.about.failure.kind));
    }
    let kinds: BTreeSet<&str> =
        ways.iter().filter_map(|way| way.split_once(' ')).map(|(_, kind)| kind).collect();
    let all = [
        "amplification",
        "bad_description",
        "bad_output",
        "cpu",
        "internal",
        "invalid_option",
        "memory",
        "notes",
        "output",
        "reference",
        "stack",
    ];
    let all: BTreeSet<&str> = all.into_iter().chain(["unsupported_schema", "wasm"]).collect();
    assert_eq!(kinds, all, "{ways:?}");
    assert!(
        ["describe", "open", "head", "part", "tail", "generate"]
            .iter()
            .all(|call| ways.contains(&format!("{call} cpu"))),
        "{ways:?}"
    );
}

#[test]
fn every_failure_of_a_transform_fails_again_from_its_file_contract_16() {
    let _alone = exclusive();
    let (sandbox, folder) = (sandbox(sandbox_limits()), TempDir::new().unwrap());
    let mut ways = BTreeSet::new();
    for attack in transform_attacks() {
        let name = &attack.name;
        // What fails by what came before is not in a dump, and results without end take seconds.
        if name.contains("late") || name.contains("endless") {
            continue;
        }
        let component = attack.component();
        let Some(dump) = dump_of(&sandbox, &component) else { continue };
        let read = read_dump(&write_dump(&dump, folder.path()).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((&read.about, &read.batch), (&dump.about, &dump.batch), "{name}");
        let again = sandbox.replay(&component, &read).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(again.reproduces(&read), "{name}: {:?}\nnot {:?}", again.failed, read.about);
        ways.insert(format!("{} {}", read.about.call, read.about.failure.kind));
    }
    for call in ["describe", "plan", "open", "output", "prime", "push", "finish"] {
        assert!(ways.contains(&format!("{call} cpu")), "{call}: {ways:?}");
    }
    for kind in ["too_large", "unsupported_rows", "bad_output", "invalid_option", "internal"] {
        assert!(ways.contains(&format!("push {kind}")), "{kind}: {ways:?}");
    }
    let broken = TransformGuest::named("mended").does("push", "(unreachable)").build();
    let dump = dump_of(&sandbox, &broken).unwrap();
    let mended = sandbox.replay(&TransformGuest::named("mended").build(), &dump).unwrap();
    assert!(mended.failed.is_none() && mended.bytes > 0, "{mended:?}");
    assert!(sandbox.replay(&Guest::named("mended").build(), &dump).is_err(), "another kind");
}

#[test]
fn a_wait_by_the_clock_on_the_wall_fails_again_too() {
    let _alone = exclusive();
    let sandbox =
        sandbox(Limits { cpu_ms_per_call: 60_000, wall_ms_per_call: 80, ..sandbox_limits() });
    let component = Guest::named("slow").does("part", "(call $spin)").build();
    let dump = dump_of(&sandbox, &component).unwrap();
    assert_eq!(dump.about.failure.kind, "wall");
    assert!(sandbox.replay(&component, &dump).unwrap().reproduces(&dump));
}

#[test]
fn a_plugin_that_was_mended_succeeds_on_the_dump_of_the_broken_one_and_another_fault_differs() {
    let _alone = exclusive();
    let sandbox = sandbox(sandbox_limits());
    let trap = "(unreachable)";
    for (call, returned) in [("describe", 0), ("open", 0), ("head", 5), ("part", 5), ("tail", 4)] {
        let dump = dump_of(&sandbox, &Guest::named("mended").does(call, trap).build()).unwrap();
        assert_eq!((dump.about.call.name(), dump.about.failure.kind.as_str()), (call, "wasm"));
        let mended = sandbox.replay(&Guest::named("mended").build(), &dump).unwrap();
        assert!(mended.failed.is_none(), "{call}: {:?}", mended.failed);
        assert_eq!(mended.bytes, returned, "{call}");
        let other = sandbox
            .replay(&Guest::named("mended").does(call, "(call $recurse)").build(), &dump)
            .unwrap();
        assert!(
            !other.reproduces(&dump)
                && other.failed.is_some_and(|failed| failed.failure.kind == "stack"),
            "{call}"
        );
        let generator = sandbox.replay(&GeneratorGuest::named("mended").build(), &dump);
        assert!(
            call == "describe"
                || generator.is_err_and(|error| error.to_string().contains("of the kind encoder")),
            "{call}"
        );
        assert!(sandbox.replay(b"\0asm", &dump).is_err());
    }
    let dump = dump_of(&sandbox, &GeneratorGuest::named("tool").does(trap).build()).unwrap();
    let mended = sandbox.replay(&GeneratorGuest::named("tool").build(), &dump).unwrap();
    assert!(mended.failed.is_none() && mended.bytes == 1, "{mended:?}");
}

#[test]
fn a_tail_is_given_the_last_rows_and_every_note_again() {
    let _alone = exclusive();
    let sandbox = sandbox(sandbox_limits());
    // A note of three bytes at every part.
    let part = "(call $piece (i32.const 528) (i32.const 5) (i32.const 544) (i32.const 3))";
    let component = Guest::named("noted").does("part", part).does("tail", "(unreachable)").build();
    let dump = dump_of(&sandbox, &component).unwrap();
    let notes = [(5, b"tai".to_vec()), (10, b"tai".to_vec()), (15, b"tai".to_vec())];
    assert_eq!((dump.notes.as_slice(), dump.batch.as_ref()), (&notes[..], rows().1.last()));
    assert_eq!((dump.about.before.head, dump.about.before.parts), (true, 3));
    // The tail fails for three notes alone: the list's length is its last argument.
    let picky = "(if (result i32) (i32.eq (local.get 2) (i32.const 3)) (then (unreachable)) (else (call $list (i32.const 544) (i32.const 4))))";
    let picky = Guest::named("noted").does("part", part).does("tail", picky).build();
    assert!(sandbox.replay(&picky, &dump).unwrap().reproduces(&dump));
}

#[test]
fn any_reader_of_arrow_sees_the_rows_their_metadata_and_one_object() {
    let _alone = exclusive();
    let folder = TempDir::new().unwrap();
    let log = "(call $log (i32.const 4) (i32.const 512) (i32.const 4)) (unreachable)";
    let dump =
        dump_of(&sandbox(sandbox_limits()), &Guest::named("plain").does("part", log).build())
            .unwrap();
    let path = write_dump(&dump, folder.path()).unwrap();
    let mut reader = StreamReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    assert_eq!(schema.field(0), rows().0.field(0));
    assert_eq!(schema.metadata()["yearbook.attribution"], "© A");
    assert!(schema.metadata().iter().all(|(key, _)| key.starts_with("yearbook.")), "{schema:?}");
    let about: serde_json::Value =
        serde_json::from_str(&schema.metadata()["yearbook.dump"]).unwrap();
    assert_eq!(
        (&about["version"], &about["call"], &about["failure"]["kind"]),
        (&1.into(), &"part".into(), &"wasm".into())
    );
    assert_eq!(about["log"], serde_json::json!([{ "level": "error", "message": "head" }]));
    assert_eq!(about["limits"]["cpu_ms_per_call"], crate::list::limits::CPU_MS);
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.columns(), rows().1[0].columns());
    assert!(reader.next().is_none());
}

/// Asks as a server does.
async fn ask(encoder: &Arc<PluginEncoder>) -> Result<bool, GuestError> {
    let (schema, batches) = rows();
    let batches: Batches = futures::stream::iter(batches.into_iter().map(Ok)).boxed();
    match encoder.encode(&CallerShare::default(), schema.into(), &[], batches).await? {
        EncodedBody::Whole(_) => Ok(true),
        EncodedBody::Stream(chunks) => {
            Ok(chunks.all(|chunk| std::future::ready(chunk.is_ok())).await)
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_host_keeps_one_file_for_each_way_of_failing_readable_by_its_user_alone() {
    let _alone = exclusive();
    let folder = TempDir::new().unwrap();
    let dump_folder = folder.path().join("made/dumps");
    // So that one instance sees every part.
    let sandbox = in_folder(Limits { parallel_parts: 1, ..sandbox_limits() }, &dump_folder);
    let early =
        sandbox.load_encoder(&Guest::named("early").does("part", "(unreachable)").build()).unwrap();
    let late = sandbox
        .load_encoder(&Guest::named("late").does("tail", "(call $recurse)").build())
        .unwrap();
    let refusing = sandbox.load_encoder(
        &Guest::named("no")
            .does("open", "(call $fail (i32.const 0) (i32.const 512) (i32.const 4))")
            .build(),
    );
    let refusing = refusing.unwrap();
    let tool = sandbox
        .load_generator(&GeneratorGuest::named("tool").does("(unreachable)").build())
        .unwrap();
    for _ in 0..3 {
        assert!(matches!(ask(&early).await, Err(GuestError::Trapped { .. })));
        assert!(!ask(&late).await.unwrap(), "cut off");
        assert!(matches!(ask(&refusing).await, Err(GuestError::Declined(_))));
        assert!(tool.generate(&CallerShare::default(), bare_request()).await.is_err());
        assert!(
            sandbox.load(&Guest::named("mute").does("describe", "(call $spin)").build()).is_err()
        );
    }
    let dumps = files(&dump_folder);
    let mut ways: Vec<&str> = dumps
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().1)
        .collect();
    ways.sort_unstable();
    let ways_of = ["describe-cpu", "generate-wasm", "part-wasm", "tail-stack"]
        .map(|way| format!("{way}.dump.arrow"));
    assert_eq!(ways, ways_of);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dump_folder), 0o700);
    for path in &dumps {
        assert_eq!(mode(path), 0o600, "{}", path.display());
        let dump = read_dump(path).unwrap();
        assert!(
            dump.about.component.digest.as_str().starts_with(
                path.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().0
            )
        );
    }
    let tail = dumps.iter().find(|path| path.display().to_string().contains("tail-")).unwrap();
    assert_eq!(read_dump(tail).unwrap().batch.unwrap().columns(), rows().1[2].columns());
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_dump_that_cannot_be_written_changes_no_answer() {
    let _alone = exclusive();
    let folder = TempDir::new().unwrap();
    let dump_folder = folder.path().join("dumps");
    let sandbox = in_folder(sandbox_limits(), &dump_folder);
    std::fs::remove_dir(&dump_folder).unwrap();
    let encoder = sandbox
        .load_encoder(&Guest::named("homeless").does("head", "(unreachable)").build())
        .unwrap();
    for _ in 0..2 {
        assert!(matches!(ask(&encoder).await, Err(GuestError::Trapped { .. })));
    }
    assert!(!dump_folder.exists());
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = DumpFolder::open(&file.join("dumps")).err().unwrap();
    assert!(refused.to_string().contains("plugins.dumps"), "{refused}");
}

#[test]
fn memory_that_others_hold_is_no_failure_of_a_plugin() {
    let _alone = exclusive();
    let sandbox = sandbox(Limits { total_memory_bytes: 1, ..sandbox_limits() });
    let (rejected, dump) = sandbox.load_with_dump(&Guest::named("late").build()).err().unwrap();
    assert!(matches!(rejected, ComponentRejection::Busy) && dump.is_none(), "{rejected}");
}
