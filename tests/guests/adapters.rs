//! The sandbox against adapters: what crosses, and what becomes of one that misbehaves
//! (`plugins/evil-adapter`).

use std::sync::Arc;

use yearbook_sandbox::adapter::{Document, Framing, Method, Reply, Request, Segment};
use yearbook_sandbox::catalogue::{Credit, Fact, Known, Problem, Refusal};
use yearbook_sandbox::{
    AdapterAnswer, AdapterCall, AdapterInput, FailureDump, GuestError, Limits, PluginAdapter,
    ResponseOutcome, Trap, TrapKind,
};
use yearbook_shares::CallerShare;
use yearbook_tests::components::{component, sandbox};

fn evil(limits: Limits) -> Arc<PluginAdapter> {
    sandbox(limits).load_adapter(&component("evil-adapter")).unwrap()
}

fn request(path: &str) -> Request {
    Request {
        method: Method::Get,
        base: "https://data.example.org/api/evil".to_owned(),
        path: path.split('/').map(str::to_owned).collect(),
        query: Vec::new(),
        headers: Vec::new(),
        body: Vec::new(),
    }
}

fn known(rows: Option<u64>) -> Known {
    Known {
        rows,
        total: rows,
        snapshot: "s".to_owned(),
        published_at: "2026-01-01T00:00:00Z".to_owned(),
        credit: Credit {
            source: "s".to_owned(),
            source_url: None,
            licence: "l".to_owned(),
            licence_url: None,
            attribution: "a".to_owned(),
        },
        modified: None,
        next: None,
        truncated: false,
        citation: String::new(),
        columns: Vec::new(),
    }
}

fn refusal(status: u16) -> Refusal {
    let problem = Problem { place: vec!["query".to_owned()], sentence: "no".to_owned() };
    Refusal { status, code: "c".to_owned(), problems: vec![problem], retry_after: None }
}

async fn answer(adapter: &Arc<PluginAdapter>, path: &str) -> Result<Reply, GuestError> {
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(request(path)));
    calls.answer(&Arc::default()).await
}

async fn frame(
    adapter: &Arc<PluginAdapter>,
    path: &str,
    rows: Option<u64>,
) -> Result<Framing, GuestError> {
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(request(path)));
    calls.frame(&Arc::default(), known(rows)).await
}

async fn refuse(
    adapter: &Arc<PluginAdapter>,
    path: &str,
    status: u16,
) -> Result<Document, GuestError> {
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(request(path)));
    calls.refuse(refusal(status)).await
}

#[track_caller]
fn breaks<T: std::fmt::Debug>(made: Result<T, GuestError>, rule: &str) {
    match made {
        Err(GuestError::Output { rule: found, .. }) => {
            assert!(found.contains(rule), "{found} instead of {rule}");
        }
        made => panic!("{made:?} instead of {rule}"),
    }
}

fn text(reply: Reply) -> String {
    match reply {
        Reply::Document(document) => String::from_utf8(document.body).unwrap(),
        reply => panic!("{reply:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_breaks_a_rule_is_the_plugins_failure_contract_17() {
    let adapter = evil(Limits::default());
    assert_eq!(text(answer(&adapter, "none").await.unwrap()), "fine");
    for (path, rule) in [
        ("ask-nothing", "0 questions"),
        ("ask-much", "2000 questions"),
        ("ask-longly", "questions of more than"),
        ("flood", "a body of"),
        ("status/101", "status 101"),
        ("status/304", "status 304"),
        ("status/429", "status 429"),
        ("status/999", "status 999"),
        ("type/text/html", "browsers run"),
        ("type/application/xhtml+xml", "browsers run"),
        ("type/image/svg+xml", "browsers run"),
        ("type/text/javascript", "browsers run"),
        ("type/multipart/x-mixed-replace", "browsers run"),
        ("header", "media type"),
        ("language", "language"),
        ("location", "303 without a path of this service"),
        ("link", "leads out of this service"),
        ("links", "17 links"),
        ("body", "a body with status 204"),
        ("file-name", "file name"),
        ("rows-type", "browsers run"),
        ("rows-much", "a selection of more than"),
    ] {
        breaks(answer(&adapter, path).await, rule);
    }
    for (path, rule) in [
        ("frame/before", "bytes before or after"),
        ("frame/after", "bytes before or after"),
        ("frame/segments", "segments after rows"),
        ("frame/link", "leads out of this service"),
        ("frame/instead", "in place of rows that there are"),
    ] {
        breaks(frame(&adapter, path, Some(3)).await, rule);
    }
    breaks(frame(&adapter, "frame/instead", None).await, "in place of rows that there are");
    assert!(matches!(
        frame(&adapter, "frame/instead", Some(0)).await,
        Ok(Framing::Instead(document)) if document.body == b"no rows"
    ));
    let framing = frame(&adapter, "frame/fine", Some(3)).await.unwrap();
    let Framing::Wrap(wrapping) = framing else { panic!("{framing:?}") };
    assert_eq!(wrapping.before, b"<");
    assert_eq!(wrapping.after, [Segment::Bytes(b">".to_vec())]);
    breaks(refuse(&adapter, "refuse/html", 404).await, "browsers run");
    breaks(refuse(&adapter, "refuse/status/101", 404).await, "status 101");
    assert_eq!(refuse(&adapter, "refuse", 503).await.unwrap().status, 503);
}

#[test]
fn an_adapter_that_wants_credentials_is_not_loaded_contract_17() {
    for (declared, wanted) in [("x-evil", "cookie"), ("x-evil", "X-Evil"), ("api_key", "api;key")] {
        let mut bytes = component("evil-adapter");
        let found = |window: &[u8]| window == declared.as_bytes();
        let at = bytes.windows(declared.len()).position(found).unwrap();
        bytes[at..at + wanted.len()].copy_from_slice(wanted.as_bytes());
        let rejected = sandbox(Limits::default()).load_adapter(&bytes).err().unwrap();
        let sentence = rejected.to_string();
        let field = if declared == "x-evil" { "headers" } else { "key_parameter" };
        assert!(sentence.contains(field), "{wanted}: {sentence}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adapter_that_runs_into_a_limit_is_stopped_contract_17() {
    let limits = Limits { cpu_ms_per_call: 1_000, ..Limits::default() };
    let adapter = evil(limits);
    for path in ["panic", "recurse"] {
        let stopped = answer(&adapter, path).await;
        assert!(matches!(stopped, Err(GuestError::Trapped { .. })), "{path}: {stopped:?}");
    }
    assert!(matches!(frame(&adapter, "x/panic", None).await, Err(GuestError::Trapped { .. })));
    assert!(matches!(refuse(&adapter, "x/panic", 404).await, Err(GuestError::Trapped { .. })));
    for (path, trap) in [
        ("spin", Trap::Cpu(1_000)),
        ("memory", Trap::Memory(limits.memory_bytes)),
        ("flood-more", Trap::Output(limits.output_bytes_per_call)),
    ] {
        let stopped = answer(&adapter, path).await.unwrap_err();
        assert_eq!(stopped.trap(), Some(&trap), "{path}: {stopped}");
        assert!(stopped.is_failure_of_the_plugin(), "{path} is small, and has no parameter");
    }
    // What a client chose may be what is too much.
    let chosen = Request { query: vec![("a".to_owned(), "b".to_owned())], ..request("memory") };
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(chosen));
    let stopped = calls.answer(&Arc::default()).await.unwrap_err();
    assert!(matches!(stopped, GuestError::TooLarge { .. }), "{stopped:?}");
    assert_eq!(adapter.free_instances(), Limits::default().instances as usize);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_calls_of_a_request_have_the_time_of_one_contract_17() {
    let adapter = evil(Limits { cpu_ms_per_call: 500, ..Limits::default() });
    let mut millions = 100;
    // Two fit until one takes more than half of the time, and then less than all of it.
    loop {
        let request = Arc::new(request(&format!("spend/{millions}")));
        let mut calls = adapter.calls(CallerShare::default(), request);
        calls.answer(&Arc::default()).await.unwrap();
        if let Err(stopped) = calls.answer(&Arc::default()).await {
            assert_eq!(stopped.trap(), Some(&Trap::Cpu(500)), "{stopped}");
            return;
        }
        millions += millions / 2;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_call_leaves_behind_reaches_the_next_contract_17() {
    let adapter = evil(Limits::default());
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(request("remember")));
    assert!(
        matches!(calls.answer(&Arc::default()).await, Ok(Reply::Ask(asked)) if asked.len() == 1)
    );
    let facts = Arc::new(vec![Fact::Formats(Vec::new())]);
    for _ in 0..2 {
        let said = text(calls.answer(&facts).await.unwrap());
        assert!(said.starts_with("1 "), "{said}: each call is the first of its instance");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_request_count_as_one_response_contract_17() {
    let adapter = evil(Limits { cpu_ms_per_call: 1_000, ..Limits::default() });
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(request("remember")));
    assert!(matches!(calls.answer(&Arc::default()).await, Ok(Reply::Ask(_))));
    calls.answer(&Arc::new(vec![Fact::Formats(Vec::new())])).await.unwrap();
    drop(calls);
    // A client that goes away while the adapter waits for its answers.
    let mut calls = adapter.calls(CallerShare::default(), Arc::new(request("remember")));
    assert!(matches!(calls.answer(&Arc::default()).await, Ok(Reply::Ask(_))));
    drop(calls);
    assert!(answer(&adapter, "spin").await.is_err());
    assert!(answer(&adapter, "header").await.is_err());
    let counts = adapter.metrics().counts();
    let outcome = |outcome| counts.outcome(outcome);
    assert_eq!((counts.begun, outcome(ResponseOutcome::Completed)), (4, 1));
    assert_eq!((counts.trap(TrapKind::Cpu), outcome(ResponseOutcome::BadOutput)), (1, 1));
    assert_eq!((outcome(ResponseOutcome::Abandoned), counts.instances), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_may_bring_a_format_that_nobody_else_can_name_contract_17() {
    let sandbox = sandbox(Limits::default());
    let plugin = sandbox.load(&component("evil-adapter")).unwrap();
    let plugins = yearbook_sandbox::PluginSet::new([&plugin], []);
    let adapter = plugins.adapter("evil").unwrap();
    let own = adapter.encoder().unwrap();
    assert_eq!((own.name(), own.digest()), ("evil", adapter.digest()));
    assert!(plugins.encoder("evil").is_none() && plugins.data_formats().is_empty());
    let schema = arrow::datatypes::Schema::new(vec![arrow::datatypes::Field::new(
        "region",
        arrow::datatypes::DataType::Utf8,
        false,
    )]);
    let texts = Arc::new(arrow::array::StringArray::from(vec!["north", "south"]));
    let batch = arrow::array::RecordBatch::try_new(Arc::new(schema.clone()), vec![texts]).unwrap();
    let made = own.trial(&schema, &[], &[batch], false).unwrap();
    assert_eq!(made.response(Some(b"")), b"north\nsouth\n");
}

#[test]
fn a_failed_call_leaves_a_dump_that_fails_again_contract_17() {
    let sandbox = sandbox(Limits::default());
    let bytes = component("evil-adapter");
    let adapter = sandbox.load_adapter(&bytes).unwrap();
    let fails = |path: &str, call: AdapterCall| -> FailureDump {
        let input = AdapterInput { request: Arc::new(request(path)), call };
        let failed = adapter.trial(&input).unwrap_err();
        let dump = *failed.dump.unwrap();
        assert_eq!(dump.adapter.as_ref(), Some(&input));
        dump
    };
    let facts = Arc::new(vec![Fact::Formats(Vec::new())]);
    for dump in [
        fails("header", AdapterCall::Answer(Arc::clone(&facts))),
        fails("frame/before", AdapterCall::Frame(facts, known(Some(1)))),
        fails("refuse/html", AdapterCall::Refuse(refusal(404))),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = yearbook_releases::write_dump(&dump, folder.path()).unwrap();
        let read = yearbook_releases::read_dump(&path).unwrap();
        assert_eq!(read.adapter, dump.adapter);
        assert!(sandbox.replay(&bytes, &read).unwrap().reproduces(&read));
    }
    let fine = AdapterInput {
        request: Arc::new(request("none")),
        call: AdapterCall::Answer(Arc::default()),
    };
    let (made, usage) = adapter.trial(&fine).unwrap();
    assert!(matches!(made, AdapterAnswer::Reply(Reply::Document(_))) && usage.output_bytes == 4);
}
