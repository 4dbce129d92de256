//! Settings errors name the place, the key and what would fit (contract-6-settings,
//! contract-6-unknown).

use crate::binary::Yearbook;

#[test]
fn an_unknown_key_of_the_file_names_line_and_nearest_key_contract_6() {
    let yearbook = Yearbook::new();
    yearbook.write("yearbook.toml", "[limits]\nburst_per_secnd = 0\n");
    let said = yearbook.run(&["keys", "list"]).failed(1);
    assert_eq!(
        said,
        "error: a setting is wrong: yearbook.toml, line 2: unknown key `limits.burst_per_secnd`; the nearest known key is `limits.burst_per_second`\n"
    );
    assert!(!yearbook.path("yearbook-data").exists());
}

#[test]
fn an_unknown_variable_names_the_nearest_variable_contract_6() {
    let said = Yearbook::new()
        .run_with(&[("YEARBOOK_LIMITS__BURST_SZE", "1")], &["--json", "keys", "list"])
        .failed(1);
    let error: serde_json::Value = serde_json::from_str(&said).unwrap();
    let sentence = error["error"].as_str().unwrap();
    assert!(
        sentence.contains("the nearest known key is `YEARBOOK_LIMITS__BURST_SIZE`"),
        "{sentence}"
    );
}

#[test]
fn every_wrong_value_is_named_at_once() {
    let yearbook = Yearbook::new();
    let file = yearbook.write(
        "other.toml",
        "[server]\nlisten = \"nowhere\"\npublic_url = \"ftp://x\"\n[log]\nformat = 3\n",
    );
    let said = yearbook.run(&["--config", file.to_str().unwrap(), "migrate"]).failed(1);
    assert!(said.starts_with("error: 3 settings are wrong\n"), "{said}");
    for part in [
        "other.toml, line 2: `server.listen` must be something like \"127.0.0.1:8080\"",
        "other.toml, line 3: `server.public_url` must be",
        "other.toml, line 5: `log.format` must be text, not 3",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_settings_file_that_is_named_must_exist() {
    let said = Yearbook::new().run(&["--config", "absent.toml", "keys", "list"]).failed(1);
    assert!(said.contains("there is no settings file absent.toml"), "{said}");
}

#[test]
fn the_flag_wins_over_the_variable_contract_6() {
    let yearbook = Yearbook::new();
    let in_variable = yearbook.path("variable");
    let variables = [("YEARBOOK_DATA_DIR", in_variable.to_str().unwrap())];
    yearbook.run_with(&variables, &["--data-dir", "flag", "migrate"]).ok();
    assert!(yearbook.path("flag/yearbook.db").exists());
    assert!(!in_variable.exists());
    yearbook.run_with(&variables, &["migrate"]).ok();
    assert!(in_variable.join("yearbook.db").exists());
}

#[test]
fn the_variable_wins_over_the_file_and_the_file_over_the_default_contract_6() {
    let yearbook = Yearbook::new();
    yearbook.write("yearbook.toml", "[server]\nlisten = \"127.0.0.2:1\"\n");
    let create = ["keys", "create", "--plan", "free"];
    assert!(yearbook.run(&create).ok().stdout.contains("http://127.0.0.2:1/v1/datasets"));
    let said = yearbook.run_with(&[("YEARBOOK_SERVER__LISTEN", "127.0.0.3:1")], &create).ok();
    assert!(said.stdout.contains("http://127.0.0.3:1/v1/datasets"), "{}", said.stdout);
}

#[test]
fn the_data_directory_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let yearbook = Yearbook::new();
    yearbook.run(&["--data-dir", "a/b", "migrate"]).ok();
    let mode = std::fs::metadata(yearbook.path("a/b")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_data_directory_that_cannot_be_made_says_what_to_do() {
    let yearbook = Yearbook::new();
    yearbook.write("file", "");
    let said = yearbook.run(&["--data-dir", "file/data", "migrate"]).failed(1);
    assert!(
        said.contains("cannot create the data directory") && said.contains("--data-dir"),
        "{said}"
    );
}

#[test]
fn a_database_address_of_no_known_kind_does_not_show_a_password() {
    let said = Yearbook::new()
        .run_with(&[("YEARBOOK_DATABASE_URL", "mysql://ann:hunter2@db/x")], &["migrate"])
        .failed(1);
    assert!(said.contains("mysql") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_wrong_use_is_exit_code_2() {
    let yearbook = Yearbook::new();
    yearbook.run(&["keys", "create", "--plan", "gold"]).failed(2);
    let said = yearbook.run(&["keys", "create", "--plan", "gold", "--json"]).failed(2);
    let error: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(error["error"].as_str().unwrap().contains("gold"), "{said}");
    yearbook.run(&["datasets", "show", "Not-Snake"]).failed(2);
    assert_eq!(yearbook.run(&["--help"]).ok().stderr, "");
}
