//! Tokens of links (contract-15-link-token): what a link reads, for whose key and until when,
//! encrypted and authenticated under a secret that every host of the catalog shares. No state is
//! kept. Never touches a dataset or the state of a key.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use yearbook_domain::signing::{NONCE_BYTES, seal, unseal};
use yearbook_domain::{DatasetName, KeyId};

/// Start of the path of every link; the token and the extension of its format follow.
pub(crate) const LINKS_PATH: &str = "/l/";

/// Days for which a link works, where nothing else is asked for.
pub(crate) const DEFAULT_DAYS: u64 = 30;

/// Days for which one works at most.
pub(crate) const MAX_DAYS: u64 = 366;

/// First byte of a token: the layout of the rest.
const LAYOUT: u8 = 1;

/// Content of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataLink {
    /// The key that it stands for.
    pub(crate) key: KeyId,
    /// Link epoch of the key when the link was made.
    pub(crate) epoch: i64,
    /// Unix time, in seconds, from which it does not work any more.
    pub(crate) ends: i64,
    /// The dataset.
    pub(crate) dataset: DatasetName,
    /// Query of `/data`: selection, limit, format and options.
    pub(crate) query: String,
}

/// Seals links and opens them.
pub(crate) struct LinkSealer {
    secret: [u8; 32],
}

impl LinkSealer {
    /// With the catalog's secret.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// Returns the path of `link` to a file with this extension.
    ///
    /// # Errors
    /// Fails where the operating system gives no random numbers.
    pub(crate) fn path(
        &self,
        link: &DataLink,
        extension: &str,
    ) -> Result<String, getrandom::Error> {
        let DataLink { key, epoch, ends, dataset, query } = link;
        let text = serde_json::json!([key, epoch, ends, dataset, query]).to_string();
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce)?;
        let sealed = seal(&self.secret, &nonce, extension.as_bytes(), text.as_bytes());
        let token = BASE64_URL_SAFE_NO_PAD.encode([&[LAYOUT], sealed.as_slice()].concat());
        Ok(format!("{LINKS_PATH}{token}.{extension}"))
    }

    /// Returns the link at `path`, without a look at the clock; `None` for every path that
    /// [`LinkSealer::path`] does not write, down to the extension.
    pub(crate) fn open(&self, path: &str) -> Option<DataLink> {
        let (token, extension) = path.strip_prefix(LINKS_PATH)?.split_once('.')?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
        let sealed = bytes.strip_prefix(&[LAYOUT])?;
        let text = unseal(&self.secret, extension.as_bytes(), sealed)?;
        let (key, epoch, ends, dataset, query): (String, _, _, String, _) =
            serde_json::from_slice(&text).ok()?;
        let (key, dataset) = (KeyId::parse(&key)?, DatasetName::parse(&dataset)?);
        Some(DataLink { key, epoch, ends, dataset, query })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn link() -> DataLink {
        DataLink {
            key: KeyId::parse("key_0123456789ab").unwrap(),
            epoch: 3,
            ends: 1_795_219_200,
            dataset: DatasetName::parse("cpi").unwrap(),
            query: "where.region=M%C4%81ori&limit=5&format=csv".to_owned(),
        }
    }

    #[test]
    fn a_link_opens_with_its_own_secret_and_shows_nothing_contract_15() {
        let sealer = LinkSealer::new([1; 32]);
        let path = sealer.path(&link(), "csv").unwrap();
        assert_eq!(sealer.open(&path), Some(link()));
        assert_eq!(LinkSealer::new([2; 32]).open(&path), None, "another installation");
        assert_ne!(sealer.path(&link(), "csv").unwrap(), path, "no two links are the same");
        let token = path.strip_prefix("/l/").unwrap().strip_suffix(".csv").unwrap();
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).unwrap();
        for part in ["key_", "0123", "cpi", "region"] {
            let shows = bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!shows && !path.contains(part), "{part}");
        }
    }

    #[test]
    fn no_character_of_a_link_can_be_changed_contract_15() {
        let sealer = LinkSealer::new([1; 32]);
        let path = sealer.path(&link(), "csv").unwrap();
        for index in 0..path.len() {
            for byte in [b'0', b'A', b'a', b'.', b'/', b'_', b'-', b'%'] {
                let mut altered = path.clone().into_bytes();
                if altered[index] == byte {
                    continue;
                }
                altered[index] = byte;
                let altered = String::from_utf8(altered).unwrap();
                assert_eq!(sealer.open(&altered), None, "{altered}");
            }
            let mut shorter = path.clone();
            shorter.remove(index);
            assert_eq!(sealer.open(&shorter), None, "{shorter}");
        }
        let (stem, _) = path.split_once('.').unwrap();
        for altered in [
            format!("{path}x"),
            format!("{path}.csv"),
            format!("{path}/"),
            format!("{stem}=.csv"),
            format!("{stem}.json"),
            format!("{stem}.CSV"),
            format!("{stem}."),
            stem.to_owned(),
            "/l/.csv".to_owned(),
            "/l/".to_owned(),
            String::new(),
        ] {
            assert_eq!(sealer.open(&altered), None, "{altered}");
        }
    }
}
