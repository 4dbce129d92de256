//! Faults of a store on the network: never a wrong byte; passing faults are retried, lasting ones
//! are reported in bounded time.

use std::time::{Duration, Instant};

use tempfile::TempDir;
use yearbook_domain::StoredFile;
use yearbook_storage::{ObjectStorage, StorageFailure, StorageSettings};
use yearbook_tests::app::{S3Fault, S3Server};

/// Some blocks, and the end of one.
const LENGTH: usize = 300_000;

/// Bounds that a test can wait for.
fn short() -> StorageSettings {
    StorageSettings { attempt_ms: 500, retries: 3, answer_ms: 2_500, ..StorageSettings::default() }
}

fn content() -> Vec<u8> {
    (0..LENGTH).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
}

async fn stored(s3: &S3Server) -> StoredFile {
    let source = TempDir::new().unwrap();
    std::fs::write(source.path().join("file"), content()).unwrap();
    open(s3).put_snapshot(&source.path().join("file")).await.unwrap()
}

/// Nothing of it is in memory.
fn open(s3: &S3Server) -> ObjectStorage {
    ObjectStorage::open_with(&s3.url, &short(), &s3.variables()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_is_got_over_and_no_byte_is_wrong() {
    let s3 = S3Server::start().await;
    let file = stored(&s3).await;
    let content = content();
    let passing = [
        S3Fault::Status(500),
        S3Fault::Status(503),
        S3Fault::Status(429),
        S3Fault::Reset,
        S3Fault::Silent,
        S3Fault::Slow(Duration::from_millis(100)),
        S3Fault::Truncated(0),
        S3Fault::Truncated(20_000),
        S3Fault::Flipped(0),
        S3Fault::Flipped(20_000),
    ];
    for fault in passing {
        // The first is for the checksums, the second for the file.
        for request in [0, 1] {
            s3.fail_after(request, fault);
            let (files, before) = (open(&s3), s3.requests());
            let got = files.get_range(&file, 10..LENGTH as u64).await;
            assert_eq!(got.unwrap(), content[10..], "{fault:?}, request {request}");
            // For those who watch: every attempt, and those that came to nothing before their body.
            let counts = files.counts();
            assert_eq!(counts.requests, s3.requests() - before, "{fault:?}, request {request}");
            let failed = match fault {
                S3Fault::Status(_) | S3Fault::Reset | S3Fault::Silent => 1..=1,
                // A server that breaks off early may close the connection before the head has left
                // it.
                S3Fault::Truncated(_) => 0..=1,
                _ => 0..=0,
            };
            assert!(
                failed.contains(&counts.failed_requests),
                "{fault:?}, request {request}: {}",
                counts.failed_requests
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_is_a_failure_in_bounded_time_and_is_over_when_the_store_is_well() {
    let s3 = S3Server::start().await;
    let file = stored(&s3).await;
    let staying = [
        S3Fault::Status(500),
        S3Fault::Status(503),
        S3Fault::Status(403),
        S3Fault::Reset,
        S3Fault::Silent,
        S3Fault::Slow(Duration::from_secs(60)),
        S3Fault::Truncated(0),
        S3Fault::Truncated(200),
        S3Fault::Flipped(100),
    ];
    let warm = open(&s3);
    assert_eq!(warm.get_range(&file, 0..3).await.unwrap(), content()[..3]);
    for fault in staying {
        s3.fail_from_now(fault);
        for files in [&open(&s3), &warm] {
            let begun = Instant::now();
            let failure = files.get_range(&file, 0..LENGTH as u64).await.expect_err("it is down");
            // The checksums, and the file's own bytes twice.
            let bound = 3 * Duration::from_millis(short().answer_ms + short().attempt_ms);
            assert!(begun.elapsed() < bound, "{fault:?}: {:?}", begun.elapsed());
            let damaged = matches!(fault, S3Fault::Flipped(_))
                && matches!(failure, StorageFailure::Damaged { .. });
            assert!(failure.is_outage() || damaged, "{fault:?}: {failure}");
        }
        s3.mend();
        assert_eq!(
            warm.get_range(&file, 0..LENGTH as u64).await.unwrap(),
            content(),
            "after {fault:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absent_store_is_distinguished_from_an_empty_one() {
    let s3 = S3Server::start().await;
    open(&s3).ping().await.unwrap();
    let ping = async |url: &str, variables: &[(String, String)]| {
        ObjectStorage::open_with(url, &short(), variables).unwrap().ping().await
    };
    assert!(
        ping("s3://another/prefix", &s3.variables()).await.unwrap_err().is_outage(),
        "no such bucket"
    );
    let mut variables = s3.variables();
    variables[1].1 = "not the secret".to_owned();
    let failure = ping(&s3.url, &variables).await.unwrap_err();
    assert!(failure.is_outage() && !failure.to_string().contains("not the secret"), "{failure}");
    s3.fail_from_now(S3Fault::Silent);
    let begun = Instant::now();
    assert!(open(&s3).ping().await.unwrap_err().is_outage());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_gets_over_what_passes_and_leaves_nothing_visible_otherwise() {
    let s3 = S3Server::start().await;
    let source = TempDir::new().unwrap();
    let path = source.path().join("file");
    std::fs::write(&path, content()).unwrap();
    for fault in [S3Fault::Status(500), S3Fault::Reset, S3Fault::Slow(Duration::from_secs(60))] {
        s3.fail_from_now(fault);
        assert!(open(&s3).put_snapshot(&path).await.unwrap_err().is_outage(), "{fault:?}");
        s3.mend();
        assert!(!s3.below().exists(), "{fault:?}");
    }
    let before = s3.requests();
    let file = open(&s3).put_snapshot(&path).await.unwrap();
    let requests = s3.requests() - before;
    for nth in 0..requests {
        std::fs::remove_dir_all(s3.below()).unwrap();
        s3.fail_after(nth, S3Fault::Status(503));
        assert_eq!(
            open(&s3).put_snapshot(&path).await.unwrap(),
            file,
            "request {nth} of {requests}"
        );
        assert_eq!(
            open(&s3).get_range(&file, 0..file.bytes).await.unwrap(),
            content(),
            "request {nth} of {requests}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_goes_on_beyond_what_was_asked_for_is_given_up_and_not_kept_contract_4() {
    const BEYOND: u64 = 256 << 20;
    let s3 = S3Server::start().await;
    let file = stored(&s3).await;
    let warm = open(&s3);
    assert_eq!(warm.get_range(&file, 0..3).await.unwrap(), content()[..3]);
    s3.fail_from_now(S3Fault::Overlong(BEYOND));
    let failure =
        warm.get_range(&file, 10..LENGTH as u64).await.map(|got| got.len()).expect_err("it lies");
    assert!(failure.is_outage() && failure.to_string().contains("more than the"), "{failure}");
    // What the operating system has taken off the server's hands may be a few mebibytes.
    assert!(s3.sent_beyond() < BEYOND / 8, "{} bytes were read", s3.sent_beyond());
    // The checksums have a length of their own, which their head must state.
    open(&s3).get_range(&file, 0..3).await.expect_err("it lies");
    assert!(s3.sent_beyond() < BEYOND / 4, "{} bytes were read", s3.sent_beyond());
    s3.mend();
    assert_eq!(warm.get_range(&file, 0..LENGTH as u64).await.unwrap(), content());
}
