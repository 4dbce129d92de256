//! `yearbook log` as it is written.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use yearbook_domain::DatasetName;

use super::parse_dataset_name;

/// `yearbook log`.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Print the key that checks what the log of this installation signs; others keep it
    Key,
    /// Check a log over HTTP: the signature of its checkpoint, its tree, and that it goes on from
    /// what was signed before
    Verify(LogCheck),
}

/// `yearbook log verify`.
#[derive(Args, Debug)]
pub struct LogCheck {
    /// Address of the service [default: that of this installation]
    #[arg(requires = "key")]
    pub url: Option<String>,
    /// The key of the log, which reached you another way [default: that of this installation]
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// File of the last checkpoint: the log must go on from it; a check that succeeds writes the
    /// new one
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Dataset of a snapshot that the log must hold
    #[arg(long, value_name = "NAME", requires = "snapshot", value_parser = parse_dataset_name)]
    pub dataset: Option<DatasetName>,
    /// Id of the snapshot
    #[arg(long, value_name = "ID", requires = "dataset")]
    pub snapshot: Option<String>,
    /// Read every entry of the log, and compare the tree over them with the checkpoint
    #[arg(long)]
    pub entries: bool,
}
