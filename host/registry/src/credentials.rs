//! Credentials for registries, from where other tools keep them: variables of a job, the file
//! `config.json` of Docker, and the helpers that it names. Owns that search; sends nothing.

mod helper;

use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::collections::BTreeMap;

use crate::RegistryReference;

/// Largest `config.json`, bytes.
const CONFIG_BYTES: u64 = 1 << 20;

/// Key of Docker Hub in `config.json`, whatever its references say.
const DOCKER_HUB: &str = "index.docker.io";

/// Proof of who asks.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Name and password, or a token in the place of one.
    Basic {
        /// Name.
        username: String,
        /// Password.
        secret: String,
    },
    /// Token that a token server exchanges for one of the registry.
    IdentityToken(String),
    /// Token of the registry itself.
    RegistryToken(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Basic { .. } => "Credentials::Basic(***)",
            Self::IdentityToken(_) => "Credentials::IdentityToken(***)",
            Self::RegistryToken(_) => "Credentials::RegistryToken(***)",
        })
    }
}

/// Credentials that are there and cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The file is damaged.
    #[error("{} holds no credentials that can be read: {reason}; mend it, or log in again with `docker login`", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// Fault.
        reason: String,
    },
    /// A helper fails.
    #[error(
        "the credential helper {program} gives nothing for {host}: {reason}; run it by hand, or set YEARBOOK_REGISTRY_HOST, YEARBOOK_REGISTRY_USERNAME and YEARBOOK_REGISTRY_PASSWORD"
    )]
    Helper {
        /// Program.
        program: String,
        /// Host that it was asked about.
        host: String,
        /// Fault.
        reason: String,
    },
    /// Variables that do not belong together.
    #[error(
        "YEARBOOK_REGISTRY_HOST, YEARBOOK_REGISTRY_USERNAME and YEARBOOK_REGISTRY_PASSWORD belong together: {0} is missing"
    )]
    Variables(&'static str),
}

/// Places where credentials may be.
#[derive(Clone, Debug, Default)]
pub struct CredentialSources {
    /// Registry that the variables are for, and what they hold.
    variables: Option<(String, Credentials)>,
    /// Docker's file.
    config: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DockerConfig {
    auths: BTreeMap<String, DockerAuth>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase", default)]
struct DockerAuth {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
    registrytoken: Option<String>,
}

impl CredentialSources {
    /// Finds the places in `variables`, the environment's: `YEARBOOK_REGISTRY_…`, `DOCKER_CONFIG`
    /// (a folder) and `HOME`.
    ///
    /// # Errors
    /// [`CredentialError::Variables`] when one of the three is missing.
    pub fn from_variables(variables: &[(String, String)]) -> Result<Self, CredentialError> {
        let value = |name: &str| {
            let found = variables.iter().find(|(found, text)| found == name && !text.is_empty());
            found.map(|(_, text)| text.clone())
        };
        let own = (
            value("YEARBOOK_REGISTRY_HOST"),
            value("YEARBOOK_REGISTRY_USERNAME"),
            value("YEARBOOK_REGISTRY_PASSWORD"),
        );
        let own = match own {
            (None, None, None) => None,
            (Some(host), Some(username), Some(secret)) => {
                Some((normalize(&host), Credentials::Basic { username, secret }))
            }
            (None, ..) => return Err(CredentialError::Variables("YEARBOOK_REGISTRY_HOST")),
            (_, None, _) => return Err(CredentialError::Variables("YEARBOOK_REGISTRY_USERNAME")),
            _ => return Err(CredentialError::Variables("YEARBOOK_REGISTRY_PASSWORD")),
        };
        let folder = value("DOCKER_CONFIG").map(PathBuf::from);
        let folder = folder.or_else(|| Some(PathBuf::from(value("HOME")?).join(".docker")));
        Ok(Self { variables: own, config: folder.map(|folder| folder.join("config.json")) })
    }

    /// Credentials for the registry of `reference`; `None` where nobody has any. Variables go
    /// before the file, and in it a helper of the registry before the common one and the entries.
    /// Blocking: a helper may take seconds.
    ///
    /// # Errors
    /// [`CredentialError`] for a file or a helper that fails; a missing file is no failure.
    pub fn find(
        &self,
        reference: &RegistryReference,
    ) -> Result<Option<Credentials>, CredentialError> {
        let host = match reference.host() {
            "docker.io" => DOCKER_HUB.to_owned(),
            _ => reference.authority(),
        };
        if let Some((named, credentials)) = &self.variables
            && *named == host
        {
            return Ok(Some(credentials.clone()));
        }
        let Some(config) = self.read_config()? else { return Ok(None) };
        let is_host = |key: &String| normalize(key) == host;
        if let Some((key, helper)) = config.cred_helpers.iter().find(|(key, _)| is_host(key)) {
            return helper::ask(helper, key);
        }
        let entry = config.auths.iter().find(|(key, _)| is_host(key));
        if let Some(helper) = &config.creds_store {
            let key = entry.map_or(host.as_str(), |(key, _)| key.as_str());
            if let Some(found) = helper::ask(helper, key)? {
                return Ok(Some(found));
            }
        }
        entry.map_or(Ok(None), |(key, entry)| {
            entry.read().map_err(|()| {
                self.damaged(format!("the entry of {key} has no user:password in its `auth`"))
            })
        })
    }

    fn read_config(&self) -> Result<Option<DockerConfig>, CredentialError> {
        let Some(path) = &self.config else { return Ok(None) };
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.damaged(error.to_string())),
        };
        let mut text = String::new();
        file.take(CONFIG_BYTES)
            .read_to_string(&mut text)
            .map_err(|error| self.damaged(error.to_string()))?;
        // Only the place of a fault: what stands there may be a secret.
        serde_json::from_str(&text).map(Some).map_err(|error| {
            self.damaged(format!("line {}, column {}", error.line(), error.column()))
        })
    }

    fn damaged(&self, reason: String) -> CredentialError {
        CredentialError::Config { path: self.config.clone().unwrap_or_default(), reason }
    }
}

impl DockerAuth {
    fn read(&self) -> Result<Option<Credentials>, ()> {
        let set = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(token) = set(&self.identitytoken) {
            return Ok(Some(Credentials::IdentityToken(token)));
        }
        if let Some(token) = set(&self.registrytoken) {
            return Ok(Some(Credentials::RegistryToken(token)));
        }
        if let (Some(username), Some(secret)) = (set(&self.username), set(&self.password)) {
            return Ok(Some(Credentials::Basic { username, secret }));
        }
        let Some(auth) = set(&self.auth) else { return Ok(None) };
        let text = STANDARD.decode(auth.trim()).ok().and_then(|text| String::from_utf8(text).ok());
        let text = text.ok_or(())?;
        let (username, secret) = text.split_once(':').ok_or(())?;
        let secret = secret.trim_end_matches('\0').to_owned();
        Ok(Some(Credentials::Basic { username: username.to_owned(), secret }))
    }
}

/// Host and port of a key in `config.json`, which may be an address.
fn normalize(key: &str) -> String {
    let key = key.trim();
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let host = key.split('/').next().unwrap_or_default().to_ascii_lowercase();
    if host == "docker.io" || host == "registry-1.docker.io" { DOCKER_HUB.to_owned() } else { host }
}

#[cfg(test)]
mod tests;
