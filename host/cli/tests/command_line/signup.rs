//! The outbox of sign-up from the command line (contract-10-outbox), for a server that was never
//! configured with a mail server.

use std::time::Duration;

use serde_json::Value;

use crate::binary::Yearbook;
use crate::served::CliServer;

impl CliServer {
    /// Sends a form as a browser on this machine does.
    fn post(&self, path: &str, form: &str) -> String {
        let Self { address, .. } = self;
        self.raw(format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{form}", form.len()).as_bytes())
    }
}

#[test]
fn a_mail_waits_in_the_outbox_until_it_is_marked_as_sent_contract_10() {
    let server = CliServer::start(&[]);
    let page = server.get("/signup", &[]);
    let (_, rest) = page.split_once("name=\"stamp\" value=\"").unwrap();
    let stamp = rest.split('"').next().unwrap().to_owned();
    std::thread::sleep(Duration::from_millis(2_100));
    let form = format!("email=Ann%40Example.org&website=&stamp={stamp}");
    assert!(server.post("/signup", &form).starts_with("HTTP/1.1 200"));

    let yearbook = server.folder();
    let listed = yearbook.run(&["signup", "outbox", "--json"]).ok().json();
    let [mail] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    let members: Vec<&String> = mail.as_object().unwrap().keys().collect();
    assert_eq!(members, ["id", "to", "created_at", "expires_at", "subject", "text"]);
    assert_eq!(mail["to"], "Ann@example.org");
    let (id, text) = (mail["id"].as_str().unwrap(), mail["text"].as_str().unwrap());
    // The link leads to where the server listens, on a port that no setting names.
    let start = format!("http://{}/signup/confirm?token=", server.address);
    let token = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap();

    let shown = yearbook.run(&["signup", "outbox", id]).ok().stdout;
    assert!(shown.starts_with("To: Ann@example.org\nSubject: ") && shown.contains(token));
    assert!(yearbook.run(&["signup", "outbox"]).ok().stdout.contains(id));
    let sent = yearbook.run(&["signup", "outbox", id, "--sent", "--json"]).ok().json();
    assert_eq!(sent, serde_json::json!({ "id": id, "sent": true }));
    assert_eq!(yearbook.run(&["signup", "outbox", "--json"]).ok().stdout, "[]\n");
    let again = yearbook.run(&["signup", "outbox", id, "--sent"]).failed(1);
    assert!(again.contains("`yearbook signup outbox` lists those that do"), "{again}");

    let page = server.post("/signup/confirm", &format!("token={token}"));
    assert!(page.contains("yb_"), "{page}");
    let keys = yearbook.run(&["keys", "list", "--json"]).ok().json();
    let labels: Vec<&Value> = keys.as_array().unwrap().iter().map(|key| &key["label"]).collect();
    assert!(labels.contains(&&Value::from("sign-up")), "{keys}");
    let log = server.stop();
    assert!(!log.contains(token) && !log.to_lowercase().contains("ann@"), "{log}");
}

#[test]
fn a_mode_that_cannot_work_keeps_a_server_from_starting_contract_10() {
    for (variables, words) in [
        (&[("YEARBOOK_SIGNUP__MODE", "smtp")][..], "signup.smtp_url"),
        (
            &[
                ("YEARBOOK_SIGNUP__MODE", "smtp"),
                ("YEARBOOK_SIGNUP__SMTP_URL", "smtp://localhost"),
                ("YEARBOOK_SIGNUP__MAIL_FROM", "keys@example.org"),
            ],
            "server.public_url",
        ),
        (
            &[("YEARBOOK_SIGNUP__MODE", "show"), ("YEARBOOK_SERVER__LISTEN", "0.0.0.0:0")],
            "signup.trust_everyone",
        ),
        (&[("YEARBOOK_SIGNUP__SMTP_URL", "http://ann:hunter2@x")], "smtps://user:password@"),
        (&[("YEARBOOK_SIGNUP__MODE", "mail")], "outbox"),
    ] {
        let mut all = vec![("YEARBOOK_SERVER__LISTEN", "127.0.0.1:0")];
        all.extend(variables);
        let said = Yearbook::new().run_with(&all, &["serve"]).failed(1);
        assert!(said.contains(words) && !said.contains("hunter2"), "{said}");
    }
}
