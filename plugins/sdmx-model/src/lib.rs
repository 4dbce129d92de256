//! The model behind everything that speaks SDMX: which tables are dataflows, what their columns
//! are there, the ids of everything, and periods of time. It works from names, roles and types, so
//! that formats and adapters agree whatever told them (docs/spec/sdmx.md).

mod cells;
mod component_id;
mod flow;
mod id;
mod period;
mod schema;
mod structure;
mod xml;

pub use cells::{BatchCells, Cells, Source};
pub use component_id::{column_name, component_id};
pub use flow::{Flow, agency_id, flow_id};
pub use id::{decode, encode};
pub use period::{has_sdmx_form, period_days};
pub use structure::{
    Attribute, CONF_STATUS, Column, Decline, Dimension, MAX_CODES, MEASURE, Measure, OBS_STATUS,
    OBS_VALUE, Representation, Role, Structure, TIME_PERIOD, Time, ValueType,
};
pub use xml::escape_xml;
