//! The rest of a response while its client is slow, and while others hold the bytes of all bodies.

use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::{sleep, timeout};
use yearbook_sandbox::{Batches, BoxError, EncodedBody, EncodedChunk, EncodedChunks, Limits};
use yearbook_shares::{CallerRegistry, CallerShare, SharePercent};
use yearbook_tests::components::encoder;

use super::{batch, collect, limits, source};

/// Bytes of all bodies.
const BUDGET: usize = 1 << 20;

fn callers() -> CallerRegistry {
    CallerRegistry::new(SharePercent { key: 100, address: 100 }, BUDGET)
}

/// The first chunk of a response of several parts, and the others: one instance makes them, and one
/// waits for the client.
async fn begin(
    stalled_client_ms: u64,
    holder: &CallerShare,
    rows: Batches,
) -> (EncodedChunk, EncodedChunks) {
    let narrow = Limits { buffered_chunks: 1, parallel_parts: 1, stalled_client_ms, ..limits() };
    let guest = encoder("evil", narrow);
    let body = guest.encode(holder, batch(0).schema(), &[], rows).await.unwrap();
    let EncodedBody::Stream(mut chunks) = body else { panic!("several parts were whole") };
    let first = chunks.next().await.unwrap().unwrap();
    (first, chunks)
}

/// The text of a body, which is whole.
async fn whole(first: EncodedChunk, rest: EncodedChunks) -> String {
    let mut body = first.collect::<Vec<_>>().concat();
    let (rest, cut) = collect(EncodedBody::Stream(rest)).await;
    body.extend(rest);
    assert!(!cut, "cut after {} bytes", body.len());
    String::from_utf8(body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_a_chunk_in_steps_is_not_stalled_contract_5() {
    let callers = callers();
    let reader = callers.holder(Some("reader"), None);
    let rows = source((0..4).map(|_| Ok(batch(2))).collect());
    let (first, rest) = begin(600, &reader, rows).await;
    for _ in 0..20 {
        sleep(Duration::from_millis(100)).await;
        reader.record_step();
    }
    assert_eq!(whole(first, rest).await, "head 2 rows 2 rows 2 rows 2 rows tail");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_has_begun_goes_on_while_the_bytes_are_used_up_contract_5() {
    let callers = callers();
    let (reader, other) =
        (callers.holder(Some("reader"), None), callers.holder(Some("other"), None));
    // Like a request to a bucket: it has to be asked twice, and its own clock runs meanwhile.
    let slow = async move {
        let all = other.lease(BUDGET);
        tokio::spawn(async move {
            sleep(Duration::from_secs(3)).await;
            drop(all);
        });
        let read = async {
            for _ in 0..2 {
                sleep(Duration::from_millis(50)).await;
            }
            batch(2)
        };
        timeout(Duration::from_millis(1_500), read).await.map_err(BoxError::from)
    };
    let rows = stream::iter([Ok(batch(2)), Ok(batch(2))])
        .chain(stream::once(slow))
        .chain(stream::iter([Ok(batch(2))]));
    // Its first chunk is in memory until it is looked at, so the response may not go on alone.
    let (first, rest) = begin(60_000, &reader, rows.boxed()).await;
    sleep(Duration::from_millis(3_500)).await;
    assert_eq!(whole(first, rest).await, "head 2 rows 2 rows 2 rows 2 rows tail");
}
