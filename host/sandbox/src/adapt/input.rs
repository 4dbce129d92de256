//! Input of one call of an adapter, which is what is kept of a call that failed.

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{adapter as guest, catalogue};
use crate::guest::InputSize;
use crate::observe::GuestFunction;

/// A call with all that it is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdapterInput {
    /// The request.
    #[serde(with = "in_arc")]
    pub request: Arc<guest::Request>,
    /// The call.
    pub call: AdapterCall,
}

/// A call of an adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one a call")]
pub enum AdapterCall {
    /// `answer`, with the facts so far.
    Answer(#[serde(with = "in_arc")] Arc<Vec<catalogue::Fact>>),
    /// `frame`, with the facts, and with what is known of the rows.
    Frame(#[serde(with = "in_arc")] Arc<Vec<catalogue::Fact>>, catalogue::Known),
    /// `refuse`.
    Refuse(catalogue::Refusal),
}

/// A request that an adapter has answered, with all that it was told.
#[derive(Clone, Debug)]
pub struct AdapterExchange {
    /// The request.
    pub request: Arc<guest::Request>,
    /// Every question, in order.
    pub questions: Vec<catalogue::Question>,
    /// Their answers.
    pub facts: Arc<Vec<catalogue::Fact>>,
    /// Facts of the rows that were sent; `None` for a document.
    pub known: Option<catalogue::Known>,
}

impl AdapterInput {
    /// Function that is called.
    #[must_use]
    pub fn function(&self) -> GuestFunction {
        match self.call {
            AdapterCall::Answer(_) => GuestFunction::Answer,
            AdapterCall::Frame(..) => GuestFunction::Frame,
            AdapterCall::Refuse(_) => GuestFunction::Refuse,
        }
    }

    /// Size, as JSON writes it. Parameters and bodies are what options are to other plugins.
    pub(super) fn size(&self) -> InputSize {
        let plain = self.request.query.is_empty() && self.request.body.is_empty();
        let mut bytes = ByteCount(0);
        // A counter takes everything.
        let _ = serde_json::to_writer(&mut bytes, self);
        InputSize::new(0, bytes.0, plain)
    }
}

struct ByteCount(usize);

impl io::Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shared values as serde writes what is in them.
mod in_arc {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, to)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}
