//! Webhooks (contract-21-webhooks): addresses that are told of each version that is published, as
//! Standard Webhooks has it. Which address is to be told of what stands in the catalog, so that
//! nothing is lost whatever host ends; here are messages, their signatures, and the task that sends
//! them. Never decides who may add an address.

mod message;
mod metrics;
mod retry;
mod sender;
mod service;
mod settings;

pub use metrics::DeliveryOutcome;
pub use service::{UrlFault, WebhookError, Webhooks};
pub use settings::WebhookSettings;
