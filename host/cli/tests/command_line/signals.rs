//! Signals that people and tools send to servers. Needs the built-in plugins (`cargo xtask
//! plugins`).

use crate::served::CliServer;

#[test]
fn a_signal_that_means_something_to_other_servers_ends_none_contract_6() {
    let server = CliServer::start(&[]);
    for signal in ["HUP", "USR1", "USR2", "HUP", "USR1", "USR2"] {
        server.signal(signal);
        let answer = server.get("/v1/datasets/tiny/data", &[]);
        assert!(answer.starts_with("HTTP/1.1 200"), "after SIG{signal}: {answer}");
    }
    let log = server.stop();
    for signal in ["SIGHUP", "SIGUSR1", "SIGUSR2"] {
        let told = format!("{signal} changes nothing");
        assert_eq!(log.matches(&told).count(), 1, "{log}");
    }
}
