//! The sandbox against real components: what a response looks like, and what becomes of a guest
//! that misbehaves (`plugins/evil`).

mod batching;
mod capacity;
mod formats;
mod metrics;
mod slow_clients;

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use futures::StreamExt;
use yearbook_sandbox::{
    Batches, BoxError, ComponentRejection, EncodedBody, EncodedChunk, GuestError, Limits,
    OptionScalar, OptionValue, PluginEncoder, Trap, TruncatedBody,
};
use yearbook_shares::CallerShare;
use yearbook_tests::components::{component, encoder, sandbox};

fn batch(rows: i64) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("n", DataType::Int64, false),
        Field::new("t", DataType::Utf8, true),
    ]);
    let numbers = Int64Array::from_iter_values(0..rows);
    let texts: StringArray =
        (0..rows).map(|n| (n % 3 != 0).then(|| format!("row \"{n}\""))).collect();
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(numbers), Arc::new(texts)]).unwrap()
}

fn source(batches: Vec<Result<RecordBatch, BoxError>>) -> Batches {
    futures::stream::iter(batches).boxed()
}

fn text(name: &str, value: &str) -> OptionValue {
    OptionValue { name: name.into(), value: OptionScalar::Text(value.into()) }
}

/// The whole body and whether it was cut off.
async fn collect(encoded: EncodedBody) -> (Vec<u8>, bool) {
    match encoded {
        EncodedBody::Whole(bytes) => (bytes.to_vec(), false),
        EncodedBody::Stream(mut chunks) => {
            let mut body = Vec::new();
            while let Some(chunk) = chunks.next().await {
                let Ok(chunk): Result<EncodedChunk, TruncatedBody> = chunk else {
                    return (body, true);
                };
                chunk.for_each(|segment| body.extend_from_slice(&segment));
            }
            (body, false)
        }
    }
}

async fn evil(
    evil: &Arc<PluginEncoder>,
    attack: &str,
    call: &str,
    batches: usize,
) -> Result<EncodedBody, GuestError> {
    let options = [text("attack", attack), text("call", call)];
    let batches = (0..batches).map(|_| Ok(batch(2))).collect();
    evil.encode(&CallerShare::default(), batch(0).schema(), &options, source(batches)).await
}

fn limits() -> Limits {
    Limits { cpu_ms_per_call: 1_000, memory_bytes: 128 << 20, ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_rows_equal_the_batches_whether_whole_or_streamed_contract_3() {
    let json = encoder("json", Limits::default());
    for batches in [0_usize, 1, 2, 7] {
        let encoded = json
            .encode(
                &CallerShare::default(),
                batch(0).schema(),
                &[],
                source((0..batches).map(|_| Ok(batch(50))).collect()),
            )
            .await
            .unwrap();
        assert_eq!(matches!(encoded, EncodedBody::Whole(_)), batches < 2);
        let (body, cut) = collect(encoded).await;
        assert!(!cut);
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&body).unwrap();
        assert_eq!(rows.len(), 50 * batches);
        for (index, row) in rows.iter().enumerate() {
            let n = index % 50;
            let t = if n.is_multiple_of(3) {
                serde_json::Value::Null
            } else {
                format!("row \"{n}\"").into()
            };
            assert_eq!(row, &serde_json::json!({"n": n, "t": t}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attack_is_stopped_by_the_limit_that_is_named_for_it() {
    let guest = encoder("evil", limits());
    let check = |attack: &'static str, expected: fn(&Trap) -> bool| {
        let guest = Arc::clone(&guest);
        async move {
            for call in ["open", "head", "part", "tail"] {
                // Bytes that `open` makes go nowhere, so there is nothing to stop.
                if call == "open" && ["flood", "amplify"].contains(&attack) {
                    continue;
                }
                // An option was chosen, so a limit that grows with what is asked for is no fault.
                let is_refusal = ["grow", "flood", "amplify"].contains(&attack);
                match evil(&guest, attack, call, 1).await {
                    Err(GuestError::TooLarge { plugin, trap }) if is_refusal => {
                        assert!(
                            plugin.name == "evil" && expected(&trap),
                            "{attack} in {call}: {trap}"
                        )
                    }
                    Err(GuestError::Trapped { plugin, trap }) if !is_refusal => {
                        assert!(
                            plugin.name == "evil" && expected(&trap),
                            "{attack} in {call}: {trap}"
                        )
                    }
                    other => panic!("{attack} in {call}: {:?}", other.map(|_| "a body")),
                }
            }
        }
    };
    check("spin", |trap| *trap == Trap::Cpu(1_000)).await;
    check("recurse", |trap| matches!(trap, Trap::Stack(_) | Trap::Wasm(_))).await;
    check("grow", |trap| *trap == Trap::Memory(128 << 20)).await;
    check("panic", |trap| matches!(trap, Trap::Wasm(_))).await;
    check("flood", |trap| *trap == Trap::Output(64 << 20)).await;
    check("amplify", |trap| matches!(trap, Trap::Amplification { .. })).await;
    assert_eq!(guest.free_instances(), limits().instances as usize, "an attack kept an instance");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attack_after_the_first_byte_cuts_the_body_off_contract_3() {
    let guest = encoder("evil", limits());
    for attack in ["spin", "panic", "grow", "flood", "amplify", "refuse"] {
        let (body, cut) = collect(evil(&guest, attack, "tail", 5).await.unwrap()).await;
        assert!(cut, "{attack}");
        assert!(body.starts_with(b"head 2 rows") && !body.ends_with(b"tail"), "{attack}");
    }
    let (body, cut) = collect(evil(&guest, "none", "tail", 3).await.unwrap()).await;
    assert_eq!((body.as_slice(), cut), (&b"head 2 rows 2 rows 2 rows tail"[..], false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_scan_is_an_error_before_the_first_byte_and_a_cut_after_it() {
    let json = encoder("json", Limits::default());
    let failed = || Err(BoxError::from("the disk is gone"));
    let before =
        json.encode(&CallerShare::default(), batch(0).schema(), &[], source(vec![failed()])).await;
    assert!(
        matches!(before, Err(GuestError::Input(error)) if error.to_string() == "the disk is gone")
    );
    let after = json
        .encode(
            &CallerShare::default(),
            batch(0).schema(),
            &[],
            source(vec![Ok(batch(9)), Ok(batch(9)), failed()]),
        )
        .await
        .unwrap();
    let (body, cut) = collect(after).await;
    assert!(
        cut && serde_json::from_slice::<serde_json::Value>(&body).is_err(),
        "a cut JSON body has no closing bracket"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_s_own_sentence_is_cut_and_free_of_control_characters() {
    let guest = encoder("evil", limits());
    let Err(GuestError::Internal { message, .. }) = evil(&guest, "refuse", "part", 1).await else {
        panic!("not refused")
    };
    assert!(message.len() <= 1024 && !message.chars().any(char::is_control), "{message:?}");
    // Log lines are dropped beyond their number, not the response.
    assert!(evil(&guest, "chatter", "part", 1).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_gives_its_instance_back() {
    let guest = encoder("evil", limits());
    let all = guest.free_instances();
    let endless: Batches = futures::stream::repeat_with(|| Ok(batch(2))).boxed();
    let EncodedBody::Stream(mut chunks) =
        guest.encode(&CallerShare::default(), batch(0).schema(), &[], endless).await.unwrap()
    else {
        panic!("an endless body was whole")
    };
    assert!(chunks.next().await.is_some());
    assert!(guest.free_instances() < all);
    drop(chunks);
    tokio::time::timeout(Duration::from_secs(10), async {
        while guest.free_instances() < all {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the instance came back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stalls_is_cut_off_and_a_slow_one_drives_the_scan() {
    let guest = encoder("evil", Limits { stalled_client_ms: 300, ..limits() });
    let taken = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let endless: Batches = futures::stream::repeat_with(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(batch(2))
    })
    .boxed();
    let EncodedBody::Stream(chunks) =
        guest.encode(&CallerShare::default(), batch(0).schema(), &[], endless).await.unwrap()
    else {
        panic!("an endless body was whole")
    };
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(
        taken.load(std::sync::atomic::Ordering::Relaxed) < 10,
        "the scan ran ahead of a client that reads nothing"
    );
    let (_, cut) = collect(EncodedBody::Stream(chunks)).await;
    assert!(cut, "a stalled response must not end like a whole one");
    assert_eq!(guest.free_instances(), limits().instances as usize);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_responses_than_instances_wait_and_are_then_refused() {
    let guest = encoder("evil", Limits { instances: 1, queue_ms: 100, ..limits() });
    let endless: Batches = futures::stream::repeat_with(|| Ok(batch(2))).boxed();
    let held =
        guest.encode(&CallerShare::default(), batch(0).schema(), &[], endless).await.unwrap();
    assert!(matches!(
        evil(&guest, "none", "part", 1).await,
        Err(GuestError::Busy { retry_after: 1 })
    ));
    drop(held);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(evil(&guest, "none", "part", 1).await.is_ok());
}

#[test]
fn what_is_not_a_plugin_is_rejected_with_a_reason() {
    let host = sandbox(Limits { component_bytes: 4 << 20, ..Limits::default() });
    let reason = |bytes: &[u8]| host.load_encoder(bytes).err().unwrap();
    assert!(matches!(reason(b"not wasm"), ComponentRejection::Malformed(_)));
    assert!(matches!(reason(&vec![0; (4 << 20) + 1]), ComponentRejection::TooLarge { .. }));
    // The smallest component there is: a header, no export.
    assert!(matches!(reason(b"\0asm\x0d\0\x01\0"), ComponentRejection::Interface(_)));
    let mut damaged = component("json");
    let middle = damaged.len() / 2;
    damaged.truncate(middle);
    assert!(matches!(reason(&damaged), ComponentRejection::Malformed(_)));
}

#[test]
fn a_component_that_asks_for_more_than_log_is_refused_by_name() {
    let host = sandbox(Limits::default());
    let wasi = wat::parse_str(r#"(component (import "wasi:cli/stdout@0.2.0" (instance)) (import "yearbook:plugin/log@1.1.0" (instance)))"#)
        .unwrap();
    let rejected = host.load_encoder(&wasi).err().unwrap();
    assert!(
        matches!(&rejected, ComponentRejection::Imports(names) if names == &["wasi:cli/stdout@0.2.0"]),
        "{rejected}"
    );
    // What is called `types` may hold types and nothing else.
    let smuggled =
        r#"(component (import "yearbook:plugin/types@1.1.0" (instance (export "read" (func)))))"#;
    assert!(matches!(
        host.load_encoder(&wat::parse_str(smuggled).unwrap()),
        Err(ComponentRejection::Interface(_))
    ));
}

#[test]
fn the_built_in_encoders_import_nothing_but_log_and_describe_themselves_contract_3() {
    let host = sandbox(Limits::default());
    let media_types = ["json", "csv", "arrow", "parquet", "svg"].map(|name| {
        let encoder = host.load_encoder(&component(name)).unwrap();
        assert_eq!(encoder.description().format, name);
        encoder.description().media_type.clone()
    });
    assert_eq!(
        media_types,
        [
            "application/json",
            "text/csv; charset=utf-8; header=present",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.parquet",
            "image/svg+xml"
        ]
    );
}
