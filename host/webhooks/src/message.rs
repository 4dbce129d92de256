//! Messages and their signatures (Standard Webhooks 1.0.0): what is said of a version, and nothing
//! that its public page does not say.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::Mac as _;
use serde_json::{Map, Value, json};
use yearbook_catalog::WebhookFacts;
use yearbook_domain::LargestRevision;
use yearbook_domain::signing::keyed_hmac;

/// Kind of every message.
const TYPE: &str = "dataset.published";

/// Secret of one address, with which its receiver checks signatures.
pub(crate) struct WebhookSecret([u8; 32]);

impl WebhookSecret {
    /// The secret of the address with this id. It follows from the `installation`'s, and stands
    /// nowhere.
    pub(crate) fn new(installation: &[u8; 32], id: &str) -> Self {
        let mac = keyed_hmac(installation).chain_update(id.as_bytes());
        Self(mac.finalize().into_bytes().into())
    }

    /// The secret as receivers write it down.
    pub(crate) fn to_text(&self) -> String {
        format!("whsec_{}", STANDARD.encode(self.0))
    }

    /// The value of `webhook-signature` for a message that is sent at `at`, Unix seconds.
    pub(crate) fn sign(&self, message_id: &str, at: i64, body: &str) -> String {
        let mac = keyed_hmac(&self.0).chain_update(format!("{message_id}.{at}.{body}"));
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// The value of `webhook-id`: the same for every attempt, so that a receiver knows a message again.
pub(crate) fn message_id(webhook: &str, entry: u64) -> String {
    format!("msg_{webhook}_{entry}")
}

/// The body of a message about a version. `base` is the service's address, without a slash at its
/// end.
pub(crate) fn body(facts: &WebhookFacts, base: &str) -> String {
    let entry = &facts.entry;
    let released_at = entry.released.to_rfc3339();
    let changes = facts.changes;
    let message = json!({
        "type": TYPE,
        "timestamp": released_at,
        "data": {
            "name": entry.dataset.as_str(),
            "version": entry.version,
            "snapshot_id": entry.snapshot.as_str(),
            "digest": entry.digest.to_string(),
            "released_at": released_at,
            "rows": facts.rows,
            "inserted": changes.map(|changes| changes.inserted),
            "deleted": changes.map(|changes| changes.deleted),
            "updated": changes.map(|changes| changes.updated),
            "largest_revision": facts.largest_revision.as_ref().map(revision),
            "url": format!("{base}/v1/datasets/{}", entry.dataset),
        },
    });
    message.to_string()
}

fn revision(revision: &LargestRevision) -> Value {
    let key = revision.key.iter().map(|(column, value)| (column.clone(), json!(value)));
    json!({
        "column": revision.column,
        "key": key.collect::<Map<_, _>>(),
        "before": revision.before,
        "after": revision.after,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard_contract_21_webhooks() {
        // The example of the specification's own libraries. Its secret has 24 bytes, which HMAC
        // fills up with zeros as it does 32.
        let mut secret = [0; 32];
        let given = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        secret[..given.len()].copy_from_slice(&given);
        let signature = WebhookSecret(secret).sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_address_has_a_secret_of_its_own_contract_21_webhooks() {
        let texts = [("a", 1), ("b", 1), ("a", 2)]
            .map(|(id, installation)| WebhookSecret::new(&[installation; 32], id).to_text());
        assert!(texts.iter().all(|text| text.starts_with("whsec_") && text.len() == 6 + 44));
        assert!(texts[0] != texts[1] && texts[0] != texts[2]);
    }
}
