//! Plugins from registries as operators and scripts use them: `push`, `install`, `outdated`, and
//! the reference beside the digest.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use yearbook_tests::app::OciRegistry;

use crate::binary::Yearbook;
use crate::plugin::built;

/// A folder with a registry beside it.
struct Fixture {
    yearbook: Yearbook,
    runtime: tokio::runtime::Runtime,
    registry: OciRegistry,
}

impl Fixture {
    fn new() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let registry = runtime.block_on(OciRegistry::start(false));
        Self { yearbook: Yearbook::new(), runtime, registry }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.yearbook.run(&[arguments, &["--json"]].concat()).ok().json()
    }

    /// The built csv with a custom section that no other has.
    fn release(&self, number: u8) -> PathBuf {
        let mut bytes = std::fs::read(built("csv")).unwrap();
        bytes.extend([0, 3, 1, b'n', number]);
        let path = self.yearbook.path(&format!("csv-{number}.wasm"));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn push(&self, number: u8, reference: &str) -> Value {
        self.json(&["plugin", "push", self.release(number).to_str().unwrap(), reference])
    }
}

#[test]
fn a_release_keeps_its_reference_and_is_outdated_when_the_tag_moves_contract_14() {
    let mut fixture = Fixture::new();
    let reference = fixture.registry.reference("agency/csv:stable");
    assert_eq!(fixture.json(&["plugin", "outdated"]), json!([]));
    let first = fixture.push(1, &reference);
    let checked = fixture.json(&["plugin", "check", &reference]);
    assert_eq!((&checked["digest"], &checked["findings"]), (&first["digest"], &json!([])));
    let installed = fixture.json(&["plugin", "install", &reference]);
    assert_eq!(installed["digest"], first["digest"]);
    assert_eq!(installed["reference"], json!(reference));
    assert_eq!(installed["reference_manifest"], first["manifest"]);
    let listed = fixture.json(&["plugin", "list"]);
    assert_eq!(listed[0]["reference"], json!(reference));
    assert_eq!(listed[0]["reference_manifest"], first["manifest"]);
    assert_eq!(fixture.json(&["plugin", "outdated"]), json!([]));

    // A tag that moves to another manifest of the same component has not moved.
    fixture.registry.annotate("agency/csv/stable");
    assert_eq!(fixture.json(&["plugin", "outdated"]), json!([]));

    // The same component from a file is the same release, and where it came from is not forgotten.
    let same = fixture.release(1);
    let again = fixture.json(&["plugin", "install", same.to_str().unwrap()]);
    assert_eq!((&again["unchanged"], &again["reference"]), (&json!(true), &Value::Null));
    assert_eq!(fixture.json(&["plugin", "list"])[0]["reference"], json!(reference));

    let second = fixture.push(2, &reference);
    let outdated = fixture.json(&["plugin", "outdated"]);
    let [release] = outdated.as_array().unwrap().as_slice() else { panic!("{outdated}") };
    assert_eq!((&release["name"], &release["serves"]), (&json!("csv"), &json!(true)));
    assert_eq!((&release["digest"], &release["newer"]), (&first["digest"], &second["digest"]));
    assert_eq!((&release["reference"], &release["installed"]), (&json!(reference), &json!(false)));
    let said = fixture.yearbook.run(&["plugin", "outdated"]).ok().stdout;
    assert!(said.contains("NEWER") && said.contains("yearbook plugin install"), "{said}");

    // By digest the first one is there for ever, whatever the tag says.
    let by_digest = first["by_digest"].as_str().unwrap();
    let pinned = fixture.json(&["plugin", "inspect", by_digest]);
    assert_eq!(pinned["digest"], first["digest"]);
    let newer = fixture.json(&["plugin", "install", &reference, "--now"]);
    assert_eq!((&newer["digest"], &newer["before"]), (&second["digest"], &first["digest"]));

    // The first one is replaced and kept for a rollback: it is never named again.
    assert_eq!(fixture.json(&["plugin", "outdated"]), json!([]));
    let third = fixture.push(3, &reference);
    let outdated = fixture.json(&["plugin", "outdated"]);
    let [release] = outdated.as_array().unwrap().as_slice() else { panic!("{outdated}") };
    assert_eq!((&release["digest"], &release["newer"]), (&second["digest"], &third["digest"]));

    fixture.runtime.block_on(fixture.registry.stop());
    let said = fixture.yearbook.run(&["plugin", "outdated", "--json"]);
    assert_eq!((said.code, said.json()), (Some(1), json!([])));
    let error: Value = serde_json::from_str(&said.stderr).unwrap();
    assert!(error["error"].as_str().unwrap().contains("1 of 1 reference could"), "{error}");
    assert_eq!(error["failures"].as_array().unwrap().len(), 1);
    assert_eq!(error["failures"][0]["reference"], json!(reference));
    fixture.runtime.block_on(fixture.registry.resume());

    fixture.json(&["plugin", "rollback", "csv"]);
    let serves = |listed: &Value| {
        let serving = listed.as_array().unwrap().iter().find(|release| release["serves"] == true);
        serving.unwrap()["digest"].clone()
    };
    assert_eq!(serves(&fixture.json(&["plugin", "list"])), first["digest"]);
}

#[test]
fn settings_judge_a_pulled_component_by_its_own_digest_contract_14() {
    let fixture = Fixture::new();
    let reference = fixture.registry.reference("agency/csv:1");
    let pushed = fixture.push(1, &reference);
    let require = ("YEARBOOK_PLUGINS__REQUIRE", "digest");
    let install = ["plugin", "install", &reference];
    for (allowed, code) in [(pushed["manifest"].as_str(), 1), (pushed["digest"].as_str(), 0)] {
        let allowed = ("YEARBOOK_PLUGINS__ALLOWED_DIGESTS", allowed.unwrap());
        let said = fixture.yearbook.run_with(&[require, allowed], &install);
        assert_eq!(said.code, Some(code), "{}", said.stderr);
        assert_eq!(code == 1, said.stderr.contains("allowed_digests"), "{}", said.stderr);
    }
}

#[test]
fn what_cannot_be_pushed_or_pulled_is_said_with_what_to_do() {
    let fixture = Fixture::new();
    let reference = fixture.registry.reference("agency/csv:1");
    let digest = "0".repeat(64);
    let csv = built("csv");
    let by_digest = fixture.registry.reference(&format!("agency/csv@sha256:{digest}"));
    // The smallest component: its preamble alone.
    fixture.yearbook.write("empty.wasm", "\0asm\u{d}\0\u{1}\0");
    for (arguments, part) in [
        (["plugin", "push", &csv, "out.wasm"], "no place in a registry"),
        (["plugin", "push", &csv, &by_digest], "write a tag and no digest"),
        (["plugin", "push", "absent.wasm", &reference], "build the plugin first"),
        (["plugin", "push", "empty.wasm", &reference], "exports no interface of a plugin"),
        (["plugin", "install", &reference, "--now"], "has no agency/csv:1"),
        (["plugin", "check", &by_digest, "--json"], "has no agency/csv:sha256"),
    ] {
        let said = fixture.yearbook.run(&arguments).failed(1);
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = fixture.yearbook.run(&["plugin", "install", "oci://localhost/A:1"]).failed(2);
    assert!(said.contains("lower-case"), "{said}");
    let said = fixture.yearbook.run(&["plugin", "install", "https://a.org/csv.wasm"]).failed(2);
    assert!(said.contains("download it and name the file"), "{said}");
    let half = [("YEARBOOK_REGISTRY_USERNAME", "ann")];
    let said = fixture.yearbook.run_with(&half, &["plugin", "install", &reference]).failed(1);
    assert!(said.contains("YEARBOOK_REGISTRY_HOST is missing"), "{said}");
    assert!(!fixture.yearbook.path("yearbook-data").join("objects").exists());
}

/// A helper as Docker runs it: found by `PATH`, asked on standard input.
#[test]
fn credentials_of_a_helper_and_of_a_file_reach_the_registry_and_no_message() {
    use std::os::unix::fs::PermissionsExt as _;

    let fixture = Fixture::new();
    let reference = fixture.registry.reference("agency/csv:1");
    fixture.push(1, &reference);
    let helper = fixture.yearbook.write(
        "bin/docker-credential-test",
        "#!/bin/sh\nread host || true\necho \"$host\" > asked\n\
         echo '{\"ServerURL\":\"x\",\"Username\":\"ann\",\"Secret\":\"s3cret\"}'\n\
         sleep 90 &\necho $! > left\n",
    );
    std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = json!({ "credHelpers": { &fixture.registry.host: "test" } });
    fixture.yearbook.write("docker/config.json", &config.to_string());
    let path = format!(
        "{}:{}",
        helper.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let docker = fixture.yearbook.path("docker").display().to_string();
    let variables = [("DOCKER_CONFIG", docker.as_str()), ("PATH", path.as_str())];
    let begun = Instant::now();
    let said = fixture.yearbook.run_with(&variables, &["plugin", "inspect", &reference]).ok();
    assert!(!said.stdout.contains("s3cret") && !said.stderr.contains("s3cret"));
    // It leaves a process behind, which nobody waits for.
    let left = std::fs::read_to_string(fixture.yearbook.path("left")).unwrap();
    Command::new("sh").args(["-c", &format!("kill {left}")]).status().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let asked = std::fs::read_to_string(fixture.yearbook.path("asked")).unwrap();
    assert_eq!(asked.trim(), fixture.registry.host);
    fixture.yearbook.write("docker/config.json", "{ s3cret");
    let said = fixture.yearbook.run_with(&variables, &["plugin", "inspect", &reference]).failed(1);
    assert!(said.contains("docker login") && !said.contains("s3cret"), "{said}");
}
