//! Addresses that are told of new versions, from the command line (contract-21-webhook-commands).

use crate::binary::Yearbook;

#[test]
fn webhooks_are_added_listed_and_removed_contract_21_webhooks() {
    let yearbook = Yearbook::new();
    assert!(yearbook.run(&["webhooks", "list"]).ok().stdout.contains("No webhooks yet"));
    let added = ["webhooks", "add", "https://example.org/hook", "--dataset", "retail_trade"];
    let added = yearbook.run(&[&added[..], &["--json"]].concat()).ok().json();
    assert!(added["secret"].as_str().unwrap().starts_with("whsec_"), "{added}");
    let id = added["id"].as_str().unwrap();
    let listed = yearbook.run(&["webhooks", "list", "--json"]).ok().json();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["dataset"], &listed[0]["account"]),
        (&added["id"], &"retail_trade".into(), &serde_json::Value::Null)
    );
    let shown = yearbook.run(&["webhooks", "list"]).ok().stdout;
    assert!(shown.contains("https://example.org/hook"), "{shown}");
    let secret = added["secret"].as_str().unwrap();
    assert!(!shown.contains(secret) && !listed.to_string().contains(secret), "{shown}");

    let refused = yearbook.run(&["webhooks", "add", "http://127.0.0.1/hook"]).failed(1);
    assert!(refused.contains("has no TLS"), "{refused}");
    assert!(refused.contains("webhooks.allow_private"), "{refused}");
    let private = [("YEARBOOK_WEBHOOKS__ALLOW_PRIVATE", "true")];
    yearbook.run_with(&private, &["webhooks", "add", "http://127.0.0.1/hook"]).ok();

    for said in yearbook.run_unheard(&["webhooks", "add", "https://example.org/unseen"]) {
        assert!(said.failed(1).contains("was not shown, and the webhook is not added"));
    }
    assert!(!yearbook.run(&["webhooks", "list"]).ok().stdout.contains("unseen"));

    assert!(yearbook.run(&["webhooks", "remove", id]).ok().stdout.contains("is removed"));
    let unknown = yearbook.run(&["webhooks", "remove", id]).failed(1);
    assert!(unknown.contains("`yearbook webhooks list` lists them"), "{unknown}");
}
