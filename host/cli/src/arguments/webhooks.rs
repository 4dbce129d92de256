//! `yearbook webhooks` as it is written.

use clap::Subcommand;
use yearbook_domain::DatasetName;

use super::parse_dataset_name;

/// `yearbook webhooks`.
#[derive(Debug, Subcommand)]
pub enum WebhooksCommand {
    /// Tell an address of each version that is published from now on, and print the secret that
    /// checks what it gets
    Add {
        /// The address; servers send there by POST
        url: String,
        /// Tell it of this dataset alone, which need not exist yet [default: all]
        #[arg(long, value_name = "NAME", value_parser = parse_dataset_name)]
        dataset: Option<DatasetName>,
    },
    /// List addresses, those that accounts have added included
    List,
    /// Remove an address
    Remove {
        /// Identifier as `webhooks list` shows it
        id: String,
    },
}
