//! Failure dumps that are damaged, cut, forged or of another program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{ArrayRef, DictionaryArray, Float64Array, Int64Array};
use arrow::datatypes::{DataType, Field, Int32Type};
use arrow::ipc::CompressionType;
use arrow::ipc::writer::IpcWriteOptions;
use serde_json::{Value, json};
use yearbook_domain::{Digest, Plan, PlanTable, PluginKind};

use yearbook_sandbox::{
    FailingComponent, FailureReason, GeneratorRequest, GuestLogLine, InstanceProgress,
    OptionScalar as Option, OptionValue,
};

use super::*;

/// A dump of a release that has only begun.
fn empty_dump(kind: PluginKind, name: &str, options: Vec<OptionValue>) -> FailureDump {
    let component = FailingComponent {
        kind,
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        digest: Digest::parse(&"0a".repeat(32)).unwrap(),
    };
    let about = DumpMetadata {
        version: DUMP_VERSION,
        component,
        call: GuestFunction::Describe,
        failure: FailureReason { kind: String::new(), message: String::new() },
        log: Vec::new(),
        options,
        requests: Vec::new(),
        codes: Vec::new(),
        before: InstanceProgress::default(),
        limits: Limits::default(),
    };
    FailureDump {
        about,
        schema: Schema::empty().into(),
        batch: None,
        notes: Vec::new(),
        request: None,
        adapter: None,
    }
}

fn dump() -> FailureDump {
    let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = vec![
        Field::new("t", text, true).with_metadata([("yearbook.role", "key")]),
        Field::new("n", DataType::Float64, true),
    ];
    let schema = Schema::new(fields).with_metadata([("yearbook.dataset", "d")]);
    let options = [
        ("a", Option::Text("1".into())),
        ("b", Option::Integer(1)),
        ("c", Option::Number(1.0)),
        ("d", Option::Boolean(true)),
    ];
    let options = options.map(|(name, value)| OptionValue { name: name.to_owned(), value });
    let mut dump = empty_dump(PluginKind::Encoder, "csv", options.to_vec());
    dump.schema = Arc::new(schema.clone());
    let texts: ArrayRef =
        Arc::new([Some("x"), None, Some("x")].into_iter().collect::<DictionaryArray<Int32Type>>());
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(f64::MAX)]));
    dump.batch = Some(RecordBatch::try_new(Arc::new(schema), vec![texts, numbers]).unwrap());
    dump.notes = vec![(0, b"\0\xff".to_vec()), (u64::MAX, vec![7; 100])];
    dump.about.call = GuestFunction::Part;
    dump.about.failure = FailureReason { kind: "wasm".to_owned(), message: "trapped".to_owned() };
    dump.about.log =
        vec![GuestLogLine { level: "error".to_owned(), message: "panicked".to_owned() }];
    dump.about.before.allowance = usize::MAX >> 1;
    dump
}

fn written(dump: &FailureDump) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(dump, &mut bytes).unwrap();
    bytes
}

fn opened(bytes: &[u8]) -> Result<FailureDump, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.dump.arrow");
    std::fs::write(&path, bytes).unwrap();
    read_dump(&path).map_err(|error| error.to_string())
}

/// The file after what `spoil` does to its description.
fn forged(dump: &FailureDump, spoil: impl Fn(&mut Value)) -> Vec<u8> {
    let mut about = serde_json::to_value(&dump.about).unwrap();
    spoil(&mut about);
    let text = about.to_string();
    let schema = Schema::new(dump.schema.fields().clone()).with_metadata([(ABOUT, text.as_str())]);
    let schema = Arc::new(schema);
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &schema).unwrap();
    if let Some(batch) = &dump.batch {
        writer.write(&RecordBatch::try_new(schema, batch.columns().to_vec()).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[test]
fn what_is_written_is_read() {
    let dump = dump();
    let read = opened(&written(&dump)).unwrap();
    assert_eq!(
        (&read.about, &read.schema, &read.batch, &read.notes),
        (&dump.about, &dump.schema, &dump.batch, &dump.notes)
    );
    assert_eq!(dump.file_name(), "0a0a0a0a0a0a0a0a-part-wasm.dump.arrow");
}

#[test]
fn a_generators_request_is_read_as_it_was_and_there_are_no_columns() {
    let request = GeneratorRequest {
        base_url: "https://data.example.org".to_owned(),
        plan: Plan::Pro,
        limits: PlanTable::default().pro,
        datasets: Vec::new(),
        options: vec![OptionValue { name: "n".to_owned(), value: Option::Number(2.0) }],
    };
    let mut dump = empty_dump(PluginKind::Generator, "dbt", Vec::new());
    dump.request = Some(request.clone());
    dump.about.call = GuestFunction::Generate;
    let read = opened(&written(&dump)).unwrap();
    assert_eq!(format!("{:?}", read.request), format!("{:?}", Some(request)));
    assert_eq!((read.schema.fields().len(), read.batch), (0, None));
}

#[test]
fn a_file_that_is_cut_anywhere_is_no_dump() {
    let whole = written(&dump());
    for length in 0..whole.len() {
        assert!(opened(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn a_file_with_one_wrong_byte_is_read_or_refused_in_one_line() {
    let whole = written(&dump());
    let mut refused = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
        if let Err(reason) = opened(&bytes) {
            assert!(
                reason.len() < 5_000 && !reason.contains(char::is_control),
                "byte {at}: {reason:?}"
            );
            refused += 1;
        }
    }
    assert!(refused > whole.len() / 3, "{refused} of {} bytes", whole.len());
}

#[test]
fn what_was_forged_is_refused_for_what_is_wrong() {
    let good = dump();
    assert!(opened(&forged(&good, |_| {})).is_ok());
    type Spoil = fn(&mut Value);
    let cases: [(&str, Spoil); 12] = [
        ("version 2, and this program reads version 1", |about| {
            about["version"] = json!(2);
            about["more"] = json!(true);
        }),
        ("says no version", |about| about["version"] = json!("1")),
        ("unknown field `more`", |about| about["more"] = json!(true)),
        ("missing field `call`", |about| drop(about.as_object_mut().unwrap().remove("call"))),
        ("unknown variant", |about| about["call"] = json!("drop")),
        ("none of its plugin's kind", |about| about["call"] = json!("generate")),
        ("none of its plugin's kind", |about| about["component"]["kind"] = json!("generator")),
        ("a digest is 64 digits", |about| about["component"]["digest"] = json!("../../etc/passwd")),
        ("limit memory_bytes is 9223372036854775807", |about| {
            about["limits"]["memory_bytes"] = json!(i64::MAX)
        }),
        ("expected a whole number from 65536 to 16777216", |about| {
            about["limits"]["stack_bytes"] = json!(64 << 20)
        }),
        ("limit cpu_ms_per_call", |about| about["limits"]["cpu_ms_per_call"] = json!(u64::MAX)),
        ("unknown field `fuel`", |about| about["limits"]["fuel"] = json!(1)),
    ];
    for (reason, spoil) in cases {
        let found = opened(&forged(&good, spoil)).err().unwrap_or_else(|| panic!("{reason}"));
        assert!(found.contains(reason), "{found}");
    }
    let rowless = FailureDump { batch: None, ..good.clone() };
    assert!(opened(&forged(&rowless, |_| {})).unwrap_err().contains("the part has no rows"));
    let spoken =
        forged(&good, |about| about["failure"]["message"] = json!("a\u{1b}[2J\r\nb\u{202e}c"));
    assert_eq!(opened(&spoken).unwrap().about.failure.message, "a [2J  b c");
}

#[test]
fn what_is_no_dump_is_told_why() {
    assert!(opened(b"").unwrap_err().contains("its end is missing"));
    assert!(opened(b"PAR1 and more").unwrap_err().contains("its end is missing"));
    assert!(opened(&END).unwrap_err().contains("no Arrow IPC stream"));
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
    let stream = |batches: usize, schema: &Arc<Schema>| {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, schema).unwrap();
        (0..batches).for_each(|_| {
            writer.write(&batch.clone().with_schema(Arc::clone(schema)).unwrap()).unwrap()
        });
        writer.finish().unwrap();
        bytes
    };
    assert!(opened(&stream(1, &batch.schema())).unwrap_err().contains("no dump"));
    let about = serde_json::to_string(&dump().about).unwrap();
    let schema = Arc::new(
        Schema::new(batch.schema().fields().clone()).with_metadata([(ABOUT, about.as_str())]),
    );
    assert!(opened(&stream(2, &schema)).unwrap_err().contains("more than one batch"));
    let mut packed = Vec::new();
    let options =
        IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut writer = StreamWriter::try_new_with_options(&mut packed, &schema, options).unwrap();
    writer.write(&batch.clone().with_schema(Arc::clone(&schema)).unwrap()).unwrap();
    writer.finish().unwrap();
    drop(writer);
    assert!(opened(&packed).unwrap_err().contains("compressed"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    std::fs::File::create(&path).unwrap().set_len(MAX_DUMP_BYTES + 1).unwrap();
    assert!(matches!(read_dump(&path), Err(DumpReadError::TooLarge)));
    assert!(matches!(read_dump(&folder.path().join("absent")), Err(DumpReadError::Io(_))));
}

#[test]
fn what_would_be_too_large_is_not_written_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let large = FailureDump { notes: vec![(0, vec![0; 100 << 20])], ..dump() };
    assert!(write_dump(&large, folder.path()).unwrap_err().to_string().contains("too large"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
