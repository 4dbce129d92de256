//! A fleet under load while something goes wrong: three hosts on one PostgreSQL and one bucket
//! behind nginx. Each fault is a test; its figures stand in `docs/reliability.md`. Every body that
//! comes whole belongs wholly to one snapshot, whatever happens.
//!
//! A process of its own, and one fleet at a time: the machine is busy with it. How long a fault
//! lasts says `YEARBOOK_TEST_SECONDS`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod data;
mod figures;
mod fleet;
mod load;
mod nginx;
mod tls;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::sleep;
use yearbook_tests::app::S3Fault;
use yearbook_tests::components::root;

use data::FleetRequest;
use figures::FaultFigures;
use fleet::Fleet;
use load::{RequestResult, ask, client};

/// contract-6-two-seconds.
const TWO_SECONDS: Duration = Duration::from_secs(2);

/// Longest time for a promise of 2 s on a machine that is busy with load, hosts, database, store
/// and proxy at once.
const RECOVERY_LIMIT: Duration = Duration::from_secs(6);

fn exclusive() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Folder of the compiled plugins, which every run shares.
fn compiled_plugins() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("reliability")
}

/// Returns the time that a fault lasts.
fn fault_duration() -> Duration {
    Duration::from_secs(
        std::env::var("YEARBOOK_TEST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4),
    )
}

/// Publishes a version each second, for as long as a fault lasts; how many there were, and how many
/// attempts failed.
async fn refresh(fleet: &mut Fleet) -> (usize, usize) {
    let (until, mut published, mut failed) = (Instant::now() + fault_duration(), 0, 0);
    while Instant::now() < until {
        let next = Instant::now() + Duration::from_secs(1);
        match fleet.publisher.publish().await {
            Ok(_) => published += 1,
            Err(_) => failed += 1,
        }
        sleep(next.saturating_duration_since(Instant::now())).await;
    }
    (published, failed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_dataset_is_refreshed_every_second() {
    let _alone = exclusive();
    let Some(mut fleet) = Fleet::start().await else { return };
    let load = fleet.load();
    let (published, failed) = refresh(&mut fleet).await;
    let seen = fleet.wait_for_response().await;
    let figures =
        FaultFigures::new("refresh", load.stop().await).and("versions published", published);
    let figures =
        figures.and("from the last commit until every host serves it, ms", seen.as_millis());
    figures.assert_and_write();
    assert!(published > 0 && failed == 0);
    assert!(seen < RECOVERY_LIMIT, "{seen:?}");
    assert_eq!(
        figures.failed() + figures.status(503),
        0,
        "a refresh is no reason to refuse anybody"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn hosts_are_killed_and_restarted() {
    let _alone = exclusive();
    let Some(mut fleet) = Fleet::start().await else { return };
    let load = fleet.load();
    let until = Instant::now() + fault_duration();
    let (mut kills, mut slowest, mut turn) = (0, Duration::ZERO, 0);
    while Instant::now() < until {
        let host = turn % fleet.hosts.len();
        fleet.hosts[host].kill();
        kills += 1;
        fleet.publisher.publish().await.unwrap();
        sleep(Duration::from_millis(300)).await;
        fleet.hosts[host].start();
        slowest = slowest.max(fleet.hosts[host].healthy().await);
        turn += 1;
    }
    let mended = Instant::now();
    fleet.wait_for_response().await;
    let figures =
        FaultFigures::new("kill", load.stop().await).recovered_at(mended).and("kills", kills);
    let figures = figures.and("slowest restart, ms", slowest.as_millis());
    figures.assert_and_write();
    // Each kill breaks what that host was sending, a few responses; what had not begun goes to
    // another.
    assert!(figures.failed() <= kills * 8, "{} of {kills} kills", figures.failed());
    assert!(
        figures.recovery().is_none_or(|took| took < RECOVERY_LIMIT),
        "{:?}",
        figures.recovery()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_plugin_is_swapped() {
    let _alone = exclusive();
    let Some(fleet) = Fleet::start().await else { return };
    let (client, load) = (client(), fleet.load());
    let component = root().join("plugins/dist/ndjson.wasm").display().to_string();
    let until = Instant::now() + fault_duration();
    let (mut swaps, mut slowest) = (0, Duration::ZERO);
    while Instant::now() < until {
        for (arguments, expected) in [
            (vec!["plugin", "install", &component, "--now"], 200),
            (vec!["plugin", "remove", "ndjson"], 422),
        ] {
            let output = fleet.command(&arguments);
            assert!(output.status.success(), "{output:?}");
            let began = Instant::now();
            for base in fleet.addresses() {
                let address = format!("{base}/v1/datasets/pulse/data?limit=1&format=ndjson");
                while client
                    .get(&address)
                    .header("x-api-key", &fleet.key)
                    .send()
                    .await
                    .unwrap()
                    .status()
                    != expected
                {
                    assert!(began.elapsed() < RECOVERY_LIMIT, "{arguments:?}");
                    sleep(Duration::from_millis(10)).await;
                }
            }
            slowest = slowest.max(began.elapsed());
            swaps += 1;
        }
    }
    let figures = FaultFigures::new("swap", load.stop().await).and("installed and removed", swaps);
    let figures = figures.and("slowest until every host did so, ms", slowest.as_millis());
    figures.assert_and_write();
    assert_eq!(figures.failed() + figures.status(503), 0, "a swap is no reason to refuse anybody");
}

/// Asks through the proxy by an address of some 12 KiB, which links in the answer repeat, and
/// checks that it is answered and counted once.
async fn check_long_address(fleet: &Fleet) {
    let (client, free) = (client(), fleet.create_key("free").0);
    let conditions: String =
        (0..500).map(|number| format!("&where.id.not={}", 900_000_000 + number)).collect();
    let path = format!("/v1/datasets/pulse/data?limit=1&format=csv{conditions}");
    let ask = async |path: &str| {
        let request = client.get(format!("{}{path}", fleet.base)).header("x-api-key", &free);
        request.send().await.unwrap()
    };
    let answer = ask(&path).await;
    assert_eq!(answer.status(), 200);
    let links = answer.headers().get_all("link").iter().map(|link| link.len()).sum::<usize>();
    assert!(links > 12 << 10, "{links} bytes of links");
    let account = ask("/v1/me").await.text().await.unwrap();
    let account: serde_json::Value = serde_json::from_str(&account).unwrap();
    assert_eq!(account["requests"]["used"], 1, "{account}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn keys_are_revoked_and_quotas_hold() {
    let _alone = exclusive();
    let Some(mut fleet) = Fleet::start().await else { return };
    check_long_address(&fleet).await;
    let (client, load) = (client(), fleet.load());
    let until = Instant::now() + fault_duration();
    let (mut revoked, mut slowest, mut most) = (0, Duration::ZERO, 0);
    while Instant::now() < until {
        // A quota of ten, sixty requests at once by all hosts, one of which dies meanwhile.
        let free = fleet.create_key("free").0;
        let asking = join_all(
            (0..60).map(|_| ask(&client, &fleet.base, &free, FleetRequest::Few, &fleet.versions)),
        );
        let host = &mut fleet.hosts[revoked % 3];
        let dying = async {
            sleep(Duration::from_millis(5)).await;
            host.kill();
        };
        let answered = futures::join!(asking, dying).0;
        let right = answered
            .iter()
            .filter(|outcome| matches!(outcome.ended, RequestResult::Right(_)))
            .count();
        most = most.max(right);
        assert!(right <= 10, "{right} answers of a quota of ten");
        fleet.hosts[revoked % 3].start();
        fleet.hosts[revoked % 3].healthy().await;

        let (pro, id) = fleet.create_key("pro");
        let addresses = fleet.addresses();
        let status = async |base: &str| {
            ask(&client, base, &pro, FleetRequest::Few, &fleet.versions).await.ended
        };
        for base in &addresses {
            while !matches!(status(base).await, RequestResult::Right(_)) {
                sleep(Duration::from_millis(10)).await;
            }
        }
        let output = fleet.command(&["keys", "revoke", &id]);
        assert!(output.status.success(), "{output:?}");
        let began = Instant::now();
        for base in &addresses {
            while status(base).await != RequestResult::Status(401) {
                assert!(began.elapsed() < RECOVERY_LIMIT, "{base}");
                sleep(Duration::from_millis(10)).await;
            }
        }
        slowest = slowest.max(began.elapsed());
        revoked += 1;
    }
    let figures = FaultFigures::new("keys", load.stop().await)
        .and("keys revoked", revoked)
        .and("most answers of a quota of ten", most);
    let figures = figures.and("slowest until every host refused, ms", slowest.as_millis());
    figures.assert_and_write();
    assert!(figures.failed() <= revoked * 8, "{} of {revoked} kills", figures.failed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn the_database_goes_away() {
    let _alone = exclusive();
    let Some(mut fleet) = Fleet::start().await else { return };
    let (client, free) = (client(), fleet.create_key("free").0);
    assert!(matches!(
        ask(&client, &fleet.base, &free, FleetRequest::Few, &fleet.versions).await.ended,
        RequestResult::Right(_)
    ));
    for silent in [false, true] {
        // Every host has seen both keys.
        fleet.wait_for_response().await;
        let load = fleet.load();
        sleep(Duration::from_millis(500)).await;
        if silent {
            fleet.line.blackhole()
        } else {
            fleet.line.cut()
        }
        // A client that comes while the hosts find out waits for a bound; then it is said at once.
        sleep(Duration::from_secs(if silent { 6 } else { 2 })).await;
        let (until, mut refused, mut slowest) =
            (Instant::now() + fault_duration(), 0, Duration::ZERO);
        while Instant::now() < until {
            let outcome =
                ask(&client, &fleet.base, &free, FleetRequest::Few, &fleet.versions).await;
            assert_eq!(outcome.ended, RequestResult::Status(503));
            slowest = slowest.max(outcome.took);
            refused += 1;
            sleep(Duration::from_millis(20)).await;
        }
        fleet.line.mend();
        let mended = Instant::now();
        while !matches!(
            ask(&client, &fleet.base, &free, FleetRequest::Few, &fleet.versions).await.ended,
            RequestResult::Right(_)
        ) {
            assert!(mended.elapsed() < 2 * RECOVERY_LIMIT, "it does not recover");
            sleep(Duration::from_millis(20)).await;
        }
        let back = mended.elapsed();
        fleet.publisher.publish().await.unwrap();
        fleet.wait_for_response().await;
        let figures = FaultFigures::new(
            if silent { "database-silent" } else { "database-gone" },
            load.stop().await,
        )
        .recovered_at(mended);
        let figures = figures
            .and("503 to a key with a quota", refused)
            .and("slowest of them, ms", slowest.as_millis());
        let figures = figures.and("until that key was answered again, ms", back.as_millis());
        figures.assert_and_write();
        assert!(slowest < TWO_SECONDS, "{slowest:?}");
        assert_eq!(figures.failed() + figures.status(503), 0, "a key without a quota reads on");
    }
}

/// Has the store do `fault` for as long as a fault lasts, while a new version each second makes the
/// hosts read it.
async fn with_store_fault(name: &'static str, fault: S3Fault) -> Option<FaultFigures> {
    let mut fleet = Fleet::start().await?;
    let load = fleet.load();
    let until = Instant::now() + fault_duration();
    let mut published = 0;
    while Instant::now() < until {
        // Versions come in while the store is well for a moment; hosts have to read them while it
        // is not.
        fleet.s3.mend();
        published += usize::from(fleet.publisher.publish().await.is_ok());
        fleet.s3.fail_from_now(fault);
        sleep(Duration::from_secs(1)).await;
    }
    fleet.s3.mend();
    let mended = Instant::now();
    fleet.publisher.publish().await.unwrap();
    fleet.wait_for_response().await;
    let figures = FaultFigures::new(name, load.stop().await)
        .recovered_at(mended)
        .and("versions published", published);
    figures.assert_and_write();
    assert!(
        figures.recovery().is_none_or(|took| took < 2 * RECOVERY_LIMIT),
        "{:?}",
        figures.recovery()
    );
    Some(figures)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn the_store_is_slow() {
    let _alone = exclusive();
    let Some(figures) =
        with_store_fault("store-slow", S3Fault::Slow(Duration::from_millis(300))).await
    else {
        return;
    };
    assert_eq!(figures.failed() + figures.status(503), 0, "slow is not ill");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn the_store_answers_with_errors() {
    let _alone = exclusive();
    let Some(figures) = with_store_fault("store-errors", S3Fault::Status(503)).await else {
        return;
    };
    // What had begun may be cut; a client without a byte gets 503.
    assert!(
        figures.failed() * 10 < figures.correct(),
        "{} of {}",
        figures.failed(),
        figures.correct()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn the_store_sends_half_of_what_it_has() {
    let _alone = exclusive();
    let Some(figures) = with_store_fault("store-truncated", S3Fault::Truncated(1_000)).await else {
        return;
    };
    assert!(
        figures.failed() * 10 < figures.correct(),
        "{} of {}",
        figures.failed(),
        figures.correct()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn the_store_sends_other_bytes() {
    let _alone = exclusive();
    let Some(figures) = with_store_fault("store-flipped", S3Fault::Flipped(1_000)).await else {
        return;
    };
    assert!(figures.correct() > 0);
}
