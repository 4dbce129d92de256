//! Failure dumps of `plugin check` and of a server, and `yearbook plugin replay`.
//! Needs the built-in plugins.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::binary::Yearbook;
use crate::plugin::built;
use crate::serve::{ServeProcess, status, within_two_seconds};

/// Under a limit that no large table keeps to, csv fails.
const SMALL_OUTPUT_LIMIT: (&str, &str) = ("YEARBOOK_SANDBOX__OUTPUT_BYTES_PER_CALL", "20000");
const NO_LOG: (&str, &str) = ("YEARBOOK_LOG__LEVEL", "off");

#[test]
fn a_failed_check_leaves_dumps_and_says_how_to_replay_them() {
    let yearbook = Yearbook::new();
    let evil = built("evil-generator");
    let said =
        yearbook.run_with(&[NO_LOG], &["plugin", "check", &evil, "--dumps", "left", "--json"]);
    let (code, report) = (said.code, said.json());
    assert_eq!(code, Some(1));
    let dumps: Vec<&str> =
        report["dumps"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(
        dumps.len() > 2
            && dumps.iter().all(|path| path.starts_with("left/") && path.contains("-generate-")),
        "{dumps:?}"
    );
    let said = yearbook.run_with(&[NO_LOG], &["plugin", "check", &evil, "--dumps", "left"]);
    assert!(said.stdout.ends_with(&format!("--component {evil}\n")), "{}", said.stdout);
    let trap = dumps.iter().find(|path| path.ends_with("-generate-wasm.dump.arrow")).unwrap();
    assert!(
        said.stdout.contains(&format!("    yearbook plugin replay {trap} --component {evil}\n")),
        "{}",
        said.stdout
    );
    assert_eq!(std::fs::metadata(yearbook.path(trap)).unwrap().permissions().mode() & 0o777, 0o600);

    let same = yearbook.run_with(&[NO_LOG], &["plugin", "replay", trap, "--component", &evil]);
    assert_eq!((same.code, same.stderr.as_str()), (Some(1), "error: it fails as before\n"));
    for part in [
        "failed at  generate for 4 datasets: trapped: ",
        "(wasm)",
        ": the same component",
        "now        generate: trapped: ",
    ] {
        assert!(same.stdout.contains(part), "{part}: {}", same.stdout);
    }
    let mended = yearbook
        .run(&["plugin", "replay", trap, "--component", &built("meltano"), "--json"])
        .ok()
        .json();
    assert_eq!((&mended["outcome"], &mended["failed"]), (&json!("succeeds"), &Value::Null));
    assert!(mended["bytes"].as_u64().unwrap() > 1_000);
    let other = yearbook.run(&["plugin", "replay", trap, "--component", &built("csv")]).failed(1);
    assert!(other.contains("of the kind generator"), "{other}");
    // Built-in plugins are looked through by digest.
    let folder = yearbook.path("plugins");
    std::fs::create_dir(&folder).unwrap();
    for name in yearbook_cli::builtin::NAMES {
        std::fs::copy(&evil, folder.join(format!("{name}.wasm"))).unwrap();
    }
    let found =
        yearbook.run_with(&[NO_LOG], &["plugin", "replay", trap, "--plugins", "plugins", "--json"]);
    assert_eq!((found.code, &found.json()["outcome"]), (Some(1), &json!("fails_as_before")));
}

#[test]
fn an_installed_release_is_replayed_by_its_digest_under_the_dumps_limits() {
    let yearbook = Yearbook::new();
    let csv = built("csv");
    let said = yearbook
        .run_with(&[SMALL_OUTPUT_LIMIT], &["plugin", "check", &csv, "--dumps", ".", "--json"])
        .json();
    let [dump] = said["dumps"].as_array().unwrap().as_slice() else { panic!("{said}") };
    let replay = ["plugin", "replay", dump.as_str().unwrap(), "--plugins", "none", "--json"];
    let unknown = yearbook.run(&replay).failed(1);
    assert!(unknown.contains("--component FILE.wasm"), "{unknown}");
    yearbook.run(&["plugin", "install", &csv]).ok();
    let same = yearbook.run(&replay);
    assert_eq!((same.code, same.json()["outcome"].clone()), (Some(1), json!("fails_as_before")));
    assert_eq!(same.json()["dump"]["limits"]["output_bytes_per_call"], json!(20_000));
    let text = yearbook.run(&replay[..5]);
    assert!(text.stdout.contains("from the object store: the same component\n"), "{}", text.stdout);
}

#[test]
fn what_is_no_dump_is_said_in_a_sentence() {
    let yearbook = Yearbook::new();
    yearbook.write("notes.txt", "nothing");
    let said = yearbook.run(&["plugin", "replay", "notes.txt"]).failed(1);
    assert!(
        said.contains("cannot replay notes.txt") && said.contains("its end is missing"),
        "{said}"
    );
    let said = yearbook.run(&["plugin", "replay", "absent"]).failed(1);
    assert!(said.contains("cannot replay absent"), "{said}");
    let made = yearbook
        .run_with(
            &[SMALL_OUTPUT_LIMIT],
            &["plugin", "check", &built("csv"), "--dumps", ".", "--json"],
        )
        .json();
    let path = yearbook.path(made["dumps"][0].as_str().unwrap());
    let whole = std::fs::read(&path).unwrap();
    // From the schema into the rows: the library that reads it panics over some of these, and
    // nobody hears of it.
    for at in (0..whole.len()).step_by(whole.len() / 20) {
        let mut bytes = whole.clone();
        bytes[at..].iter_mut().take(8).for_each(|byte| *byte ^= 0xff);
        std::fs::write(&path, bytes).unwrap();
        let said = yearbook
            .run(&["plugin", "replay", path.to_str().unwrap(), "--component", "absent.wasm"])
            .failed(1);
        assert!(said.starts_with("error: cannot ") && said.lines().count() <= 3, "{said}");
    }
}

#[test]
fn a_server_keeps_what_a_plugin_fails_at_where_the_settings_say() {
    let yearbook = Yearbook::new();
    let rows: String = (0..3_000)
        .map(|day| {
            format!("{:04}-{:02}-{:02},{day}\n", 1900 + day / 336, day / 28 % 12 + 1, day % 28 + 1)
        })
        .collect();
    yearbook.package("tiny", &rows);
    yearbook.run(&["publish", "tiny"]).ok();
    let key = yearbook.run(&["keys", "create", "--plan", "enterprise", "--json"]).ok().json();
    let mut command = yearbook.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    // No note at all is less than the small table needs: the plugin's failure. Each request is a
    // run.
    let limits = [("YEARBOOK_SANDBOX__NOTE_BYTES", "0"), ("YEARBOOK_SERVER__FAILED_INPUT_MS", "0")];
    command.envs(limits).env("YEARBOOK_PLUGINS__DUMPS", "kept");
    let mut server =
        ServeProcess(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line)
        .unwrap_or_else(|_| panic!("the server did not start; are plugins built?"));
    let address = ready["listening"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let path = "/v1/datasets/tiny/data?format=parquet&limit=0";
    // With an option it is the option's: a refusal, which leaves nothing.
    within_two_seconds(|| {
        status(&address, &format!("{path}&parquet.compression=none"), &key) == 422
    });
    assert_eq!(std::fs::read_dir(yearbook.path("kept")).unwrap().count(), 0);
    for _ in 0..3 {
        within_two_seconds(|| status(&address, path, &key) == 500);
    }
    let kept: Vec<_> = std::fs::read_dir(yearbook.path("kept"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [dump] = &kept[..] else { panic!("{kept:?}") };
    assert!(dump.to_str().unwrap().ends_with("-part-notes.dump.arrow"), "{dump:?}");
    let same = yearbook.run(&["plugin", "replay", dump.to_str().unwrap()]);
    assert_eq!((same.code, same.stderr.as_str()), (Some(1), "error: it fails as before\n"));
    let expected = "failed at  part of 3000 rows and 2 columns: left notes of more than 0 bytes";
    assert!(same.stdout.contains(expected), "{}", same.stdout);
}
