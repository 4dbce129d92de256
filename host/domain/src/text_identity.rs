//! Traits that every identity with a text has: printing, parsing, serde.

use std::fmt;

/// Text that does not name what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidIdentity {
    pub(crate) expected: &'static str,
    pub(crate) found: String,
}

impl fmt::Display for InvalidIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, not {:?}", self.expected, self.found)
    }
}

impl std::error::Error for InvalidIdentity {}

/// Implements for a type with `parse` and `as_str` what each text needs: printing, parsing, serde.
/// `$expected` begins the message about a text that is none.
macro_rules! text_identity {
    ($type:ident, $expected:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{:?}", self.as_str())
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::text_identity::InvalidIdentity;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text).ok_or_else(|| crate::text_identity::InvalidIdentity {
                    expected: $expected,
                    found: text.to_owned(),
                })
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use text_identity;
