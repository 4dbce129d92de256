//! `yearbook plugin install`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::deployment::{CrashDeployment, StoreKind};
use super::kill_points::{KillMoments, KillTally, kills_per_case, time_run};
use super::reader::{CrashServer, ReaderThread};

/// Of these runs, one installs an encoder, which takes longer; the others a generator.
const ENCODER_EVERY: u32 = 8;

/// A build of `name` of its own: the component with a custom section that says `version`.
fn build(deployment: &CrashDeployment, name: &str, version: u32) -> String {
    let built: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../plugins/dist")
        .join(format!("{name}.wasm"));
    let mut component = std::fs::read(built).unwrap();
    let content = version.to_le_bytes();
    component
        .extend([&[0, u8::try_from(2 + content.len()).unwrap(), 1, b'v'], &content[..]].concat());
    let file = deployment.yearbook.path("build.wasm");
    std::fs::write(&file, component).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Digests of the releases of `name`, and of the one that serves.
fn releases(deployment: &CrashDeployment, name: &str) -> (HashSet<String>, Option<String>) {
    let listed = deployment.run(&["plugin", "list", "--json"]).ok().json();
    let of_name: Vec<&Value> =
        listed.as_array().unwrap().iter().filter(|release| release["name"] == name).collect();
    let digest = |release: &Value| release["digest"].as_str().unwrap().to_owned();
    let serving = of_name
        .iter()
        .find(|release| release["serves"] == json!(true))
        .map(|release| digest(release));
    (of_name.into_iter().map(digest).collect(), serving)
}

#[test]
fn install_killed_at_any_point_leaves_the_last_release_serving() {
    install_killed_at_any_point_leaves_the_last_release_serving_in(StoreKind::Folder);
}

#[test]
fn install_killed_at_any_point_leaves_the_last_release_serving_on_s3() {
    install_killed_at_any_point_leaves_the_last_release_serving_in(StoreKind::S3);
}

fn install_killed_at_any_point_leaves_the_last_release_serving_in(place: StoreKind) {
    let deployment = CrashDeployment::new(place);
    let (mut moments, mut seen) = (KillMoments::new(), HashSet::new());
    deployment.package(50, 1);
    deployment.run(&["publish", "tiny"]).ok();
    let mut version = 0;
    let mut install = |name: &str| {
        version += 1;
        build(&deployment, name, version)
    };
    let mut takes = |name: &str| {
        time_run(|| {
            let file = install(name);
            deployment.run(&["plugin", "install", &file, "--now"]).ok();
        })
    };
    let (mut encoders, mut generators) =
        (KillTally::new(takes("ndjson")), KillTally::new(takes("r")));
    let server = CrashServer::start(&deployment);
    let client = server.client();
    let reading = ReaderThread::start(move || {
        let (status, body) = client.get("/v1/integrations/r?datasets=tiny");
        assert_eq!(status, 200, "{body}");
        let (status, body) = client.get("/v1/datasets/tiny/data?format=ndjson");
        assert!(status == 200 && body.lines().count() == 50, "{status} {body}");
    });
    for run in 0..kills_per_case() {
        let (name, tally) = if run % ENCODER_EVERY == 0 {
            ("ndjson", &mut encoders)
        } else {
            ("r", &mut generators)
        };
        let file = install(name);
        let arguments = ["plugin", "install", &file, "--now", "--json"];
        let (before, served) = releases(&deployment, name);
        tally.kill(&deployment, &arguments, moments.next());
        let (after, serves) = releases(&deployment, name);
        assert!(after.len() - before.len() <= 1 && after.is_superset(&before));
        assert!(
            serves.is_some() && (serves == served) == (after.len() == before.len()),
            "{served:?}, then {serves:?}"
        );
        deployment.assert_intact(&mut seen);
        let again = deployment.run(&arguments).ok().json();
        let (_, serves) = releases(&deployment, name);
        assert_eq!(serves.as_deref(), again["digest"].as_str(), "{again}");
    }
    deployment.assert_intact(&mut seen);
    deployment.assert_sound();
    let reads = reading.stop();
    println!("install: {encoders:?} and {generators:?}, {reads} responses meanwhile");
    assert!(
        generators.killed > generators.ended && reads > kills_per_case() / 10,
        "{generators:?}, {reads} responses"
    );
}

#[test]
fn the_first_install_killed_at_any_point_can_be_run_again() {
    the_first_install_killed_at_any_point_can_be_run_again_in(StoreKind::Folder);
}

#[test]
fn the_first_install_killed_at_any_point_can_be_run_again_on_s3() {
    the_first_install_killed_at_any_point_can_be_run_again_in(StoreKind::S3);
}

fn the_first_install_killed_at_any_point_can_be_run_again_in(place: StoreKind) {
    let mut moments = KillMoments::new();
    let install = |deployment: &CrashDeployment| {
        ["plugin", "install", &build(deployment, "r", 1), "--json"].map(str::to_owned)
    };
    let takes = time_run(|| {
        let deployment = CrashDeployment::new(place);
        let arguments = install(&deployment);
        deployment.run(&arguments.each_ref().map(String::as_str)).ok();
    });
    let mut tally = KillTally::new(takes);
    for _ in 0..kills_per_case().div_ceil(10) {
        let deployment = CrashDeployment::new(place);
        let arguments = install(&deployment);
        let arguments = arguments.each_ref().map(String::as_str);
        tally.kill(&deployment, &arguments, moments.next());
        deployment.assert_intact(&mut HashSet::new());
        let again = deployment.run(&arguments).ok().json();
        assert_eq!(again["state"], json!("promoted"), "{again}");
        deployment.assert_intact(&mut HashSet::new());
    }
    println!("the first install took {takes:?}: {tally:?}");
}
