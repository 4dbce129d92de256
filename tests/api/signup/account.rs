//! `/account`: the month belongs to the account, whatever becomes of its keys.

use yearbook_signup::SignupSettings;
use yearbook_tests::app::{BASE_URL, harvest};

use super::{SignupApp, key_in};

/// Sign-up that mails one address as often as a test wishes.
async fn generous() -> SignupApp {
    SignupApp::with(SignupSettings {
        mails_a_day_per_address: 1_000,
        mails_a_day_per_network: 1_000,
        ..SignupSettings::default()
    })
    .await
}

const ANN: &str = "ann@example.org";

#[tokio::test]
async fn without_a_link_both_pages_have_the_one_form_contract_10_either_form() {
    let signup = generous().await;
    for path in ["/signup", "/signup/confirm", "/account"] {
        let page = signup.app.get(path).send().await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text().contains("action=\"/signup\""), "{}", page.text());
    }
    signup.sign_up(ANN).await;
    let (path, _) = signup.link(ANN).await;
    assert!(path.starts_with("/account?token="), "{path}");
    // The other path leads there too.
    let other = path.replace("/account", "/signup/confirm");
    assert_eq!(signup.app.get(&other).send().await.body, signup.app.get(&path).send().await.body);
}

#[tokio::test]
async fn a_replaced_key_ends_at_once_or_after_a_day_and_the_count_stays_contract_10_replace() {
    let signup = generous().await;
    let first = signup.sign_up(ANN).await;
    for _ in 0..3 {
        assert_eq!(signup.app.get("/v1/datasets").key(&first).send().await.status, 200);
    }
    let (path, token) = signup.link(ANN).await;
    let page = signup.app.get(&path).send().await.text();
    assert!(page.contains("3 of 10"), "{page}");
    let second = key_in(&signup.act(&token, "replace", "later").await).unwrap();
    assert_eq!(signup.used(&first).await, Some(3), "it goes on for a day");
    assert_eq!(signup.used(&second).await, Some(3));
    assert_eq!(signup.act(&token, "replace", "now").await.status, 410, "the link is used up");

    let (_, token) = signup.link(ANN).await;
    let third = key_in(&signup.act(&token, "replace", "now").await).unwrap();
    assert_eq!((signup.used(&first).await, signup.used(&second).await), (None, None));
    assert_eq!(signup.used(&third).await, Some(3));
}

#[tokio::test]
async fn replacing_a_hundred_times_gives_no_new_request_contract_10_count() {
    let signup = generous().await;
    let mut key = signup.sign_up(ANN).await;
    for _ in 0..10 {
        assert_eq!(signup.app.get("/v1/datasets").key(&key).send().await.status, 200);
    }
    for _ in 0..100 {
        let (_, token) = signup.link(ANN).await;
        key = key_in(&signup.act(&token, "replace", "now").await).unwrap();
    }
    let me = signup.used(&key).await;
    let data = signup.app.get("/v1/datasets").key(&key).send().await;
    assert_eq!((me, data.outcome()), (Some(10), (429, "quota_used_up".to_owned())));
}

#[tokio::test]
async fn revoking_and_deleting_end_keys_and_keep_the_count_contract_10_deleted() {
    let signup = generous().await;
    let first = signup.sign_up(ANN).await;
    signup.app.get("/v1/datasets").key(&first).send().await;
    let (_, token) = signup.link(ANN).await;
    assert_eq!(signup.act(&token, "revoke", "").await.status, 200);
    assert_eq!(signup.used(&first).await, None);
    // The account stays, and a key can be had in it.
    let (path, token) = signup.link(ANN).await;
    assert!(signup.app.get(&path).send().await.text().contains("No key of this account works"));
    let second = key_in(&signup.act(&token, "replace", "now").await).unwrap();
    assert_eq!(signup.used(&second).await, Some(1));

    let (_, token) = signup.link(ANN).await;
    assert_eq!(signup.act(&token, "delete", "").await.status, 200);
    assert_eq!(signup.used(&second).await, None);
    let (path, token) = signup.link(ANN).await;
    assert!(path.starts_with("/signup/confirm"), "the address is unknown again: {path}");
    let third = key_in(&signup.confirm(&token).await).unwrap();
    assert_eq!(signup.used(&third).await, Some(1), "the month is the same");

    let (_, token) = signup.link(ANN).await;
    let wrong = signup.act(&token, "sell", "").await;
    assert_eq!(wrong.outcome(), (422, "unreadable_form".to_owned()));
    assert_eq!(signup.act(&token, "revoke", "").await.status, 200, "the link was left alone");
}

#[tokio::test]
async fn the_account_page_ends_every_link_of_its_keys_contract_15() {
    let signup = generous().await;
    signup.app.publish(&harvest()).await;
    let key = signup.sign_up(ANN).await;
    let make = async || {
        let made = signup.app.get("/v1/datasets/harvest/link").key(&key).send().await;
        let url = made.json()["url"].as_str().unwrap().to_owned();
        url.strip_prefix(BASE_URL).unwrap().to_owned()
    };
    let old = make().await;
    assert_eq!(signup.app.get(&old).send().await.status, 200);
    let (path, token) = signup.link(ANN).await;
    let page = signup.app.get(&path).send().await.text();
    assert!(page.contains("name=\"action\" value=\"end_links\""), "{page}");
    let done = signup.act(&token, "end_links", "").await;
    assert_eq!(done.status, 200);
    assert!(done.text().contains("The links to rows have ended"), "{}", done.text());
    signup.app.catalog_cache.refresh().await.unwrap();
    assert_eq!(signup.app.get(&old).send().await.outcome(), (410, "link_ended".to_owned()));
    assert_eq!(signup.used(&key).await, Some(1), "the key goes on, and its month too");
    assert_eq!(signup.app.get(&make().await).send().await.status, 200);
    assert_eq!(signup.act(&token, "end_links", "").await.status, 410, "the mailed link is used up");
}

#[tokio::test]
async fn webhooks_are_added_and_removed_on_the_account_page_contract_21_webhooks() {
    let signup = generous().await;
    let app = &signup.app;
    app.publish(&harvest()).await;
    signup.sign_up(ANN).await;
    let add = async |token: &str, url: &str, dataset: &str| {
        let fields =
            [("token", token), ("action", "add_webhook"), ("url", url), ("dataset", dataset)];
        app.ask("POST", "/account").form(&fields).send().await
    };
    let (path, token) = signup.link(ANN).await;
    assert!(app.get(&path).send().await.text().contains("Add the webhook"));
    for (url, dataset, why) in [
        ("example.org/hook", "", "no web address"),
        ("ftp://example.org/hook", "", "no web address"),
        ("https://ann:secret@example.org/hook", "", "carries a user name"),
        ("https://example.org/hook", "nothing", "There is no dataset of that name"),
    ] {
        let refused = add(&token, url, dataset).await;
        assert_eq!(refused.status, 422, "{url}");
        let text = refused.text();
        assert!(text.contains(why) && text.contains("Please mend this first"), "{text}");
        assert!(text.contains(&format!("value=\"{url}\"")), "what was typed stays: {text}");
    }
    // The link was left alone by what was refused.
    let added = add(&token, "https://example.org/one?a=<b>", "harvest").await;
    let webhooks = app.store.webhooks().await.unwrap();
    assert_eq!((added.status.as_u16(), webhooks.len()), (200, 1));
    assert!(added.text().contains(&app.webhooks.secret(&webhooks[0].id)), "{}", added.text());
    assert_eq!(add(&token, "https://example.org/two", "").await.status, 410, "it is used up");

    for number in 2..=5 {
        let (_, token) = signup.link(ANN).await;
        assert_eq!(add(&token, &format!("https://example.org/{number}"), "").await.status, 200);
    }
    let (path, token) = signup.link(ANN).await;
    let page = app.get(&path).send().await.text();
    assert!(page.contains("https://example.org/one?a=%3Cb%3E"), "{page}");
    assert!(!page.contains("Add the webhook") && !page.contains("whsec_"), "{page}");
    let refused = add(&token, "https://example.org/six", "").await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("5 webhooks at most"), "{}", refused.text());
    let fields =
        [("token", token.as_str()), ("action", "remove_webhook"), ("webhook", &webhooks[0].id)];
    assert_eq!(app.ask("POST", "/account").form(&fields).send().await.status, 200);
    assert_eq!(app.store.webhooks().await.unwrap().len(), 4);
    let (_, token) = signup.link(ANN).await;
    assert_eq!(signup.act(&token, "delete", "").await.status, 200);
    assert_eq!(app.store.webhooks().await.unwrap(), []);
}
