//! Everything that is computed with the installation's secret: HMACs of addresses and networks, the
//! seal of mails, and the signed time of forms.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use yearbook_catalog::{Catalog, CatalogError, SignupHmac};
use yearbook_domain::signing::{NONCE_BYTES, keyed_hmac, seal, unseal};
use yearbook_domain::{MailAddress, Millis};

/// Least age of a form that is sent, milliseconds (contract-10-robots).
const LEAST_FORM_AGE_MS: i64 = 2_000;

/// Greatest age of one, milliseconds: a page that was left open over night.
const GREATEST_FORM_AGE_MS: i64 = 24 * 3_600_000;

/// Bytes of a form's signed time: the time, and the first half of its HMAC.
const STAMP_BYTES: usize = 8 + 16;

/// Reason for which a form is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormFault {
    /// It is younger than two seconds: no person types an address so fast.
    TooYoung,
    /// Its time is missing, forged, or more than a day old.
    Expired,
}

/// The secret of the installation.
pub(crate) struct SignupSecrets([u8; 32]);

impl SignupSecrets {
    /// Reads the secret of the installation, which is made at first use.
    pub(crate) async fn read(catalog: &Catalog) -> Result<Self, CatalogError> {
        catalog.secret("signup").await.map(Self)
    }

    /// The account of an address.
    pub(crate) fn address(&self, address: &MailAddress) -> SignupHmac {
        self.mac("address", address.normalized().as_bytes())
    }

    /// The network of a client: its IPv4 /24 or IPv6 /64.
    pub(crate) fn network(&self, client: IpAddr) -> SignupHmac {
        self.mac("network", network_block(client).to_string().as_bytes())
    }

    /// Seals `text` for the queue; `id` is the mail's.
    pub(crate) fn seal(&self, id: &str, text: &[u8]) -> Result<Vec<u8>, getrandom::Error> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce)?;
        Ok(seal(&self.mail_secret(), &nonce, id.as_bytes(), text))
    }

    /// The opposite of [`SignupSecrets::seal`]; `None` where the seal is broken.
    pub(crate) fn unseal(&self, id: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        unseal(&self.mail_secret(), id.as_bytes(), sealed)
    }

    /// The signed time for a form that is shown at `now`.
    pub(crate) fn form_stamp(&self, now: Millis) -> String {
        URL_SAFE_NO_PAD.encode(self.stamp_bytes(now))
    }

    /// Checks the signed time of a form that was sent at `now`.
    pub(crate) fn check_form(&self, stamp: &str, now: Millis) -> Result<(), FormFault> {
        let shown_at = self.shown_at(stamp).ok_or(FormFault::Expired)?;
        let age = now.0.saturating_sub(shown_at.0);
        if age > GREATEST_FORM_AGE_MS {
            Err(FormFault::Expired)
        } else if age < LEAST_FORM_AGE_MS {
            Err(FormFault::TooYoung)
        } else {
            Ok(())
        }
    }

    /// The time in a stamp of ours.
    fn shown_at(&self, stamp: &str) -> Option<Millis> {
        let mut bytes = [0; STAMP_BYTES];
        let length = URL_SAFE_NO_PAD.decode_slice(stamp, &mut bytes).ok()?;
        let at = Millis(i64::from_be_bytes(*bytes.first_chunk()?));
        let mut mac = self.keyed("form");
        mac.update(&at.0.to_be_bytes());
        // Compares in constant time.
        (length == STAMP_BYTES && mac.verify_truncated_left(&bytes[8..]).is_ok()).then_some(at)
    }

    fn stamp_bytes(&self, at: Millis) -> [u8; STAMP_BYTES] {
        let time = at.0.to_be_bytes();
        let mac = self.mac("form", &time);
        let mut bytes = [0; STAMP_BYTES];
        bytes[..8].copy_from_slice(&time);
        bytes[8..].copy_from_slice(&mac[..STAMP_BYTES - 8]);
        bytes
    }

    /// Secret of the seal of mails.
    fn mail_secret(&self) -> [u8; 32] {
        self.mac("mail", b"seal")
    }

    /// HMAC of `text` for one purpose.
    fn mac(&self, purpose: &str, text: &[u8]) -> [u8; 32] {
        let mut mac = self.keyed(purpose);
        mac.update(text);
        mac.finalize().into_bytes().into()
    }

    /// An HMAC that has taken the purpose and a byte that no purpose contains.
    fn keyed(&self, purpose: &str) -> Hmac<Sha256> {
        let mut mac = keyed_hmac(&self.0);
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac
    }
}

/// The first address of the IPv4 /24 or IPv6 /64 that a client is in.
fn network_block(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & (u32::MAX << 8))),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn secrets(byte: u8) -> SignupSecrets {
        SignupSecrets([byte; 32])
    }

    #[test]
    fn an_account_is_the_same_for_every_spelling_and_differs_by_secret_contract_10() {
        let address = |text: &str| MailAddress::parse(text).unwrap();
        let ann = secrets(1).address(&address("ann@example.org"));
        assert_eq!(secrets(1).address(&address(" ANN@Example.Org ")), ann);
        assert_ne!(secrets(2).address(&address("ann@example.org")), ann);
        assert_ne!(secrets(1).address(&address("bob@example.org")), ann);
    }

    #[test]
    fn networks_are_24_bits_of_ipv4_and_64_of_ipv6_contract_10() {
        for (one, other, same) in [
            ("192.0.2.1", "192.0.2.254", true),
            ("192.0.2.1", "192.0.3.1", false),
            ("::ffff:192.0.2.1", "192.0.2.9", true),
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ] {
            let [one, other] =
                [one, other].map(|address| secrets(1).network(address.parse().unwrap()));
            assert_eq!(one == other, same);
        }
    }

    #[test]
    fn a_sealed_mail_opens_for_its_own_secret_and_id_alone() {
        let sealed = secrets(1).seal("mail_1", b"ann@example.org").unwrap();
        assert_eq!(secrets(1).unseal("mail_1", &sealed).unwrap(), b"ann@example.org");
        assert_eq!(secrets(1).unseal("mail_2", &sealed), None);
        assert_eq!(secrets(2).unseal("mail_1", &sealed), None);
        assert_eq!(secrets(1).unseal("mail_1", &sealed[..10]), None);
        assert!(!sealed.windows(3).any(|window| window == b"ann"));
        assert_ne!(secrets(1).seal("mail_1", b"ann@example.org").unwrap(), sealed);
    }

    #[test]
    fn a_form_is_taken_from_its_second_second_to_its_last_hour_contract_10() {
        let shown = Millis(1_795_219_200_000);
        let stamp = secrets(1).form_stamp(shown);
        let check = |stamp: &str, age: i64| secrets(1).check_form(stamp, Millis(shown.0 + age));
        assert_eq!(check(&stamp, 1_999), Err(FormFault::TooYoung));
        assert_eq!(check(&stamp, -5_000), Err(FormFault::TooYoung), "from the future");
        assert_eq!(check(&stamp, 2_000), Ok(()));
        assert_eq!(check(&stamp, 24 * 3_600_000), Ok(()));
        assert_eq!(check(&stamp, 24 * 3_600_000 + 1), Err(FormFault::Expired));
        let foreign = secrets(2).form_stamp(shown);
        for forged in ["", "x", &stamp[..30], &format!("{stamp}AAAA"), &foreign] {
            assert_eq!(check(forged, 5_000), Err(FormFault::Expired), "{forged}");
        }
        let mut earlier = URL_SAFE_NO_PAD.decode(&stamp).unwrap();
        earlier[7] ^= 1;
        assert_eq!(check(&URL_SAFE_NO_PAD.encode(earlier), 5_000), Err(FormFault::Expired));
    }
}
