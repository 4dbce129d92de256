//! Settings of an operator for the whole server: the sections of `yearbook.toml` that its rooms
//! read (contract-6-settings). Reading files and variables is the binary's affair.

use serde::{Deserialize, Serialize};
use yearbook_api::LinkSettings;
use yearbook_domain::PlanTable;
use yearbook_domain::settings::{AdapterSettings, PageSettings, ShareSettings};
use yearbook_http::CoreSettings;
use yearbook_http::settings::{LimitSettings, ServerSettings};

/// Everything that the server is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSettings {
    /// `[server]`.
    pub server: ServerSettings,
    /// `[limits]`.
    pub limits: LimitSettings,
    /// `[plans]`: what each plan allows.
    pub plans: PlanTable,
    /// `[pages]`: the catalogue in a browser.
    pub pages: PageSettings,
    /// `[share]`: the warehouse share.
    pub share: ShareSettings,
    /// `[links]`: links to rows.
    pub links: LinkSettings,
    /// `[adapters]`: other people's APIs.
    pub adapters: AdapterSettings,
}

impl ServiceSettings {
    /// Settings that every room reads.
    #[must_use]
    pub fn core(&self) -> CoreSettings {
        CoreSettings { server: self.server.clone(), limits: self.limits, plans: self.plans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error_contract_6() {
        assert!(
            serde_json::from_str::<ServiceSettings>(r#"{"server":{"public_uri":"x"}}"#).is_err()
        );
        assert!(
            serde_json::from_str::<ServiceSettings>(r#"{"limits":{"burst_size":7}}"#)
                .is_ok_and(|settings| settings.limits.burst_size == 7)
        );
    }
}
