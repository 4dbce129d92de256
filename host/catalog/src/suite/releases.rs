//! Rules about plugin releases and about the store itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::Millis;

use super::Place;
use super::fixtures::TODAY;
use crate::PluginRelease;

pub(crate) async fn a_release_is_registered_once_and_keeps_its_state(place: Place) {
    let store = place.host().await;
    let release = |name: &str, digest: &str, at| PluginRelease {
        name: name.to_owned(),
        kind: "encoder".to_owned(),
        version: "0.1.0".to_owned(),
        digest: digest.repeat(64),
        bytes: 240_000,
        by: "embedded".to_owned(),
        installed_at: Millis(at),
        state: "active".to_owned(),
    };
    let releases = [release("csv", "b", TODAY), release("csv", "a", TODAY + 1), release("json", "c", TODAY - 1)];
    for release in releases.iter().rev() {
        store.register_release(release).await.unwrap();
    }
    assert_eq!(store.releases().await.unwrap(), releases, "by name, oldest first");

    let before = store.revision().await.unwrap();
    // Another start of the same binary, which knows nothing of what happened to the release since.
    let again = PluginRelease { installed_at: Millis(TODAY + 9), state: "removed".to_owned(), ..releases[0].clone() };
    place.host().await.register_release(&again).await.unwrap();
    assert_eq!(store.releases().await.unwrap(), releases);
    assert_eq!(store.revision().await.unwrap(), before, "nothing to notice");
}

pub(crate) async fn a_store_describes_itself_and_answers_a_ping(place: Place) {
    let store = place.host().await;
    store.ping().await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let description = store.describe();
    assert!(["sqlite", "postgres"].contains(&description.kind));
    assert!(!description.location.is_empty());
    store.close().await;
    let message = store.ping().await.unwrap_err().to_string();
    assert!(message.contains(&description.location), "{message}");
}
