//! A figure that somebody claims, beside one that is published.

use serde_json::{Value, json};

use crate::arguments::{Arguments, Read, wrong};
use crate::decimal::Decimal;

/// A claimed figure.
pub(crate) struct Claim {
    /// Text of the number as it was sent.
    pub(crate) text: String,
    /// Its unit.
    pub(crate) unit: Option<String>,
    number: Decimal,
}

/// Relation of a published value to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The same.
    Equal,
    /// The same, one in percent and the other a proportion, as both units say.
    EqualInUnit,
    /// A hundred times or a hundredth of it, and a unit says percent or proportion.
    Percent,
    /// So many powers of ten larger.
    Power(i32),
    /// A number that the claim is rounded from.
    Rounded,
}

/// Units that differ by a factor of a hundred.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Share {
    Percent,
    Proportion,
}

impl Claim {
    /// The claim of a tool's arguments.
    pub(crate) fn read(arguments: &Arguments<'_>) -> Read<Self> {
        let text = match arguments.get("value") {
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(text)) => text.trim().to_owned(),
            _ => return Err(wrong("value", "this is a number")),
        };
        let sentence = "this is a number such as 1234.5, without unit and separators of thousands";
        let number = Decimal::parse(&text).ok_or_else(|| wrong("value", sentence))?;
        Ok(Self { text, unit: arguments.text("unit")?, number })
    }

    /// Compares a published value. `None` where they have nothing in common.
    pub(crate) fn compare(&self, published: &str, unit: Option<&str>) -> Option<Finding> {
        let published = Decimal::parse(published)?;
        let shares = [self.unit.as_deref(), unit].map(|unit| unit.and_then(share));
        let power = match shares {
            [Some(Share::Percent), Some(Share::Proportion)] => -2,
            [Some(Share::Proportion), Some(Share::Percent)] => 2,
            _ => 0,
        };
        let claimed = self.number.times_ten_to(power);
        if claimed == published {
            return Some(if power == 0 { Finding::Equal } else { Finding::EqualInUnit });
        }
        match claimed.power_to(&published) {
            // Of two percentages one is no proportion.
            Some(2 | -2) if shares[0] != shares[1] => Some(Finding::Percent),
            Some(power) => Some(Finding::Power(power)),
            None if claimed.is_rounded(&published) => Some(Finding::Rounded),
            None => None,
        }
    }

    /// Returns whether the unit of the claim is that of the column. `None` where one is not known.
    pub(crate) fn has_unit(&self, unit: Option<&str>) -> Option<bool> {
        let (own, published) = (self.unit.as_deref()?, unit?);
        let plain = |unit: &str| unit.split_whitespace().collect::<String>().to_lowercase();
        let are_shares = share(own).is_some() && share(published).is_some();
        Some(are_shares || plain(own) == plain(published))
    }
}

impl Finding {
    /// Returns whether the claim stands.
    pub(crate) fn is_equal(self) -> bool {
        matches!(self, Self::Equal | Self::EqualInUnit)
    }

    /// The finding as it is named. `None` for what does not differ.
    pub(crate) fn named(self, published: &Value) -> Option<Value> {
        let (kind, power) = match self {
            Self::Equal => return None,
            Self::EqualInUnit | Self::Percent => ("percent_against_proportion", None),
            Self::Power(power) => ("power_of_ten", Some(power)),
            Self::Rounded => ("rounding", None),
        };
        let mut named = json!({ "kind": kind, "published": published });
        if let Some(power) = power {
            named["power"] = json!(power);
        }
        Some(named)
    }
}

/// The kind of share that a unit is. `None` for other units.
fn share(unit: &str) -> Option<Share> {
    let unit = unit.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| unit.contains(word));
    if has(&["percent", "per cent", "%", "pct"]) {
        Some(Share::Percent)
    } else if has(&["proportion", "fraction", "share", "ratio"]) {
        Some(Share::Proportion)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn compare(
        value: &str,
        unit: Option<&str>,
        published: &str,
        of: Option<&str>,
    ) -> Option<Finding> {
        let (text, unit) = (value.to_owned(), unit.map(str::to_owned));
        Claim { number: Decimal::parse(value).unwrap(), text, unit }.compare(published, of)
    }

    #[test]
    fn a_difference_has_a_name_contract_20() {
        use Finding::{Equal, EqualInUnit, Percent, Power, Rounded};
        for (value, unit, published, of, expected) in [
            ("1.5", None, "1.5", None, Some(Equal)),
            ("1.50", Some("EUR"), "1.5", Some("USD"), Some(Equal)),
            ("3.9", Some("percent"), "0.039", Some("proportion"), Some(EqualInUnit)),
            ("0.039", Some("share"), "3.9", Some("% of GDP"), Some(EqualInUnit)),
            ("3.9", Some("percent"), "3.9", Some("proportion"), Some(Percent)),
            ("3.9", None, "0.039", Some("proportion"), Some(Percent)),
            ("0.039", None, "3.9", Some("percent"), Some(Percent)),
            ("3.9", None, "0.039", None, Some(Power(-2))),
            ("390", Some("%"), "3.9", Some("percent"), Some(Power(-2))),
            ("5", Some("million"), "5000", Some("thousand"), Some(Power(3))),
            ("3.2", None, "3.187", None, Some(Rounded)),
            ("3.3", None, "3.187", None, None),
            ("3.3", None, "NaN", None, None),
        ] {
            let found = compare(value, unit, published, of);
            assert_eq!(found, expected, "{value} {unit:?} {published} {of:?}");
        }
    }
}
