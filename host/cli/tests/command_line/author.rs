//! The loop of a plugin's author: `plugin dev` and `plugin profile` over a project that `plugin
//! new` makes. Builds it seven times; needs the built-in plugins.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::binary::{CommandOutput, Yearbook};
use crate::serve::{ServeProcess, status};

/// Module of the project's build.
const MODULE: &str = "growth/target/wasm32-unknown-unknown/release/growth.wasm";

/// Cargo builds as an author's does, into the project's own folder, but without the registry, and
/// what projects have in common once for all tests and runs. What is no library has the same name
/// there whichever project it is of, so projects have names of their own.
pub(crate) fn as_authors(command: &mut Command) -> &mut Command {
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS"] {
        command.env_remove(variable);
    }
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("authors");
    command.env("CARGO_BUILD_BUILD_DIR", shared).env("CARGO_NET_OFFLINE", "true")
}

#[test]
fn every_change_is_built_served_shown_checked_and_profiled_contract_16() {
    let yearbook = Yearbook::new();
    yearbook.run(&["plugin", "new", "transform", "growth"]).ok();
    let source = std::fs::read_to_string(yearbook.path("growth/src/lib.rs")).unwrap();
    let change = |to: &str| {
        assert!(source.contains("value * self.by"));
        yearbook.write("growth/src/lib.rs", &source.replace("value * self.by", to));
    };

    let mut command = yearbook.command(&["plugin", "dev", "growth", "--json"]);
    let errors = std::fs::File::create(yearbook.path("errors")).unwrap();
    as_authors(&mut command).stdout(Stdio::piped()).stderr(errors);
    let mut dev = ServeProcess(command.spawn().unwrap());
    let mut lines = BufReader::new(dev.0.stdout.take().unwrap()).lines();
    let errors = || std::fs::read_to_string(yearbook.path("errors")).unwrap();
    let mut next = || -> Value {
        let line = lines.next().unwrap_or_else(|| panic!("it ended: {}", errors()));
        serde_json::from_str(&line.unwrap()).unwrap()
    };
    let listening = next();
    let address = listening["listening"].as_str().unwrap().strip_prefix("http://").unwrap();
    let first = next();
    let answer = &first["answer"];
    assert_eq!((&first["plugin"], &answer["status"]), (&json!("growth"), &json!(200)), "{first}");
    assert_eq!(answer["changed"][0], json!("+ date,region,value,count"));
    assert_eq!(answer["changed"][2], json!("+ 2020-01-01,north,50.0,0"));
    for cost in ["bytes", "ms", "cpu_ms", "calls", "memory_bytes", "ms_since_build"] {
        assert!(answer[cost].as_f64().unwrap() > 0.0, "{cost}: {first}");
    }
    let checked = next();
    assert_eq!(checked["findings"], json!([]));
    assert!(checked["tried"].as_u64().unwrap() > 10, "{checked}");

    change("value * self.by + 1.0");
    let second = next();
    assert_ne!(second["digest"], first["digest"]);
    let changed = second["answer"]["changed"].as_array().unwrap();
    for line in ["- 2020-01-01,north,50.0,0", "+ 2020-01-01,north,51.0,0"] {
        assert!(changed.contains(&json!(line)), "{line}: {second}");
    }
    assert_eq!(next()["findings"], json!([]));

    // The compiler says what is wrong, and the plugin before goes on serving.
    change("value * nonsense");
    assert_eq!(next(), json!({ "failed": "the build failed" }));
    assert!(errors().contains("cannot find value `nonsense`"), "{}", errors());
    let path = "/v1/datasets/sample/data?apply=growth";
    assert_eq!(status(address, path, &listening), 200);

    // A failure is an answer too, and can be replayed.
    change("if value > 35.0 { panic!(\"{value}\") } else { value }");
    let failed = next();
    assert_eq!(failed["answer"]["status"], json!(500));
    next();
    let digest = failed["digest"].as_str().unwrap();
    let dump = format!("growth/target/dumps/{}-push-wasm.dump.arrow", &digest[..16]);
    let replayed = yearbook.run(&["plugin", "replay", &dump, "--component", MODULE]);
    assert_eq!(replayed.code, Some(1), "{}", replayed.stderr);
    let says = ["panicked at src/lib.rs", "it fails as before"];
    assert!(replayed.stdout.contains(says[0]) && replayed.stderr.contains(says[1]));
    // The first one again costs what it did: the check, which had large tables, counts elsewhere.
    change("value * self.by");
    let again = next();
    assert_eq!((&again["digest"], &again["answer"]["status"]), (&first["digest"], &json!(200)));
    assert_eq!(again["answer"]["memory_bytes"], answer["memory_bytes"]);
    assert_eq!(next()["findings"], json!([]));
    let id = dev.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(dev.0.wait().unwrap().code(), Some(0));

    let profile = ["plugin", "profile", MODULE, "--runs", "2", "--json"];
    let nameless = yearbook.run(&profile).failed(1);
    assert!(nameless.contains("have no names"), "{nameless}");
    let mut cargo = Command::new("cargo");
    as_authors(&mut cargo).current_dir(yearbook.path("growth"));
    yearbook.write("growth/src/lib.rs", &source);
    cargo.args(["wasm", "--config", "profile.release.strip=\"debuginfo\""]);
    CommandOutput::from_output(cargo.output().unwrap()).ok();
    let said = yearbook.run(&profile).ok().json();
    let functions = said["functions"].as_array().unwrap();
    let names: Vec<&str> = functions.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.contains("growth::")), "{said}");
    let written = std::fs::read(yearbook.path(said["profile"].as_str().unwrap())).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    let samples = written["samples"].as_array().unwrap();
    assert_eq!(samples.len(), written["timeDeltas"].as_array().unwrap().len());
    let nodes = written["nodes"].as_array().unwrap();
    assert_eq!(nodes[0]["callFrame"]["functionName"], json!("(root)"));
    let hits: u64 = nodes.iter().map(|node| node["hitCount"].as_u64().unwrap()).sum();
    assert_eq!((hits, json!(hits)), (samples.len() as u64, said["samples"].clone()));
    // Each node has one caller, and a call that was seen.
    let callees = nodes.iter().flat_map(|node| node["children"].as_array().unwrap());
    assert_eq!(callees.count(), nodes.len() - 1);
    assert!(samples.iter().all(|leaf| leaf.as_u64().unwrap() < nodes.len() as u64));
}
