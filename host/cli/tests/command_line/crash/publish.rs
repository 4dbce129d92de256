//! `yearbook publish`.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::deployment::{CrashDeployment, StoreKind};
use super::kill_points::{KillMoments, KillTally, kills_per_case, time_run};
use super::reader::{CrashServer, ReaderThread};
use crate::serve::within_two_seconds;

/// Enough that writing takes a while, few enough that 100 runs do not.
const ROWS: usize = 5_000;

const PUBLISH: [&str; 3] = ["publish", "tiny", "--json"];

fn current(deployment: &CrashDeployment) -> Value {
    deployment.run(&["datasets", "show", "tiny", "--json"]).ok().json()["current_snapshot_id"]
        .clone()
}

#[test]
fn publish_killed_at_any_point_leaves_the_last_snapshot_served_contract_7() {
    publish_killed_at_any_point_leaves_the_last_snapshot_served_in(StoreKind::Folder);
}

#[test]
fn publish_killed_at_any_point_leaves_the_last_snapshot_served_on_s3_contract_7() {
    publish_killed_at_any_point_leaves_the_last_snapshot_served_in(StoreKind::S3);
}

fn publish_killed_at_any_point_leaves_the_last_snapshot_served_in(place: StoreKind) {
    let deployment = CrashDeployment::new(place);
    let (mut moments, mut seen) = (KillMoments::new(), HashSet::new());
    let mut version = 0;
    let takes = time_run(|| {
        version += 1;
        deployment.package(ROWS, version);
        deployment.run(&PUBLISH).ok();
    });
    let mut tally = KillTally::new(takes);
    let server = CrashServer::start(&deployment);
    let client = server.client();
    let mut newest = client.version(ROWS);
    let reading = ReaderThread::start(move || {
        let version = client.version(ROWS);
        assert!(version >= newest, "version {version} was served after {newest}");
        newest = version;
    });
    for _ in 0..kills_per_case() {
        version += 1;
        deployment.package(ROWS, version);
        let before = current(&deployment);
        tally.kill(&deployment, &PUBLISH, moments.next());
        let after = current(&deployment);
        deployment.assert_intact(&mut seen);
        // The second run completes, whatever the first had done.
        let again = deployment.run(&PUBLISH).ok().json();
        assert_eq!(again["status"], if after == before { "new" } else { "unchanged" }, "{again}");
        assert_eq!(current(&deployment), again["snapshot_id"]);
    }
    deployment.assert_intact(&mut seen);
    deployment.assert_sound();
    within_two_seconds(|| server.client().version(ROWS) == version);
    let reads = reading.stop();
    println!("publish took {takes:?}: {tally:?}, {reads} responses meanwhile");
    assert!(
        tally.killed > tally.ended && reads > kills_per_case() / 10,
        "{tally:?}, {reads} responses"
    );
}

#[test]
fn gc_killed_at_any_point_loses_nothing_that_is_named() {
    gc_killed_at_any_point_loses_nothing_that_is_named_in(StoreKind::Folder);
}

#[test]
fn gc_killed_at_any_point_loses_nothing_that_is_named_on_s3() {
    gc_killed_at_any_point_loses_nothing_that_is_named_in(StoreKind::S3);
}

fn gc_killed_at_any_point_loses_nothing_that_is_named_in(place: StoreKind) {
    let deployment = CrashDeployment::new(place);
    let (mut moments, mut seen) = (KillMoments::new(), HashSet::new());
    let mut version = 0;
    let mut publish = || {
        version += 1;
        deployment.package(50, version);
        deployment.run(&PUBLISH).ok();
    };
    (0..3).for_each(|_| publish());
    let takes = time_run(|| {
        publish();
        // What was let go an instant ago is too young even here.
        std::thread::sleep(Duration::from_millis(5));
        deployment.run(&["gc"]).ok();
    });
    // Publishing takes about as long.
    let mut tally = KillTally::new(takes / 2);
    for _ in 0..kills_per_case().div_ceil(5) {
        // Each drops what two before it had, so that there is always something to remove.
        publish();
        tally.kill(&deployment, &["gc"], moments.next());
        deployment.assert_intact(&mut seen);
    }
    deployment.run(&["gc"]).ok();
    publish();
    deployment.assert_intact(&mut seen);
    deployment.assert_sound();
    println!("gc: {tally:?}");
}

#[test]
fn the_first_publish_killed_at_any_point_can_be_run_again() {
    the_first_publish_killed_at_any_point_can_be_run_again_in(StoreKind::Folder);
}

#[test]
fn the_first_publish_killed_at_any_point_can_be_run_again_on_s3() {
    the_first_publish_killed_at_any_point_can_be_run_again_in(StoreKind::S3);
}

fn the_first_publish_killed_at_any_point_can_be_run_again_in(place: StoreKind) {
    let mut moments = KillMoments::new();
    let fresh = || {
        let deployment = CrashDeployment::new(place);
        deployment.package(50, 1);
        deployment
    };
    let takes = time_run(|| drop(fresh().run(&PUBLISH).ok()));
    let mut tally = KillTally::new(takes);
    for _ in 0..kills_per_case().div_ceil(10) {
        let deployment = fresh();
        tally.kill(&deployment, &PUBLISH, moments.next());
        deployment.assert_intact(&mut HashSet::new());
        let again = deployment.run(&PUBLISH).ok().json();
        assert_eq!(again["rows"], json!(50));
        deployment.assert_intact(&mut HashSet::new());
    }
    println!("the first publish took {takes:?}: {tally:?}");
}
