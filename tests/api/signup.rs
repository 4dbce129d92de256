//! Sign-up in a browser: form, mail, link, key and account (contract-10). Mails are read from the
//! outbox, as an operator reads them.

mod account;
mod privacy;

use std::time::Duration;

use futures::future::join_all;
use yearbook_signup::{OutboxMail, SignupMode, SignupSettings, outbox};
use yearbook_tests::app::{BASE_URL, HostFixture, Reply, TestApp, postgres};

/// Time after which a form is taken.
const FORM_AGE: Duration = Duration::from_millis(2_100);

/// A service, and the signed time of a form that is old enough.
pub(super) struct SignupApp {
    pub(super) app: TestApp,
    pub(super) stamp: String,
}

impl SignupApp {
    pub(super) async fn with(signup: SignupSettings) -> Self {
        Self::on(&HostFixture { signup, ..HostFixture::default() }).await
    }

    pub(super) async fn on(fixture: &HostFixture) -> Self {
        let app = TestApp::on_fixture(fixture).await;
        let stamp = stamp(&app).await;
        tokio::time::sleep(FORM_AGE).await;
        Self { app, stamp }
    }

    /// Sends the form of `/signup`.
    pub(super) async fn submit(&self, email: &str) -> Reply {
        self.submit_from(email, "192.0.2.1").await
    }

    async fn submit_from(&self, email: &str, peer: &str) -> Reply {
        let fields = [("email", email), ("website", ""), ("stamp", &self.stamp)];
        self.app.ask("POST", "/signup").peer(peer).form(&fields).send().await
    }

    pub(super) async fn mails(&self) -> Vec<OutboxMail> {
        outbox::list(&self.app.store, None).await.unwrap()
    }

    /// Asks for a mail to `email` and returns the path of its link, and the secret in it.
    pub(super) async fn link(&self, email: &str) -> (String, String) {
        let known = self.mails().await;
        assert_eq!(self.submit(email).await.status, 200);
        let mails = self.mails().await;
        let mail = mails.iter().find(|mail| !known.contains(mail)).unwrap();
        let link = mail.text.lines().find(|line| line.contains("://")).unwrap();
        let path = link.strip_prefix(BASE_URL).unwrap();
        (path.to_owned(), path.split_once("token=").unwrap().1.to_owned())
    }

    /// Presses the button of a confirmation.
    pub(super) async fn confirm(&self, token: &str) -> Reply {
        self.app.ask("POST", "/signup/confirm").form(&[("token", token)]).send().await
    }

    /// A key of its own for `email`.
    pub(super) async fn sign_up(&self, email: &str) -> String {
        let (_, token) = self.link(email).await;
        key_in(&self.confirm(&token).await).unwrap()
    }

    /// Presses a button of the account.
    pub(super) async fn act(&self, token: &str, action: &str, old_key: &str) -> Reply {
        let fields = [("token", token), ("action", action), ("old_key", old_key)];
        self.app.ask("POST", "/account").form(&fields).send().await
    }

    /// Requests used of the month, by the key's holder; `None` where the key does not work.
    pub(super) async fn used(&self, key: &str) -> Option<u64> {
        self.app.catalog_cache.refresh().await.unwrap();
        let me = self.app.get("/v1/me").key(key).send().await;
        (me.status == 200).then(|| me.json()["requests"]["used"].as_u64().unwrap())
    }
}

async fn stamp(app: &TestApp) -> String {
    let page = app.get("/signup").send().await.text();
    let (_, rest) = page.split_once("name=\"stamp\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// The key that a page displays.
pub(super) fn key_in(reply: &Reply) -> Option<String> {
    let text = reply.text();
    let (_, rest) = text.split_once("yb_")?;
    let key: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some(format!("yb_{key}"))
}

#[tokio::test]
async fn from_an_address_to_the_first_200_contract_10_form() {
    let signup = SignupApp::with(SignupSettings::default()).await;
    let app = &signup.app;
    let form = app.get("/signup").send().await;
    assert_eq!(form.status, 200);
    assert_eq!(form.text().matches("type=\"email\"").count(), 1, "{}", form.text());
    let (path, token) = signup.link("Ann@Example.org").await;
    assert!(path.starts_with("/signup/confirm?token="), "{path}");
    // Link scanners open links too.
    let looked = app.get(&path).send().await;
    assert_eq!(looked.status, 200);
    assert!(looked.text().contains("<form method=\"post\" action=\"/signup/confirm\">"));
    // As many at once as get a turn of the database in time on a busy machine.
    for _ in 0..20 {
        for page in join_all((0..50).map(|_| app.get(&path).send())).await {
            assert_eq!(page.body, looked.body);
        }
    }
    assert_eq!(key_in(&looked), None);
    let confirmed = signup.confirm(&token).await;
    let key = key_in(&confirmed).unwrap();
    assert_eq!((confirmed.status.as_u16(), signup.used(&key).await), (200, Some(0)));
    assert_eq!(app.get("/v1/datasets").key(&key).send().await.status, 200);
    // A reload asks again, and gets no key.
    let again = signup.confirm(&token).await;
    assert_eq!((again.status.as_u16(), key_in(&again)), (410, None));
    assert_eq!(app.get(&path).send().await.status, 410);
    for reply in [&form, &looked, &confirmed, &again] {
        assert_eq!(
            (reply.header("cache-control"), reply.header("referrer-policy")),
            ("no-store".to_owned(), "no-referrer".to_owned())
        );
        assert_eq!((reply.header("set-cookie"), reply.header("etag")), Default::default());
        let text = reply.text();
        for attribute in ["src=\"", "href=\"", "action=\""] {
            for address in text.split(attribute).skip(1) {
                assert!(address.starts_with(['/', '#']), "another host: {address}");
            }
        }
    }
}

#[tokio::test]
async fn known_and_unknown_addresses_get_the_same_page_contract_10_same_answer() {
    let signup = SignupApp::with(SignupSettings::default()).await;
    signup.sign_up("ann@example.org").await;
    let known = signup.submit(" ANN@example.ORG").await;
    let unknown = signup.submit("bob@example.org").await;
    assert_eq!((known.status.as_u16(), &known.body), (200, &unknown.body));
    let names =
        |reply: &Reply| -> Vec<String> { reply.headers.keys().map(ToString::to_string).collect() };
    assert_eq!(names(&known), names(&unknown));
    let mails = signup.mails().await;
    let paths: Vec<bool> = mails
        .iter()
        .filter(|mail| mail.to != "ann@example.org" || mail.text.contains("/account?token="))
        .map(|mail| mail.text.contains("/account?token="))
        .collect();
    assert!(paths.contains(&true) && paths.contains(&false), "{paths:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_confirmations_at_once_over_two_hosts_make_one_key_contract_10() {
    let mut grounds = vec![HostFixture::default()];
    grounds.extend(postgres().map(|database| HostFixture { database, ..HostFixture::default() }));
    for fixture in grounds {
        let here = SignupApp::on(&fixture).await;
        let there = TestApp::on_fixture(&fixture).await;
        let (_, token) = here.link("ann@example.org").await;
        let replies = join_all((0..100).map(|index| {
            let app = if index % 2 == 0 { &here.app } else { &there };
            app.ask("POST", "/signup/confirm").form(&[("token", &token)]).send()
        }))
        .await;
        let keys: Vec<String> = replies.iter().filter_map(key_in).collect();
        assert_eq!(keys.len(), 1);
        let refused = |reply: &&Reply| matches!(reply.status.as_u16(), 410 | 503);
        assert_eq!(replies.iter().filter(refused).count(), 99);
        assert_eq!(here.app.store.keys().await.unwrap().len(), 1);
        there.catalog_cache.refresh().await.unwrap();
        assert_eq!(there.get("/v1/me").key(&keys[0]).send().await.status, 200);
    }
}

#[tokio::test]
async fn a_form_of_another_page_is_refused_contract_10_same_origin() {
    let signup = SignupApp::with(SignupSettings::default()).await;
    let post = async |path: &str, headers: &[(&str, &str)]| {
        let mut request = signup.app.ask("POST", path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send().await.outcome()
    };
    let refused = (403, "foreign_form".to_owned());
    for path in ["/signup", "/signup/confirm", "/account"] {
        for headers in [
            &[][..],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
        ] {
            assert_eq!(post(path, headers).await, refused, "{path} {headers:?}");
        }
        for headers in [
            [("sec-fetch-site", "same-origin")],
            [("sec-fetch-site", "none")],
            [("origin", "http://test.example")],
        ] {
            assert_ne!(post(path, &headers).await, refused, "{path} {headers:?}");
        }
    }
    assert_eq!(signup.mails().await.len(), 0);
    let put = signup.app.ask("PUT", "/signup").send().await;
    assert_eq!(
        (put.status.as_u16(), put.header("allow").as_str()),
        (405, "GET, HEAD, POST, OPTIONS")
    );
}

#[tokio::test]
async fn robots_and_mistakes_get_no_mail_contract_10_robots() {
    let signup = SignupApp::with(SignupSettings::default()).await;
    let post = async |email: &str, website: &str, stamp: &str| {
        let fields = [("email", email), ("website", website), ("stamp", stamp)];
        signup.app.ask("POST", "/signup").form(&fields).send().await
    };
    let fresh = stamp(&signup.app).await;
    let good = signup.stamp.as_str();
    for (email, website, stamp, status) in [
        ("ann@example.org", "", fresh.as_str(), 422),
        ("ann@example.org", "", "", 422),
        ("ann@example.org", "", "forged", 422),
        ("ann", "", good, 422),
        ("ann@example.org\r\nBcc: all@example.org", "", good, 422),
        ("<script>alert(1)</script>@example.org", "", good, 422),
        ("", "", good, 422),
        // It looks like success.
        ("ann@example.org", "https://spam.example", good, 200),
    ] {
        let reply = post(email, website, stamp).await;
        assert_eq!(reply.status.as_u16(), status, "{email:?}");
        assert!(!reply.text().contains("<script>alert"), "{}", reply.text());
        if status == 422 {
            let text = reply.text();
            assert!(text.contains("role=\"alert\"") && text.contains("aria-invalid"), "{text}");
        }
    }
    assert!(signup.mails().await.is_empty());
    let huge = "a".repeat(5_000);
    assert_eq!(post(&huge, "", good).await.outcome(), (422, "unreadable_form".to_owned()));
    let metric = async |stage: &str| {
        signup.app.metric(&format!("yearbook_signup_stages_total{{stage=\"{stage}\"}}")).await
    };
    assert_eq!((metric("robot").await, metric("queued").await), (Some(2.0), Some(0.0)));
}

#[tokio::test]
async fn beyond_a_bound_the_page_is_the_same_and_no_mail_is_queued_contract_10_bounds() {
    let settings = SignupSettings { mails_a_day: 15, ..SignupSettings::default() };
    let signup = SignupApp::with(settings).await;
    let first = signup.submit_from("ann@example.org", "192.0.2.1").await;
    let mut sent = Vec::new();
    // One address from everywhere; one network for everybody; everything else up to the last.
    for (count, expected) in [(10, 3), (30, 12), (60, 15)] {
        for number in 0..count {
            let (email, peer) = match expected {
                3 => ("ann@example.org".to_owned(), format!("198.51.{number}.1")),
                12 => (format!("{number}@example.org"), format!("192.0.2.{number}")),
                _ => (format!("{number}@example.net"), format!("2001:db8:{number}::1")),
            };
            let reply = signup.submit_from(&email, &peer).await;
            assert_eq!((reply.status, &reply.body), (first.status, &first.body));
        }
        sent.push((signup.mails().await.len(), expected));
    }
    assert!(sent.iter().all(|(found, expected)| found == expected), "{sent:?}");
}

#[tokio::test]
async fn a_flood_is_bounded_in_mails_and_rows_contract_10_beyond() {
    let settings = SignupSettings { mails_a_day: 50, ..SignupSettings::default() };
    let signup = SignupApp::with(settings).await;
    for batch in 0..40_u32 {
        let posts = (0..50_u32).map(|index| {
            let number = batch * 50 + index;
            let (email, peer) =
                (format!("{number}@example.org"), format!("10.{}.{}.1", number >> 8, number & 255));
            let signup = &signup;
            async move { signup.submit_from(&email, &peer).await.status.as_u16() }
        });
        let statuses = join_all(posts).await;
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    }
    assert_eq!(signup.mails().await.len(), 50);
    assert_eq!(signup.app.store.keys().await.unwrap(), []);
}

#[tokio::test]
async fn the_mode_decides_between_mail_and_key_contract_10_modes() {
    let show = SignupSettings { mode: SignupMode::Show, ..SignupSettings::default() };
    let signup = SignupApp::with(show).await;
    let submit = async |host: &str, email: &str| {
        let fields = [("email", email), ("website", ""), ("stamp", &signup.stamp)];
        signup.app.ask("POST", &format!("http://{host}/signup")).form(&fields).send().await
    };
    // Somebody else may point this name at the service.
    let foreign = submit("evil.example:8080", "ann@example.org").await;
    assert_eq!(foreign.outcome(), (403, "foreign_form".to_owned()));
    let first = key_in(&submit("localhost:8080", "ann@example.org").await).unwrap();
    let second = key_in(&submit("127.0.0.1", "Ann@example.org").await).unwrap();
    assert_eq!(signup.used(&second).await, Some(0));
    signup.app.get("/v1/datasets").key(&first).send().await;
    assert_eq!(signup.used(&second).await, Some(1), "one month for both");
    submit("[::1]:8080", "ann@example.org").await;
    assert_eq!(key_in(&submit("[::1]:8080", "ann@example.org").await), None, "the bound holds");
    assert!(signup.mails().await.is_empty());

    let off = SignupSettings { mode: SignupMode::Off, ..SignupSettings::default() };
    let fixture = HostFixture { signup: off, ..HostFixture::default() };
    let app = TestApp::on_fixture(&fixture).await;
    for path in ["/signup", "/signup/confirm", "/account"] {
        assert_eq!(app.get(path).send().await.outcome(), (404, "no_such_route".to_owned()));
    }
    assert!(!app.get("/").header("accept", "text/html").send().await.text().contains("/signup"));

    let outbox = SignupApp::with(SignupSettings::default()).await;
    let page = outbox.submit("ann@example.org").await.text();
    assert!(page.contains("The operator passes the link on"), "{page}");
}
