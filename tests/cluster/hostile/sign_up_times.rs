//! The time that sign-up takes for addresses with an account and without, in turn (rule
//! contract-10-same-answer). That the pages are equal is a test; how far the times are apart is a
//! figure of the page, since times are no test.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::json;

use crate::server::{self, AttackedServer};
use crate::{EXCLUSIVE, attack_duration, polite, record_figures, sign_up};

/// Accounts, and as many addresses without one.
const ADDRESSES: usize = 20;

/// Requests of each kind for a second of an attack on the page: 10,000 in ten seconds.
const REQUESTS_PER_SECOND: usize = 1_000;

/// Longest time for them: a debug build makes fewer.
const LONGEST: u32 = 4;

/// Mails that no bound stops here, so that both kinds queue one each time.
const NO_BOUND: &str = "1000000";

/// Times of one kind of address.
#[derive(Default)]
struct AnswerTimes {
    microseconds: Vec<f64>,
}

impl AnswerTimes {
    #[expect(clippy::cast_precision_loss, reason = "some thousands of samples")]
    fn len(&self) -> f64 {
        self.microseconds.len() as f64
    }

    fn mean(&self) -> f64 {
        self.microseconds.iter().sum::<f64>() / self.len()
    }

    /// Variance of the mean.
    fn error(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.microseconds.iter().map(|time| (time - mean).powi(2)).sum();
        squares / (self.len() - 1.0) / self.len()
    }
}

/// Welch's t of two samples.
fn welch(one: &AnswerTimes, other: &AnswerTimes) -> f64 {
    (one.mean() - other.mean()) / (one.error() + other.error()).sqrt()
}

/// A client with one connection, and where it sends to.
struct Visitor {
    client: Client,
    base: String,
}

impl Visitor {
    /// Sends a form; the page, and the time until it was there whole.
    async fn send(&self, path: &str, fields: String) -> (String, Duration) {
        let request = self
            .client
            .post(format!("{}{path}", self.base))
            .header("origin", &self.base)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(fields);
        let begun = Instant::now();
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let page = answer.text().await.unwrap();
        assert_eq!(status, 200, "{page}");
        (page, begun.elapsed())
    }

    async fn stamp(&self) -> String {
        let shown = self.client.get(format!("{}{}", self.base, sign_up::PATH)).send().await;
        let stamp = sign_up::stamp_in(&shown.unwrap().text().await.unwrap()).unwrap();
        tokio::time::sleep(sign_up::TYPING_TIME).await;
        stamp
    }
}

fn address(kind: &str, number: usize) -> String {
    format!("{kind}-{}@elsewhere.example", number % ADDRESSES)
}

/// The token of the link in a mail that leads to a key.
fn token_in(mail: &str) -> Option<&str> {
    mail.lines().find_map(|line| line.split_once("/signup/confirm?token=")).map(|(_, token)| token)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn known_and_unknown_addresses_take_the_same_time_contract_10_same_answer() {
    let _alone = EXCLUSIVE.lock().await;
    let Some(server) = AttackedServer::start_with(&[
        ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"),
        ("YEARBOOK_SIGNUP__MAILS_A_DAY", NO_BOUND),
        ("YEARBOOK_SIGNUP__MAILS_A_DAY_PER_ADDRESS", NO_BOUND),
        ("YEARBOOK_SIGNUP__MAILS_A_DAY_PER_NETWORK", NO_BOUND),
    ])
    .await
    else {
        return;
    };
    let visitor = Visitor { client: polite::client(1), base: format!("http://{}", server.address) };
    let stamp = visitor.stamp().await;
    for number in 0..ADDRESSES {
        visitor.send(sign_up::PATH, sign_up::fields(&address("known", number), &stamp)).await;
    }
    let mails = server::waiting_mails().unwrap();
    let mut accounts = 0;
    for token in mails.iter().filter_map(|mail| token_in(mail)) {
        let (page, _) = visitor.send("/signup/confirm", format!("token={token}")).await;
        accounts += usize::from(page.contains("yb_"));
    }
    assert!(accounts >= ADDRESSES, "{accounts} accounts of {} mails", mails.len());

    let (mut known, mut unknown) = (AnswerTimes::default(), AnswerTimes::default());
    let seconds = usize::try_from(attack_duration().as_secs()).unwrap();
    let (mut first, until) = (None, Instant::now() + LONGEST * attack_duration());
    for number in 0..seconds * REQUESTS_PER_SECOND {
        if Instant::now() > until {
            break;
        }
        let mut kinds = [("known", &mut known), ("unknown", &mut unknown)];
        // Neither is always the first of the two.
        kinds.rotate_left(number / ADDRESSES % 2);
        for (kind, times) in kinds {
            let fields = sign_up::fields(&address(kind, number), &stamp);
            let (page, time) = visitor.send(sign_up::PATH, fields).await;
            times.microseconds.push(time.as_secs_f64() * 1e6);
            assert_eq!(
                first.get_or_insert_with(|| page.clone()),
                &page,
                "for an address that is {kind}"
            );
        }
    }
    record_figures(
        "sign_up_times",
        &json!({
            "requests": known.microseconds.len(),
            "known_us": known.mean(),
            "unknown_us": unknown.mean(),
            "welch_t": welch(&known, &unknown),
        }),
    );
}
