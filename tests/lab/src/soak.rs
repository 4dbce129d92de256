//! `cargo xtask soak`: mixed traffic for as long as wanted, while a plugin is installed and
//! removed, and a check that the server then holds what it held before: memory, descriptors,
//! instances. Owns the verdict; the modules beneath send the traffic and watch the server.

mod traffic;
mod watch;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use yearbook_xtask::checks::report::CheckCounts;
use yearbook_xtask::checks::served::ServerFixture;
use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::server;
use yearbook_xtask::{command, demo, packages};

use traffic::{ClientKind, TrafficOutcomes};
use watch::{MemorySamples, ServerResources};

/// Longest time for the last requests to end and to give back their resources.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// Between two changes of the plugin.
const SWAP_INTERVAL: Duration = Duration::from_secs(4);

/// Descriptors beyond those of the idle server: connections of the database's pool open as they are
/// needed.
const DESCRIPTOR_SLACK: u64 = 16;

/// Threads beyond those of the idle server: tokio's for blocking calls live some seconds after the
/// last.
const THREAD_SLACK: u64 = 8;

/// A run that is shorter sees the server grow warm.
const WARM_UP: Duration = Duration::from_secs(600);

/// Arguments of `cargo xtask soak`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SoakArgs {
    /// Minutes of traffic
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    minutes: u64,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
    /// Send traffic for a minute, as `cargo xtask test` does
    #[arg(long, hide = true)]
    pub(crate) check: bool,
}

/// Runs the soak and fails if a check fails.
pub(crate) fn run(repository: &Repository, args: SoakArgs) -> Result<()> {
    repository.build_plugins()?;
    let profile = if args.debug { Profile::Debug } else { Profile::Release };
    let tally = soak(repository, profile, Duration::from_secs(args.minutes * 60))?;
    anyhow::ensure!(
        tally.failed == 0,
        "{} of {} checks failed",
        tally.failed,
        tally.failed + tally.passed
    );
    Ok(())
}

/// The same for a minute, for `cargo xtask test`.
pub(crate) fn check(repository: &Repository) -> Result<CheckCounts> {
    soak(repository, Profile::Debug, Duration::from_secs(60))
}

fn soak(repository: &Repository, profile: Profile, time: Duration) -> Result<CheckCounts> {
    let ground = ServerFixture::with_profile(repository, "soak", profile)?;
    let mut descriptors = ground.publish_demo()?;
    let generated = demo::million_rows(repository)?;
    ground.publish(&[&generated])?;
    descriptors.push(generated);
    let datasets = packages::newest_versions(&descriptors)
        .iter()
        .map(|path| traffic::SoakDataset::read(path))
        .collect::<Result<Vec<_>>>()?;
    let key = ground.key("enterprise")?;
    let admin = server::free_address()?;
    let log = ground.folder().join("server.log");
    let admin_listen = admin.to_string();
    let settings = [
        ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"),
        ("YEARBOOK_SERVER__ADMIN_LISTEN", admin_listen.as_str()),
        // Full within seconds: what a cache may hold is no growth.
        ("YEARBOOK_SERVER__RESPONSE_CACHE_BYTES", "4194304"),
    ];
    let mut server = ground.serve(&log, &settings)?;
    let watcher =
        watch::ResourceWatcher { process: server.id(), metrics: format!("http://{admin}/metrics") };
    let target = traffic::SoakTarget { base: server.base(), key, datasets };

    // Everything once, so that what is made at first need is there.
    for kind in ClientKind::CLIENTS {
        let _ = target.send(kind, 0);
    }
    let idle = watcher.read()?;
    println!("idle: {idle}");

    let (outcomes, samples) = traffic(&ground, repository, &target, &watcher, time)?;
    let since = Instant::now();
    let mut after = watcher.read()?;
    while !after.is_idle() && since.elapsed() < DRAIN_TIMEOUT {
        sleep(Duration::from_millis(200));
        after = watcher.read()?;
    }
    println!("at rest: {after}");
    let ended = server.has_ended()?;
    server.stop().context("the server did not drain")?;
    let said = fs::read_to_string(&log).context("no log")?;
    Ok(evaluate(&outcomes, &samples, time < WARM_UP, idle, after, ended, &said))
}

/// Sends requests of every kind, from two threads each for the common ones, until `time` is over.
fn traffic(
    ground: &ServerFixture,
    repository: &Repository,
    target: &traffic::SoakTarget,
    watcher: &watch::ResourceWatcher,
    time: Duration,
) -> Result<(TrafficOutcomes, MemorySamples)> {
    let (stop, outcomes) = (AtomicBool::new(false), TrafficOutcomes::default());
    let component = repository.root().join("plugins/dist/ndjson.wasm");
    scope(|threads| {
        for (number, kind) in ClientKind::CLIENTS.into_iter().enumerate() {
            let (stop, outcomes) = (&stop, &outcomes);
            threads.spawn(move || {
                let mut turn = number as u64 * 1_000_003;
                while !stop.load(Ordering::Relaxed) {
                    turn += 1;
                    outcomes.count(kind, target.send(kind, turn));
                }
            });
        }
        let swaps = threads.spawn(|| -> Result<()> {
            while !stop.load(Ordering::Relaxed) {
                command::output(
                    ground.yearbook().args(["plugin", "install", "--now"]).arg(&component),
                )?;
                sleep(SWAP_INTERVAL);
                command::output(ground.yearbook().args(["plugin", "remove", "ndjson"]))?;
                sleep(SWAP_INTERVAL);
            }
            Ok(())
        });
        let samples = watcher.sample(time);
        stop.store(true, Ordering::Relaxed);
        swaps.join().map_err(|_| anyhow::anyhow!("the swaps panicked"))??;
        samples
    })
    .map(|samples| (outcomes, samples))
}

fn evaluate(
    outcomes: &TrafficOutcomes,
    samples: &MemorySamples,
    short: bool,
    idle: ServerResources,
    after: ServerResources,
    ended: bool,
    log: &str,
) -> CheckCounts {
    let mut tally = CheckCounts::default();
    let mut check = |what: String, good: bool| {
        println!("{} {what}", if good { "ok    " } else { "FAILED" });
        if good { tally.passed += 1 } else { tally.failed += 1 }
    };
    check(format!("the server serves to the end: {samples}"), !ended);
    for (kind, ends) in outcomes.take() {
        check(format!("{kind:?}: {ends}"), ends.are_expected(kind));
    }
    let (early, late, allowed) = samples.memory(short);
    let what = format!(
        "memory is flat: {early:.0} MiB in the second quarter, {late:.0} MiB in the last, {allowed:.0} MiB allowed"
    );
    check(what, late <= allowed);
    for (what, before, now, slack) in [
        ("descriptors", idle.descriptors, after.descriptors, DESCRIPTOR_SLACK),
        ("threads", idle.threads, after.threads, THREAD_SLACK),
    ] {
        let given_back = now <= before + slack;
        check(format!("{what} are given back: {before} idle, {now} at rest"), given_back);
    }
    check(format!("no request, instance or guest's memory is left: {after}"), after.is_idle());
    check("nothing panicked".to_owned(), !log.contains("panicked"));
    tally
}
