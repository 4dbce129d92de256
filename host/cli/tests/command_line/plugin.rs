//! `yearbook plugin` as operators and authors see it. Needs the built-in plugins (`cargo xtask
//! plugins`).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::Yearbook;

/// A component that `cargo xtask plugins` built.
pub(crate) fn built(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../plugins/dist")
        .join(format!("{name}.wasm"));
    path.to_str().unwrap().to_owned()
}

/// File of a built-in plugin with other words of the same length in it. What follows an `@` is a
/// name of the interface and stays.
pub(crate) fn patched(yearbook: &Yearbook, name: &str, from: &[u8], to: &[u8]) -> String {
    let mut bytes = std::fs::read(built(name)).unwrap();
    let places: Vec<usize> = (1..bytes.len() - from.len())
        .filter(|at| bytes[at - 1] != b'@' && bytes[*at..].starts_with(from))
        .collect();
    assert!(!places.is_empty() && from.len() == to.len());
    places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to));
    let file = yearbook.path("patched.wasm");
    std::fs::write(&file, bytes).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_good_plugin_passes_its_check_and_nothing_is_left_behind_contract_6() {
    let yearbook = Yearbook::new();
    let said = yearbook.run(&["plugin", "check", &built("csv")]).ok();
    assert!(said.stdout.starts_with("csv 0.1.0 (encoder)\ndigest   "), "{}", said.stdout);
    for part in [
        "imports  yearbook:plugin/log@1.1.0, yearbook:plugin/types@1.1.0",
        "exports  yearbook:plugin/encoder@1.1.0",
        "sandbox.cpu_ms_per_call",
        "Nothing is wrong.",
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    let report = yearbook.run(&["plugin", "check", &built("meltano"), "--json"]).ok().json();
    assert_eq!(
        (&report["kind"], &report["name"], &report["findings"]),
        (&json!("generator"), &json!("meltano"), &json!([]))
    );
    assert!(!yearbook.path("yearbook-data").exists());
}

#[test]
fn what_is_wrong_is_said_with_place_and_advice_and_exit_code_1() {
    let yearbook = Yearbook::new();
    let said = yearbook.run(&["plugin", "check", &built("evil-generator"), "--dumps", "dumps"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("WRONG\n  1. option evil.attack="), "{}", said.stdout);
    assert!(said.stdout.contains("     -> return at least one file"), "{}", said.stdout);
    assert!(said.stderr.contains("things are wrong with"), "{}", said.stderr);
    let notes = yearbook.write("notes.txt", "no plugin");
    let said = yearbook.run(&["plugin", "check", notes.to_str().unwrap()]).failed(1);
    assert!(said.contains("notes.txt is no plugin") && said.contains("not WebAssembly"), "{said}");
    let said = yearbook.run(&["plugin", "check", "absent.wasm"]).failed(1);
    assert!(said.contains("absent.wasm") && said.contains("build the plugin first"), "{said}");
}

#[test]
fn installing_and_taking_back_is_told_and_kept_contract_6() {
    let yearbook = Yearbook::new();
    let install = |file: &str, more: &[&str]| {
        yearbook.run(&[&["plugin", "install", file, "--json"][..], more].concat()).ok().json()
    };
    let first = install(&built("csv"), &["--by", "ann", "--reason", "wanted"]);
    assert_eq!(
        (&first["name"], &first["state"], &first["unchanged"], &first["before"]),
        (&json!("csv"), &json!("promoted"), &json!(false), &Value::Null)
    );
    assert_eq!(install(&built("csv"), &[])["unchanged"], json!(true));
    let listed = yearbook.run(&["plugin", "list", "--json"]).ok().json();
    let [release] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(
        (&release["installed_by"], &release["serves"], &release["built_in"]),
        (&json!("ann"), &json!(true), &json!(false))
    );
    assert_eq!(release["reason"], json!("wanted"));

    let said = yearbook.run(&["plugin", "rollback", "csv"]).failed(1);
    assert!(said.contains("no other promoted release"), "{said}");
    let said = yearbook.run(&["plugin", "rollback", "xlsx"]).failed(1);
    assert!(said.contains("there is no plugin \"xlsx\""), "{said}");
    yearbook.run(&["plugin", "pin", "csv"]).failed(2);
    let digest = first["digest"].as_str().unwrap();
    let said = yearbook.run(&["plugin", "pin", "csv", &digest[..8]]).ok();
    assert!(said.stdout.contains("pinned."), "{}", said.stdout);
    assert!(yearbook.run(&["plugin", "list"]).ok().stdout.contains("pinned"));
    yearbook.run(&["plugin", "pin", "csv", "--off"]).ok();
    let said = yearbook.run(&["plugin", "remove", "csv", "--reason", "no need"]).ok();
    assert!(said.stdout.contains("Nothing of that name is left"), "{}", said.stdout);
    let doctor = || yearbook.run(&["doctor", "--json", "--plugins", "none"]).json();
    let releases = |checks: Value| {
        checks.as_array().unwrap().iter().find(|check| check["name"] == "releases").unwrap().clone()
    };
    assert_eq!(releases(doctor())["status"], "ok");
    install(&built("csv"), &[]);
    std::fs::write(
        yearbook.path("yearbook-data/objects/plugins").join(format!("{digest}.wasm")),
        b"cut",
    )
    .unwrap();
    let found = releases(doctor());
    assert!(
        found["status"] == "fail"
            && found["message"].as_str().unwrap().contains("install it again"),
        "{found}"
    );

    let history = yearbook.run(&["plugin", "list", "--history", "--json"]).ok().json();
    let told: Vec<&str> =
        history.as_array().unwrap().iter().map(|event| event["what"].as_str().unwrap()).collect();
    assert_eq!(told, ["promoted", "pinned", "unpinned", "removed", "promoted"]);
    assert_ne!(history[3]["by"], json!(""), "the system user, where nobody is named");
}

#[test]
fn an_installation_under_a_pin_names_the_release_that_goes_on_serving_contract_6() {
    let yearbook = Yearbook::new();
    let first = yearbook.run(&["plugin", "install", &built("csv"), "--json"]).ok().json();
    assert_eq!(first["pinned"], Value::Null);
    let digest = first["digest"].as_str().unwrap();
    yearbook.run(&["plugin", "pin", "csv", digest]).ok();
    let newer = patched(&yearbook, "csv", b"0.1.0", b"0.2.0");
    let install = ["plugin", "install", &newer, "--now"];
    for (arguments, done) in [
        (&install[..3], "is installed and waits"),
        (&install, "is installed and promoted"),
        (&install[..3], "was promoted already"),
    ] {
        let said = yearbook.run(arguments).ok().stdout;
        let sentence = format!("{done}, but the name is pinned to {}", &digest[..8]);
        assert!(said.contains(&sentence) && said.contains("pin encoder/csv --off"), "{said}");
    }
    let again = yearbook.run(&["plugin", "install", &newer, "--json"]).ok().json();
    assert_eq!(again["pinned"], first["digest"]);
}

#[test]
fn a_transform_is_not_called_like_a_built_in_format_contract_15() {
    let yearbook = Yearbook::new();
    let file = patched(&yearbook, "pivot", b"pivot", b"arrow");
    let said = yearbook.run(&["plugin", "check", &file]);
    assert_eq!(said.code, Some(1));
    let sentence = "it is called like the built-in format \"arrow\"";
    assert!(said.stdout.contains(sentence), "{}", said.stdout);
    // Beside its own kind a name is that of another release.
    let report = yearbook.run(&["plugin", "check", &built("pivot"), "--json"]).ok().json();
    assert_eq!(report["findings"], json!([]));
}

#[test]
fn the_key_that_signed_a_release_is_listed_as_it_is_inspected() {
    let yearbook = Yearbook::new();
    // Of another file: nobody asks for signatures here, so nobody verifies it.
    let signature = "untrusted comment: signature from minisign secret key
RUSvqcZ0EDklpiT2wPJiuVHXF/lxa9M72qAoTFz8MAThSpnrayaTxSvfTexxvWGsDvpB87mNEIyXk1VNQv2UBY2VGsQlR2+NBQk=
trusted comment: made for a test
8rAUzPQBjIGcdfW5S5kxUooEhzf2yESpzFsDwh4CyWp9ALJFtgVfqqSEzoxJFb2h2rvUYHnc0prWanSgATM3Dw==
";
    yearbook.write("csv.minisig", signature);
    let inspected = yearbook
        .run(&["plugin", "inspect", &built("csv"), "--signature", "csv.minisig", "--json"])
        .ok()
        .json();
    yearbook.run(&["plugin", "install", &built("csv"), "--signature", "csv.minisig"]).ok();
    yearbook.run(&["plugin", "install", &built("json")]).ok();
    let listed = yearbook.run(&["plugin", "list", "--json"]).ok().json();
    let signed_by = |name: &str| {
        listed.as_array().unwrap().iter().find(|release| release["name"] == name).unwrap()["signed_by"].clone()
    };
    assert_eq!(
        (signed_by("csv"), signed_by("json")),
        (inspected["signed_by"].clone(), Value::Null)
    );
    assert_eq!(inspected["signed_by"], json!("A625391074C6A9AF"));
    // The command that promotes what waits names the signature again.
    let newer = patched(&yearbook, "csv", b"0.1.0", b"0.2.0");
    let said = yearbook.run(&["plugin", "install", &newer, "--signature", "csv.minisig"]).ok();
    let hint = format!("yearbook plugin install {newer} --signature csv.minisig --now");
    assert!(said.stdout.contains(&hint), "{}", said.stdout);
    let table = yearbook.run(&["plugin", "list"]).ok().stdout;
    assert!(table.contains("SIGNED") && table.contains("A625391074C6A9AF"), "{table}");
}

#[test]
fn a_plugin_that_fails_its_check_is_not_installed_contract_6() {
    let yearbook = Yearbook::new();
    // The plugin panics on purpose, and what a plugin logs would stand beside the error.
    let install = ["plugin", "install", &built("evil-generator"), "--now", "--json"];
    let said = yearbook.run_with(&[("YEARBOOK_LOG__LEVEL", "off")], &install).failed(1);
    let error: Value = serde_json::from_str(&said).unwrap();
    assert!(
        error["error"].as_str().unwrap().contains("not installed")
            && !error["report"]["findings"].as_array().unwrap().is_empty(),
        "{said}"
    );
    assert_eq!(yearbook.run(&["plugin", "list", "--json"]).ok().json(), json!([]));
}

#[test]
fn a_project_is_written_once_and_under_a_good_name() {
    let yearbook = Yearbook::new();
    let made = yearbook.run(&["plugin", "new", "generator", "my-tool", "--json"]).ok().json();
    assert_eq!(made["module"], json!("target/wasm32-unknown-unknown/release/my_tool.wasm"));
    // The SDK has the bindings of every version.
    for interface in ["1.1.0/generator.wit", "1.2.0/transform.wit"] {
        assert!(yearbook.path(&format!("my-tool/yearbook/plugins/sdk/wit/{interface}")).exists());
    }
    let said = yearbook.run(&["plugin", "new", "encoder", "my-tool"]).failed(1);
    assert!(said.contains("exists already"), "{said}");
    yearbook.run(&["plugin", "new", "encoder", "My Tool"]).failed(2);
}

/// A component whose one function is within every bound on sizes and takes a compiler minutes and
/// gigabytes: a value for every local meets at every block.
fn bomb() -> Vec<u8> {
    let block = |at: usize| {
        let local = |factor: usize| at * factor % 15_000;
        format!(
            "(block (br_if 0 (local.get {})) (local.set {} (local.get {})))",
            local(1),
            local(13),
            local(7)
        )
    };
    let body: String = (0..60_000).map(block).collect();
    wat::parse_str(format!(
        "(component (core module (func (local {}) {body})))",
        "i32 ".repeat(15_000)
    ))
    .unwrap()
}

#[test]
fn a_compile_bomb_ends_at_its_limit_of_time_or_memory() {
    let yearbook = Yearbook::new();
    let file = yearbook.path("bomb.wasm");
    std::fs::write(&file, bomb()).unwrap();
    let check = |variable: (&str, &str)| {
        let begun = Instant::now();
        let said = yearbook.run_with(&[variable], &["plugin", "check", file.to_str().unwrap()]);
        assert_eq!(said.code, Some(1));
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        said.stdout
    };
    let said = check(("YEARBOOK_SANDBOX__COMPILE_MS", "1000"));
    assert!(
        said.contains("1. compiling")
            && said.contains("more than 1000 ms of processor time (sandbox.compile_ms)"),
        "{said}"
    );
    let said = check(("YEARBOOK_SANDBOX__COMPILE_MEMORY_BYTES", "1300000000"));
    assert!(said.contains("sandbox.compile_memory_bytes"), "{said}");
}

#[test]
fn a_process_that_compiles_takes_components_from_strangers_and_ends() {
    let yearbook = Yearbook::new();
    let file = yearbook.write("damaged.wasm", "");
    let good = std::fs::read(built("csv")).unwrap();
    std::fs::write(&file, &good[..good.len() / 2]).unwrap();
    let said = yearbook.run(&["plugin", "check", file.to_str().unwrap()]);
    assert!(said.code == Some(1) && said.stdout.contains("1. compiling"), "{}", said.stdout);
    // No limit, no compiling.
    yearbook.run(&["__compile", "all", "1"]).failed(1);
}

#[test]
fn a_plugin_is_measured_beside_json_and_csv_in_one_run_contract_14() {
    let yearbook = Yearbook::new();
    let bench = |file: &str| {
        yearbook.run(&["plugin", "bench", &built(file), "--runs", "1", "--json"]).ok().json()
    };
    let figures = bench("ndjson");
    let names: Vec<_> = figures
        .as_array()
        .unwrap()
        .iter()
        .map(|figure| (figure["table"].as_str().unwrap(), figure["plugin"].as_str().unwrap()))
        .collect();
    let expected: Vec<_> = ["long", "wide", "text"]
        .into_iter()
        .flat_map(|table| ["ndjson", "json", "csv"].map(|plugin| (table, plugin)))
        .collect();
    assert_eq!(names, expected);
    for figure in figures.as_array().unwrap() {
        for rate in ["rows_per_second", "bytes_per_second", "fresh_response_us", "memory_bytes"] {
            assert!(figure[rate].as_f64().unwrap() > 0.0, "{rate}: {figure}");
        }
        let share = figure["crossing_share"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{figure}");
        assert_eq!(figure.as_object().unwrap().len(), 7, "{figure}");
    }
    // A name that a peer has, and a format that wants more columns than the tables have.
    let own = bench("csv")[0]["plugin"].as_str().unwrap().to_owned();
    assert!(own.starts_with("csv@"), "{own}");
    assert_eq!(bench("geojson")[1]["table"], json!("long, furnished"));
    let said = yearbook.run(&["plugin", "bench", &built("meltano")]).failed(1);
    assert!(said.contains("no other plugin takes rows"), "{said}");
    assert!(!yearbook.path("yearbook-data").exists());
}

#[test]
fn an_adapter_is_measured_by_its_examples_contract_17() {
    let yearbook = Yearbook::new();
    let bench = ["plugin", "bench", &built("time-series"), "--runs", "1"];
    let figures = yearbook.run(&[&bench[..], &["--json"]].concat()).ok().json();
    let figures = figures.as_array().unwrap();
    let example = |at: usize| figures[at]["example"].as_str().unwrap();
    assert!(example(0).starts_with("/series/obs"), "{figures:?}");
    for figure in figures {
        for number in ["requests_per_second", "call_us", "calls", "memory_bytes"] {
            assert!(figure[number].as_f64().unwrap() > 0.0, "{number}: {figure}");
        }
        assert_eq!(figure.as_object().unwrap().len(), 7, "{figure}");
    }
    // Asking for facts is a call more, and what is told comes in with the next.
    let first = &figures[0];
    assert!(first["calls"].as_u64() > Some(1) && first["fact_bytes"].as_u64() > Some(0), "{first}");
    let table = yearbook.run(&bench).ok().stdout;
    assert!(table.starts_with("EXAMPLE") && table.contains("REQUESTS/S"), "{table}");
}

#[test]
fn a_transform_is_measured_beside_growth_and_resample_contract_16() {
    let yearbook = Yearbook::new();
    let bench = |file: &str| {
        yearbook.run(&["plugin", "bench", &built(file), "--runs", "1", "--json"]).ok().json()
    };
    let measured = |figures: &Value| -> Vec<String> {
        let figure = |figure: &Value| {
            [&figure["table"], &figure["plugin"]]
                .map(|name| name.as_str().unwrap().to_owned())
                .join(" ")
        };
        figures.as_array().unwrap().iter().map(figure).collect()
    };
    let figures = bench("idle-transform");
    // Neither built-in takes a table without dates.
    let expected = [
        "long idle",
        "long growth",
        "long resample",
        "wide idle",
        "wide growth",
        "wide resample",
        "text idle",
    ];
    assert_eq!(measured(&figures), expected);
    for figure in figures.as_array().unwrap() {
        for rate in ["rows_per_second", "bytes_per_second", "fresh_response_us", "memory_bytes"] {
            assert!(figure[rate].as_f64().unwrap() > 0.0, "{rate}: {figure}");
        }
        let share = figure["crossing_share"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{figure}");
        assert_eq!(figure.as_object().unwrap().len(), 7, "{figure}");
    }
    // A name that a peer has, tables that the plugin itself declines, and a parameter that must be
    // given.
    let own = measured(&bench("growth"));
    assert!(own.len() == 6 && own[0].starts_with("long growth@"), "{own:?}");
    assert_eq!(measured(&bench("pivot"))[..2], ["long pivot", "long growth"]);
}
