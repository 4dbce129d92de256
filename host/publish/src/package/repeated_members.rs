//! Members that an object of JSON has twice. A reader of JSON takes one of them without a word, and
//! the other may be what keeps a value secret.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Places that are told at most.
const MAX_PLACES: usize = 20;

/// Returns the places of repeated members of `json`, written as those of descriptor nodes; none
/// where it is no JSON.
pub(super) fn find(json: &[u8]) -> Vec<String> {
    let mut repeats = Repeats::default();
    let mut json = serde_json::Deserializer::from_slice(json);
    // What is no JSON has been refused before.
    let _ = repeats.deserialize(&mut json);
    repeats.places
}

/// Walk through a document.
#[derive(Default)]
struct Repeats {
    /// Place of the value at hand.
    at: String,
    places: Vec<String>,
}

impl Repeats {
    fn visit_member<E>(&mut self, name: &str, visit: impl FnOnce(&mut Self) -> E) -> E {
        let end = self.at.len();
        self.at.push_str(name);
        let visited = visit(self);
        self.at.truncate(end);
        visited
    }
}

impl<'de> DeserializeSeed<'de> for &mut Repeats {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Repeats {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            let dot = if self.at.is_empty() { "" } else { "." };
            self.visit_member(&format!("{dot}{name}"), |this| {
                if names.contains(&name)
                    && this.places.len() < MAX_PLACES
                    && !this.places.contains(&this.at)
                {
                    this.places.push(this.at.clone());
                }
                members.next_value_seed(this)
            })?;
            names.insert(name);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let visited =
                self.visit_member(&format!("[{index}]"), |this| elements.next_element_seed(this));
            if visited?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
