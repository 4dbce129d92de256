//! Calls of an adapter in the sandbox with values of the SDK, for its check and its benchmark.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use yearbook_sandbox::{AdapterAnswer, AdapterCall, AdapterInput};
use yearbook_sdk::adapter::Request;

/// Calls that somebody makes, who notes what becomes of them.
pub(crate) trait TrialCalls {
    /// Makes a call; `None` where it fails, which is noted.
    fn make(&mut self, input: AdapterInput) -> Option<AdapterAnswer>;

    /// Notes that a value of one side cannot be read by the other.
    fn note_unreadable(&mut self, _: &serde_json::Error) {}

    /// Returns a value of host or SDK as the other has it: their types are generated from the same
    /// files.
    fn convert<A: Serialize, B: DeserializeOwned>(&mut self, value: &A) -> Option<B> {
        let text = serde_json::to_string(value);
        let read = text.and_then(|text| serde_json::from_str(&text));
        read.inspect_err(|error| self.note_unreadable(error)).ok()
    }

    /// Makes a call and returns its answer, of which the sandbox has checked that it is one to it.
    fn ask<T: DeserializeOwned>(&mut self, request: &Request, call: AdapterCall) -> Option<T> {
        let request = Arc::new(self.convert(request)?);
        match self.make(AdapterInput { request, call })? {
            AdapterAnswer::Reply(reply) => self.convert(&reply),
            AdapterAnswer::Framing(framing) => self.convert(&framing),
            AdapterAnswer::Document(document) => self.convert(&document),
        }
    }
}
