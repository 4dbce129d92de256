//! The trait behind a transform, and what it gives: needs, columns of the output, made rows, and
//! refusals.

pub(crate) mod driver;
mod made_rows;
mod needs;
mod output;
mod refusal;
mod rows;

pub use crate::schema::Code;
pub use made_rows::MadeRows;
pub use needs::{Form, Need, Needs, Priming};
pub use output::{MadeType, OutputColumn, Relation, Source, TransformOutput};
pub use refusal::TransformError;
pub use rows::{Codes, InputRows};

use crate::{Options, Parameter, Schema};

/// A calculation on the way from the rows to the format: rows of a table in, rows of another table
/// out. One value serves one response, and what it gives may not depend on where batches end.
///
/// ```
#[doc = include_str!("testing/example_transform.txt")]
/// use yearbook_sdk::Transform;
///
/// assert_eq!(Double::describe().name, "double");
/// ```
pub trait Transform: Sized + 'static {
    /// Says what the transform does. Called once when the plugin is loaded.
    fn describe() -> TransformDescription;

    /// Says what it needs of a table with these columns. No row has been read.
    ///
    /// # Errors
    /// [`TransformError::UnsupportedSchema`] and [`TransformError::InvalidOption`] as a rule.
    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError>;

    /// Begins a response. `codes` has the values of the columns that [`Transform::plan`] asked for
    /// as [`Form::Coded`].
    ///
    /// # Errors
    /// As [`Transform::plan`].
    fn open(schema: &Schema, codes: &Codes, options: &Options) -> Result<Self, TransformError>;

    /// The columns of the output: the same from [`Transform::open`] on, and in every instance.
    fn output(&self) -> &TransformOutput;

    /// Takes rows that come before the first [`Transform::push`]: those of [`Needs::prime`].
    ///
    /// # Errors
    /// [`TransformError`]. A transform that asks for such rows has this method.
    fn prime(&mut self, _rows: &InputRows) -> Result<(), TransformError> {
        Err(TransformError::Internal("it takes no rows before the first push".to_owned()))
    }

    /// Takes rows, and adds rows of the output where there are some. Those of [`Relation::New`]
    /// leave when they fill a batch.
    ///
    /// # Errors
    /// [`TransformError`].
    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError>;

    /// Adds rows of the output after the last batch, until [`MadeRows::is_full`]; called again
    /// until it adds none. Only where rows are [`Relation::New`].
    ///
    /// # Errors
    /// [`TransformError`].
    fn finish(&mut self, _made: &mut MadeRows) -> Result<(), TransformError> {
        Ok(())
    }
}

/// Description of a transform; must be the same every time. The rules for each field stand in
/// `wit/1.2.0/transform.wit`, and the host checks them when the plugin is installed.
///
/// ```
#[doc = include_str!("testing/example_transform.txt")]
/// use yearbook_sdk::Transform;
///
/// assert!(Double::describe().independent);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformDescription {
    /// Name that clients write in `apply=NAME`: `[a-z][a-z0-9_]*`, at most 32 bytes.
    pub name: &'static str,
    /// The plugin's own version, semantic versioning. `env!("CARGO_PKG_VERSION")` as a rule.
    pub version: &'static str,
    /// Name for people, 1 to 64 bytes.
    pub title: &'static str,
    /// A promise that results are independent: that of a batch depends on this batch and on what
    /// was primed alone. The host may then push the batches of one response to several instances.
    pub independent: bool,
    /// Query parameters, at most 32. Clients write `<name>.<parameter>=<value>`.
    pub parameters: Vec<Parameter>,
    /// A paragraph for the API's documentation.
    pub docs: &'static str,
}
