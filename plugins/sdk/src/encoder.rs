//! The trait behind an output format.

use crate::{Batch, Description, Error, Options, Output, Schema, View};

/// An output format: Arrow batches in, bytes of the format out. One value serves one response; the
/// calls are `open`, `views`, `head`, then `part` once a batch (possibly never), `tail`, drop.
///
/// The host may serve one response with several values if [`Description::separator`] is given. Each
/// value sees some of the batches then, and `head` and `tail` are called on one of them only.
/// Facts about the parts that the tail needs travel in their [notes](Encoder::note).
///
/// ```
/// # use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema};
/// # struct Lines;
/// # impl Encoder for Lines {
/// #     fn describe() -> Description {
/// #         Description {
/// #             format: "lines",
/// #             version: "0.1.0",
/// #             media_type: "text/plain",
/// #             extension: "txt",
/// #             separator: Some(b""),
/// #             part_rows: None,
/// #             dictionaries: false,
/// #             compressible: true,
/// #             parameters: vec![],
/// #             docs: "The first column, one line a row.",
/// #         }
/// #     }
/// #     fn open(_: Schema, _: &Options) -> Result<Self, Error> {
/// #         Ok(Self)
/// #     }
/// #     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
/// #         for row in 0..batch.rows() {
/// #             out.extend_from_slice(batch.column(0).text(row).unwrap_or("-").as_bytes());
/// #             out.push(b'\n');
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), None]);
/// assert_eq!(testing::encode::<Lines>(&table, &[])?, b"north\n-\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
pub trait Encoder: Sized + 'static {
    /// Says what the plugin makes. Called once when the plugin is loaded.
    fn describe() -> Description;

    /// Starts a response.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] when the format cannot carry a column;
    /// [`Error::InvalidOption`].
    fn open(schema: Schema, options: &Options) -> Result<Self, Error>;

    /// Says what to send of the columns: a [`View`] for each column of the schema, or none at all,
    /// for everything. What stays with the host is passed on with [`Output::pass`] and
    /// [`Output::pass_buffer`]; see `docs/plugins.md`. The same for every value that serves a
    /// response. As given: none.
    fn views(&self) -> Vec<View> {
        Vec::new()
    }

    /// Appends the bytes before the first row. As given: none.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }

    /// Appends the bytes of these rows. May append nothing where parts are not independent: an
    /// encoder may hold back, as long as what it holds has a bound. `out` is empty at first.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error>;

    /// Facts about the part just made that the tail must know, such as an entry of an index. Called
    /// after each `part`; it is not part of the response. As given: nothing.
    fn note(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Appends the bytes after the last row. `notes` are those that are not empty, of all parts, in
    /// order, whichever value made them. Not called when the response failed. As given: none.
    ///
    /// # Errors
    /// [`Error::Internal`].
    fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        let _ = (notes, out);
        Ok(())
    }
}

/// A part's note for the tail.
///
/// ```
/// use yearbook_sdk::Note;
///
/// let notes = [Note { offset: 0, bytes: vec![1] }, Note { offset: 40, bytes: vec![2] }];
/// assert!(notes.is_sorted_by_key(|note| note.offset));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Position of the part's first byte in the response, counted from the response's first byte.
    pub offset: u64,
    /// Bytes that [`Encoder::note`] returned.
    pub bytes: Vec<u8>,
}
