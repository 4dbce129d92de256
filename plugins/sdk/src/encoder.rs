//! The trait behind an output format.

use crate::{Batch, Description, Error, Options, Schema};

/// An output format: Arrow batches in, bytes of the format out. One value serves one response; the
/// calls are `open`, `head`, then `part` once a batch (possibly never), `tail`, drop.
///
/// When [`Description::separator`] is given, the host may serve one response with several values, each
/// of which sees some of the batches; `head` and `tail` are then called on one of them only.
pub trait Encoder: Sized + 'static {
    /// Says what the plugin makes. Called once when the plugin is loaded.
    fn describe() -> Description;

    /// Starts a response.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] when the format cannot carry a column; [`Error::InvalidOption`].
    fn open(schema: Schema, options: &Options) -> Result<Self, Error>;

    /// Appends the bytes before the first row.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Appends the bytes of these rows. May append nothing where parts are not independent: an
    /// encoder may hold back, as long as what it holds has a bound.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn part(&mut self, batch: Batch, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Appends the bytes after the last row. Not called when the response failed.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn tail(&mut self, out: &mut Vec<u8>) -> Result<(), Error>;
}
