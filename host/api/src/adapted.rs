//! Rows and values for adapters (contract-17-rows, contract-17-facts): what an adapter selects goes
//! the way of `/data`, `/changes` and `/values`, with the same refusals, guards and caps. Never
//! touches a plugin's call: whoever asks for rows makes the reservation and the bytes around them.

mod catalogue_view;
mod cited;
mod read_rows;
mod sent_rows;
mod values;

pub use catalogue_view::{describe_columns, describe_credit};
pub use read_rows::SelectedRows;
pub use sent_rows::{PlannedRows, ReadyRows, RowsToSend};
pub use values::SelectedValues;
