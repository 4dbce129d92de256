//! Traces that a sign-up leaves: none of the address, the key and the link, in the database, its
//! write-ahead log, or the log of the process at its most talkative.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;
use yearbook_signup::{SignupSettings, outbox};

use super::SignupApp;

/// Lines that were logged.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Every byte of every file below `folder`.
fn bytes_of(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(bytes_of(&path));
        } else {
            bytes.extend(std::fs::read(&path).unwrap());
        }
    }
    bytes
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
}

#[tokio::test]
async fn neither_address_nor_key_nor_link_is_left_anywhere_contract_10_address() {
    let captured = Captured::default();
    let log = tracing_subscriber::fmt()
        .with_writer(captured.clone())
        .with_max_level(tracing::Level::TRACE)
        .finish();
    let _guard = tracing::subscriber::set_default(log);
    let signup = SignupApp::with(SignupSettings::default()).await;
    let address = "remarkable.person@unusual-domain.example";
    let (path, token) = signup.link(address).await;
    signup.app.get(&path).send().await;
    // While the mail waits, its address is in no file either: it is sealed.
    assert!(!contains(&bytes_of(signup.app.folder.path()), "remarkable.person"));
    for mail in signup.mails().await {
        assert!(outbox::mark_sent(&signup.app.store, &mail.id).await.unwrap());
    }
    let key = super::key_in(&signup.confirm(&token).await).unwrap();
    assert_eq!(signup.used(&key).await, Some(0));

    let files = bytes_of(signup.app.folder.path());
    let log = captured.0.lock().unwrap().clone();
    assert!(contains(&log, "sign-up"), "{}", String::from_utf8_lossy(&log));
    assert!(contains(&log, "/signup/confirm"), "the path is logged");
    let secrets = ["remarkable.person", "unusual-domain", token.as_str(), key.as_str()];
    for secret in secrets {
        assert!(!contains(&files, secret), "{secret} is in a file");
        assert!(!contains(&log, secret), "{secret} is in the log");
    }
}
