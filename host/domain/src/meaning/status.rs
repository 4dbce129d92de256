//! Columns of statuses, and the code lists that their values are of: observation and
//! confidentiality status of SDMX (sdmx.org, CL_OBS_STATUS 2.2 and CL_CONF_STATUS 1.3), or a list
//! of the publisher.

use serde::{Deserialize, Serialize};

use super::{Language, Text};

/// Meaning of the values of a status column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusColumn {
    /// Names of the columns whose values have these statuses, at least one.
    pub of: Vec<String>,
    /// Its values.
    pub codes: StatusCodes,
}

/// A list of statuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StatusCodes {
    /// A list that SDMX defines.
    Known(KnownCodes),
    /// The publisher's own.
    Own(Vec<ListedCode>),
}

/// The lists that SDMX defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownCodes {
    /// `CL_OBS_STATUS`.
    SdmxObs,
    /// `CL_CONF_STATUS`.
    SdmxConf,
}

/// A status of a publisher's own list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedCode {
    /// The value.
    pub code: String,
    /// Its meaning in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Text>,
    /// Set where a value beside it must not be published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confidential: bool,
}

/// Code, label, and whether a value beside it must not be published.
type KnownCode = (&'static str, &'static str, bool);

/// `CL_OBS_STATUS`.
const OBSERVATION: [KnownCode; 20] = [
    ("A", "Normal value", false),
    ("B", "Time series break", false),
    ("D", "Definition differs", false),
    ("E", "Estimated value", false),
    ("F", "Forecast value", false),
    ("G", "Experimental value", false),
    ("H", "Missing value; holiday or weekend", false),
    ("I", "Imputed value", false),
    ("J", "Derogation", false),
    ("K", "Data included in another category", false),
    ("L", "Missing value; data exist but were not collected", false),
    ("M", "Missing value; data cannot exist", false),
    ("N", "Not significant", false),
    ("O", "Missing value", false),
    ("P", "Provisional value", false),
    ("Q", "Missing value; suppressed", true),
    ("S", "Strike and other special events", false),
    ("U", "Low reliability", false),
    ("V", "Unvalidated value", false),
    ("W", "Includes data from another category", false),
];

/// The code of `CL_CONF_STATUS` for what is confidential until its embargo ends.
const EMBARGO: &str = "E";

/// `CL_CONF_STATUS`: confidential but for `F`. What is under embargo is confidential until it ends.
const CONFIDENTIALITY: [KnownCode; 12] = [
    ("A", "Primary confidentiality due to small counts", true),
    ("C", "Confidential statistical information", true),
    ("D", "Secondary confidentiality set by the sender", true),
    (EMBARGO, "Under embargo", true),
    ("F", "Free for publication", false),
    ("G", "Primary confidentiality due to dominance by one or two units", true),
    ("M", "Primary confidentiality due to other measures of concentration", true),
    ("N", "Not for publication, restricted for internal use only", true),
    ("O", "Primary confidentiality due to dominance by one unit", true),
    ("S", "Secondary confidentiality set by the receiver", true),
    ("T", "Primary confidentiality due to dominance by two units", true),
    ("X", "Confidentiality due to military secrecy", true),
];

impl KnownCodes {
    fn codes(self) -> &'static [KnownCode] {
        match self {
            Self::SdmxObs => &OBSERVATION,
            Self::SdmxConf => &CONFIDENTIALITY,
        }
    }
}

impl StatusCodes {
    /// Reads the name of a list. `None` for others than those of SDMX.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sdmx-obs" => Some(Self::Known(KnownCodes::SdmxObs)),
            "sdmx-conf" => Some(Self::Known(KnownCodes::SdmxConf)),
            _ => None,
        }
    }

    /// Returns the name of the list, as metadata of columns has it: `own` for a publisher's.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Known(KnownCodes::SdmxObs) => "sdmx-obs",
            Self::Known(KnownCodes::SdmxConf) => "sdmx-conf",
            Self::Own(_) => "own",
        }
    }

    /// Returns every code of the list.
    #[must_use]
    pub fn codes(&self) -> Vec<&str> {
        match self {
            Self::Known(known) => known.codes().iter().map(|(code, ..)| *code).collect(),
            Self::Own(own) => own.iter().map(|listed| listed.code.as_str()).collect(),
        }
    }

    /// Returns whether a value beside this code must not be published; `None` if the list does not
    /// have it.
    #[must_use]
    pub fn is_confidential(&self, code: &str) -> Option<bool> {
        match self {
            Self::Known(known) => {
                known.codes().iter().find(|(known, ..)| *known == code).map(|(.., hidden)| *hidden)
            }
            Self::Own(own) => {
                own.iter().find(|listed| listed.code == code).map(|listed| listed.confidential)
            }
        }
    }

    /// Returns whether a value beside this code may be published once an embargo ends.
    #[must_use]
    pub fn is_embargo(&self, code: &str) -> bool {
        matches!(self, Self::Known(KnownCodes::SdmxConf)) && code == EMBARGO
    }

    /// Returns what a code says, in a language where the list has it.
    #[must_use]
    pub fn label(&self, code: &str, language: Option<&Language>) -> Option<&str> {
        match self {
            Self::Known(known) => {
                known.codes().iter().find(|(known, ..)| *known == code).map(|(_, label, _)| *label)
            }
            Self::Own(own) => own
                .iter()
                .find(|listed| listed.code == code)
                .and_then(|listed| listed.label.as_ref())
                .map(|label| label.in_language(language)),
        }
    }
}
