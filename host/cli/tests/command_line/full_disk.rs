//! A server whose disk is full, and has room again: no file of its process may grow meanwhile.
//! Needs the built-in plugins (`cargo xtask plugins`).
#![cfg(target_os = "linux")]

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::served::CliServer;

fn status(answer: &str) -> &str {
    answer.split_whitespace().nth(1).unwrap()
}

#[test]
fn after_a_full_disk_a_server_counts_requests_again_by_itself_contract_6() {
    // Writes fail in place of ending the process, as they do on a full disk.
    let mut server = CliServer::start_after("trap '' XFSZ", &[]);
    let key = server.folder().run(&["keys", "create", "--plan", "starter", "--json"]).ok().json();
    server.key = key["key"].as_str().unwrap().to_owned();
    let process = Pid::from_raw(server.id().try_into().unwrap());
    let grow_to = |bytes| {
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(process, Resource::Fsize, limit).unwrap();
    };
    let data = || server.get("/v1/datasets/tiny/data", &[]);
    assert_eq!(status(&data()), "200");
    for _ in 0..3 {
        grow_to(Some(0));
        let refused = data();
        assert_eq!(status(&refused), "503", "{refused}");
        let ready = server.get("/health/full", &[]);
        assert_eq!(status(&ready), "503", "{ready}");
        assert!(ready.contains("\"database\":{\"status\":\"unavailable\""), "{ready}");
        assert_eq!(status(&server.get("/health", &[])), "200");
        let preview = server.get("/v1/datasets/tiny/preview", &[]);
        assert_eq!(status(&preview), "200", "what is not counted is served: {preview}");
        grow_to(None);
        assert_eq!(status(&data()), "200");
    }
    let usage = server.get("/v1/me", &[]);
    assert!(usage.contains("\"used\":4"), "what was refused is not counted: {usage}");
}
