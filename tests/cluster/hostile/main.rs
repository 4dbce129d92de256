//! One caller does its worst to the real binary while another reads: the other notices nothing, and
//! memory stays within bounds. Each attack is a test; its figures stand in
//! `docs/hostile-clients.md`.
//!
//! A process of its own, and one server at a time. How long an attack lasts says
//! `YEARBOOK_TEST_SECONDS`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attack;
mod polite;
mod server;
mod sign_up;
mod sign_up_times;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;

use attack::{AttackClient, AttackFn};
use server::AttackedServer;

/// Memory that one caller may take beyond the idle server, mebibytes.
const MAX_MEMORY_MIB: u64 = 512;

/// Longest additional time for a hundred rows, whatever else the machine does: a server that is
/// held up shows in seconds. How much longer they do take stands on the page.
const MAX_LATENCY: Duration = Duration::from_secs(2);

/// Variable with the folder of figures for the page.
const FIGURES: &str = "YEARBOOK_TEST_FIGURES";

/// Held by the test whose server runs.
static EXCLUSIVE: Mutex<()> = Mutex::const_new(());

/// Returns the time that an attack lasts.
fn attack_duration() -> Duration {
    Duration::from_secs(
        std::env::var("YEARBOOK_TEST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4),
    )
}

/// Has `attack` go on while somebody reads; before and after it the same without.
async fn withstands(name: &str, attack: AttackFn) {
    let _alone = EXCLUSIVE.lock().await;
    let Some(mut server) = AttackedServer::start().await else { return };
    let quiet = polite::read(&server, attack_duration() / 2).await;
    let idle = server.memory();
    let elsewhere = new_runtime();
    let runtime = elsewhere.handle().clone();
    let attacker = AttackClient {
        server: server.address,
        keys: server.hostile.clone(),
        tries: Arc::default(),
        runtime,
    };
    let mut callers = JoinSet::new();
    attack(&attacker, &mut callers);
    // Its connections are open when the first answer is timed.
    sleep(Duration::from_millis(500)).await;
    let (attacked, most) =
        tokio::join!(polite::read(&server, attack_duration()), peak_memory(&server));
    let tries = attacker.tries.load(Ordering::Relaxed);
    callers.shutdown().await;
    elsewhere.shutdown_background();
    let quiet = quiet.and(polite::read(&server, attack_duration() / 2).await);
    let figures = json!({
        "name": name,
        "tries": tries,
        "requests": attacked.took.len(),
        "failed": attacked.failed.len(),
        "quiet_median_us": quiet.within(500).as_micros(),
        "quiet_p99_us": quiet.within(990).as_micros(),
        "median_us": attacked.within(500).as_micros(),
        "p99_us": attacked.within(990).as_micros(),
        "idle_mib": idle,
        "most_mib": most,
    });
    record_figures(name, &figures);
    assert!(!server.has_ended(), "{name}: the server ended");
    assert!(tries > 0, "{name}: nothing was attacked");
    assert_eq!(quiet.failed, Vec::<String>::new(), "{name}: before or after it");
    assert_eq!(attacked.failed, Vec::<String>::new(), "{name}: somebody else was refused");
    assert!(
        4 * attacked.took.len() > quiet.took.len(),
        "{name}: {} answers, and {} without it",
        attacked.took.len(),
        quiet.took.len()
    );
    assert!(
        attacked.within(990) < quiet.within(990) + MAX_LATENCY,
        "{name}: {:?} after {:?}",
        attacked.within(990),
        quiet.within(990)
    );
    assert!(most <= idle + MAX_MEMORY_MIB, "{name}: {most} MiB after {idle}");
}

/// Prints figures, and leaves them for the page where one is made.
fn record_figures(name: &str, figures: &Value) {
    println!("{figures}");
    if let Ok(folder) = std::env::var(FIGURES) {
        std::fs::write(format!("{folder}/{name}.json"), figures.to_string()).unwrap();
    }
}

/// Threads that come last on this machine. In life who attacks has another one, and takes no
/// processor from the server but by what he asks of it.
fn new_runtime() -> Runtime {
    let come_last = || {
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
    };
    Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(come_last)
        .enable_all()
        .build()
        .unwrap()
}

/// The most that the server held while an attack lasts, mebibytes.
async fn peak_memory(server: &AttackedServer) -> u64 {
    let (until, mut most) = (Instant::now() + attack_duration(), 0);
    while Instant::now() < until {
        most = most.max(server.memory());
        sleep(Duration::from_millis(50)).await;
    }
    most
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unread_streams_delay_no_other_client() {
    withstands("unread_streams", attack::unread_streams).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn slow_readers_delay_no_other_client() {
    withstands("slow_readers", attack::slow_readers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unread_files_delay_no_other_client() {
    withstands("unread_files", attack::unread_files).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_never_begin_delay_no_other_client() {
    withstands("silent_connections", attack::silent_connections).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn streams_that_are_reset_at_once_delay_no_other_client() {
    withstands("rapid_resets", attack::rapid_resets).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn long_lists_of_names_delay_no_other_client() {
    withstands("long_lists", attack::long_lists).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn previews_of_huge_cells_delay_no_other_client() {
    withstands("heavy_previews", attack::heavy_previews).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unknown_keys_delay_no_other_client() {
    withstands("unknown_keys", attack::unknown_keys).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pages_of_a_wide_table_delay_no_other_client() {
    withstands("wide_pages", attack::wide_pages).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn worst_selections_delay_no_other_client_contract_15() {
    withstands("worst_selections", attack::worst_selections).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_ranges_delay_no_other_client() {
    withstands("small_ranges", attack::small_ranges).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exports_at_full_speed_delay_no_other_client() {
    withstands("busy_exports", attack::busy_exports).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_projects_delay_no_other_client() {
    withstands("many_projects", attack::many_projects).await;
}

/// Control: the other rows of the page are to be compared with this one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_that_only_compute_delay_no_other_client() {
    withstands("computing", attack::computing).await;
}

/// A network asks for ten mails a day: however many forms come, the outbox holds no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flood_of_sign_ups_delays_no_other_client_and_sends_no_more_mails_than_allowed_contract_10_beyond()
 {
    withstands("sign_ups", attack::sign_ups).await;
    if let Some(mails) = server::waiting_mails() {
        assert!((1..=10).contains(&mails.len()), "{} mails for one network", mails.len());
    }
}
