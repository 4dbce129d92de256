//! The life of a key (contract-5-hash, contract-6-keys).

use std::time::{Duration, Instant};

use crate::binary::Yearbook;
use crate::served::CliServer;

#[test]
fn a_key_is_shown_once_listed_and_revoked_contract_6() {
    let yearbook = Yearbook::new();
    let created = yearbook
        .run(&["keys", "create", "--plan", "pro", "--label", "a partner", "--json"])
        .ok()
        .json();
    let members: Vec<_> = created.as_object().unwrap().keys().collect();
    assert_eq!(members, ["id", "key", "plan"]);
    let (id, key) = (created["id"].as_str().unwrap(), created["key"].as_str().unwrap());
    assert!(key.starts_with("yb_"));

    let listed = yearbook.run(&["keys", "list", "--json"]).ok();
    assert!(!listed.stdout.contains(key));
    let listed = listed.json();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["plan"], &listed[0]["label"]),
        (&created["id"], &"pro".into(), &"a partner".into())
    );
    assert!(listed[0]["revoked_at"].is_null());

    yearbook.run(&["keys", "revoke", id]).ok();
    assert!(yearbook.run(&["keys", "list", "--json"]).ok().json()[0]["revoked_at"].is_string());
    // Asking again is no mistake.
    yearbook.run(&["keys", "revoke", id]).ok();
}

#[test]
fn the_key_is_nowhere_in_the_data_directory() {
    let yearbook = Yearbook::new();
    let key = yearbook.run(&["keys", "create", "--plan", "free", "--json"]).ok().json()["key"]
        .as_str()
        .unwrap()
        .to_owned();
    for file in std::fs::read_dir(yearbook.path("yearbook-data")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.windows(key.len()).any(|window| window == key.as_bytes()),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn a_key_that_could_not_be_shown_is_revoked_contract_6() {
    let yearbook = Yearbook::new();
    for arguments in
        [&["keys", "create", "--plan", "free"][..], &["share", "profile", "--label", "warehouse"]]
    {
        for said in yearbook.run_unheard(arguments) {
            assert!(said.failed(1).contains("was not shown, and is revoked"));
        }
    }
    let listed = yearbook.run(&["keys", "list", "--json"]).ok().json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 4);
    assert!(listed.iter().all(|key| key["revoked_at"].is_string()), "{listed:?}");
}

#[test]
fn people_are_shown_how_to_use_a_key() {
    let said = Yearbook::new().run(&["keys", "create", "--plan", "free"]).ok().stdout;
    assert!(said.contains("shown only now") && said.contains("curl -H 'X-API-Key: yb_"), "{said}");
}

#[test]
fn an_unknown_id_is_an_error_that_says_where_to_look() {
    for command in ["revoke", "end-links"] {
        let said = Yearbook::new().run(&["keys", command, "key_nobody"]).failed(1);
        assert_eq!(
            said,
            "error: there is no key with the id \"key_nobody\"; `yearbook keys list` shows them\n"
        );
    }
}

#[test]
fn a_running_server_refuses_links_that_were_ended_within_2_s_contract_15() {
    let served = CliServer::start(&[]);
    let made = served.get("/v1/datasets/tiny/link?format=csv", &[]);
    let path = made.split_once("/l/").and_then(|(_, rest)| rest.split_once('"')).unwrap().0;
    let read = || served.get(&format!("/l/{path}"), &[]);
    assert!(read().starts_with("HTTP/1.1 200"), "{path}");
    let listed = served.folder().run(&["keys", "list", "--json"]).ok().json();
    let id = listed[0]["id"].as_str().unwrap();
    let ended = served.folder().run(&["keys", "end-links", id, "--json"]).ok().json();
    assert_eq!(ended, serde_json::json!({"id": id, "links_ended": true}));
    let begun = Instant::now();
    while !read().starts_with("HTTP/1.1 410") {
        assert!(begun.elapsed() < Duration::from_secs(2), "the link still works");
    }
    assert!(served.get("/v1/me", &[]).starts_with("HTTP/1.1 200"), "the key goes on");
    served.stop();
}

#[test]
fn an_empty_list_is_an_empty_array() {
    let yearbook = Yearbook::new();
    assert_eq!(yearbook.run(&["keys", "list", "--json"]).ok().stdout, "[]\n");
    assert!(yearbook.run(&["keys", "list"]).ok().stdout.contains("keys create"));
}
