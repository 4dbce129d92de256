//! Requests: path, query and accepted formats, parsed without any I/O, and the plans that follow
//! from them. Never touches a body or a status of success.

mod adapter_selection;
mod bulk_request;
pub(crate) mod cursors;
pub(crate) mod data_link;
mod data_request;
mod integration_request;
pub(crate) mod known_parameters;
mod link_request;
pub(crate) mod options;
pub(crate) mod output_table;
mod path;
mod plan_changes;
mod plan_revisions;
mod plan_rows;
mod plan_transforms;
mod transform_input;
mod values_request;
mod version;

pub(crate) use adapter_selection::SelectedOutput;
pub(crate) use bulk_request::BulkRequest;
pub(crate) use data_request::DataRequest;
pub(crate) use integration_request::IntegrationRequest;
pub(crate) use link_request::LinkRequest;
use path::bulk_names;
pub(crate) use path::{dataset_name, wanted_languages};
pub(crate) use plan_transforms::{PlannedTransforms, TransformRequest, applied, check_licence};
pub(crate) use values_request::ValuesRequest;
