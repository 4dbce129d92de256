//! The sender against servers that refuse, fall silent and come back. The clock of the tasks is
//! tokio's; attempts are made due by the catalog.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Mutex;

use yearbook_catalog::{Catalog, DatabaseSettings};

use super::*;
use crate::SendFuture;
use crate::{RequestAnswer, SignupSettings};

/// Answers of a server, one an attempt; after the last every mail is taken.
#[derive(Default)]
struct ScriptedServer {
    script: Mutex<Vec<SendFailure>>,
    attempts: Mutex<Vec<(String, String)>>,
}

impl MailTransport for Arc<ScriptedServer> {
    fn send<'a>(
        &'a self,
        _from: &'a MailAddress,
        to: &'a MailAddress,
        message: &'a [u8],
    ) -> SendFuture<'a> {
        Box::pin(async move {
            let message = String::from_utf8(message.to_vec()).unwrap();
            self.attempts.lock().unwrap().push((to.mailbox().to_owned(), message));
            match self.script.lock().unwrap().pop() {
                Some(failure) => Err(failure),
                None => Ok(()),
            }
        })
    }
}

async fn catalog() -> Arc<Catalog> {
    yearbook_catalog::open("sqlite::memory:", &DatabaseSettings::default()).await.unwrap()
}

async fn signup(catalog: &Arc<Catalog>) -> Arc<Signup> {
    let settings = SignupSettings { mode: SignupMode::Smtp, ..SignupSettings::default() };
    Signup::open(Arc::clone(catalog), settings, "https://data.example.org").await.unwrap()
}

fn route(server: &Arc<ScriptedServer>) -> Arc<MailRoute> {
    let from = MailAddress::parse("keys@data.example.org").unwrap();
    Arc::new(MailRoute { transport: Box::new(Arc::clone(server)), from })
}

async fn request(signup: &Signup, address: &str) {
    let address = MailAddress::parse(address).unwrap();
    let answer = signup.request(&address, "192.0.2.1".parse().unwrap()).await.unwrap();
    assert!(matches!(answer, RequestAnswer::Accepted));
}

#[tokio::test]
async fn a_mail_is_sent_once_and_forgotten_contract_10() {
    let catalog = catalog().await;
    let (signup, server) = (signup(&catalog).await, Arc::new(ScriptedServer::default()));
    request(&signup, "Ann@example.org").await;
    assert_eq!(catalog.waiting_mails(clock::now()).await.unwrap(), 1);
    let route = route(&server);
    signup.deliver(&route).await.unwrap();
    signup.deliver(&route).await.unwrap();
    let attempts = server.attempts.lock().unwrap().clone();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].0, "Ann@example.org");
    assert!(attempts[0].1.contains("https://data.example.org/signup/confirm?token="));
    assert_eq!(catalog.waiting_mails(clock::now()).await.unwrap(), 0);
    assert_eq!(signup.metrics.mails(MailFate::Sent), 1);
}

#[tokio::test]
async fn a_mail_that_is_not_taken_is_due_again_after_ten_seconds_contract_10() {
    let catalog = catalog().await;
    let (signup, server) = (signup(&catalog).await, Arc::new(ScriptedServer::default()));
    server.script.lock().unwrap().push(SendFailure::Temporary("451".to_owned()));
    request(&signup, "ann@example.org").await;
    let begun = clock::now();
    signup.deliver(&route(&server)).await.unwrap();
    let due = async |after_ms| catalog.due_mails(Millis(begun.0 + after_ms)).await.unwrap();
    assert_eq!((due(9_000).await, due(11_000).await), (0, 1));
    assert_eq!(signup.metrics.mails(MailFate::Retried), 1);
    // The next attempt is another host's.
    let later = Millis(begun.0 + 11_000);
    let claimed = catalog.claim_mail(later, Millis(later.0 + LEASE_MS)).await.unwrap().unwrap();
    assert_eq!(claimed.attempts, 2);
    assert!(catalog.claim_mail(later, later).await.unwrap().is_none(), "it is leased");
    signup.attempt(&route(&server), &claimed).await;
    assert_eq!(server.attempts.lock().unwrap().len(), 2);
    assert_eq!(catalog.waiting_mails(begun).await.unwrap(), 0);
}

#[tokio::test]
async fn a_mailbox_that_does_not_exist_is_tried_once_contract_10() {
    let catalog = catalog().await;
    let (signup, server) = (signup(&catalog).await, Arc::new(ScriptedServer::default()));
    server.script.lock().unwrap().push(SendFailure::NoSuchMailbox);
    request(&signup, "nobody@example.org").await;
    signup.deliver(&route(&server)).await.unwrap();
    assert_eq!(catalog.waiting_mails(clock::now()).await.unwrap(), 0);
    assert_eq!(signup.metrics.mails(MailFate::Rejected), 1);
}

#[tokio::test]
async fn what_has_expired_is_deleted_contract_10() {
    let catalog = catalog().await;
    let signup = signup(&catalog).await;
    request(&signup, "ann@example.org").await;
    let tomorrow = Millis(clock::now().0 + 24 * 3_600_000 + 1_000);
    assert!(catalog.claim_mail(tomorrow, tomorrow).await.unwrap().is_none());
    let purged = catalog.purge_signup(tomorrow).await.unwrap();
    assert_eq!((purged.mails, purged.links), (1, 1));
}

#[tokio::test]
async fn the_tasks_send_by_themselves_and_end_with_sign_up() {
    let catalog = catalog().await;
    let (signup, server) = (signup(&catalog).await, Arc::new(ScriptedServer::default()));
    let from = MailAddress::parse("keys@data.example.org").unwrap();
    signup.start_with(Box::new(Arc::clone(&server)), from);
    request(&signup, "ann@example.org").await;
    let begun = Instant::now();
    while server.attempts.lock().unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(signup);
    // The task holds the other half of what the server is shared with.
    while Arc::strong_count(&server) > 1 {
        assert!(begun.elapsed() < Duration::from_secs(8));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
