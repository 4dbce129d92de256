//! The command line as it is written (`docs/spec/operations.md`). Owns names, help and shapes; what
//! a command does stands in `commands`.

#![expect(rustdoc::broken_intra_doc_links, reason = "[:PORT] in a text of help is no link")]

mod log;
mod plugin;
mod plugin_source;
mod webhooks;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use yearbook_domain::query::parse_since;
use yearbook_domain::{DatasetName, Millis, Plan, release_time};
use yearbook_publish::parse_title;

pub use log::{LogCheck, LogCommand};
pub use plugin::{Actor, PluginCommand, TemplateKind};
pub use plugin_source::PluginSource;
pub use webhooks::WebhooksCommand;

/// Public statistics, published as snapshots and served over HTTP as JSON, CSV, Arrow or Parquet.
#[derive(Debug, Parser)]
#[command(name = "yearbook", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Arguments {
    /// Options of every command.
    #[command(flatten)]
    pub shared: GlobalOptions,
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Arguments of every command; they may stand before or after it.
#[derive(Args, Clone, Debug)]
pub struct GlobalOptions {
    /// Folder of the embedded database, object store and caches [variable: YEARBOOK_DATA_DIR;
    /// default: ./yearbook-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Settings file [default: ./yearbook.toml if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of built-in plugins, for a binary that does not carry them [variable:
    /// YEARBOOK_PLUGINS_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub plugins: Option<PathBuf>,
    /// Print JSON for machines: results on standard output, errors as {"error": "..."} on standard
    /// error
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer requests until SIGINT or SIGTERM
    Serve {
        /// Address to listen on; port 0 takes a free one [default: 127.0.0.1:8080]
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
        /// Address for /metrics and health, without a key: one that clients cannot reach [default:
        /// none]
        #[arg(long, value_name = "ADDRESS")]
        admin_listen: Option<String>,
    },
    /// Check data packages and publish them as snapshots, one transaction each
    Publish {
        /// datapackage.json, or the folder that it is in
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Memory for the rows of a table; more rows go through temporary files [default: what
        /// publish.memory_bytes says, 1073741824]
        #[arg(long, value_name = "BYTES")]
        memory_bytes: Option<String>,
        /// Release at an instant
        #[command(flatten)]
        release: ReleaseOptions,
    },
    /// Ask the sources of data packages again, and publish what changed
    ///
    /// A package's resources[0].path may be a file or an http(s) address. One source that fails
    /// leaves the others alone; the exit code is then 1. Run it every quarter of an hour with
    /// --due.
    Refresh {
        /// datapackage.json, or a folder of packages [default: refresh.packages in the settings]
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Skip packages whose refresh_cadence has not passed since they were checked
        #[arg(long)]
        due: bool,
    },
    /// Keys of clients
    #[command(subcommand)]
    Keys(KeysCommand),
    /// The warehouse share
    #[command(subcommand)]
    Share(ShareCommand),
    /// Sign-up for Free keys
    #[command(subcommand)]
    Signup(SignupCommand),
    /// Addresses that are told of new versions
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// Published datasets
    #[command(subcommand)]
    Datasets(DatasetsCommand),
    /// The log of what was published
    #[command(subcommand)]
    Log(LogCommand),
    /// Releases that wait for their time
    #[command(subcommand)]
    Release(ReleaseCommand),
    /// Plugins
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Print the machine description of the interface (OpenAPI 3.1) as `serve` would answer it
    Openapi,
    /// Check settings, data directory, database, object store, snapshots, plugins and the machine;
    /// say what to mend
    Doctor {
        /// Read every stored file and compare it with its digest
        #[arg(long)]
        deep: bool,
    },
    /// Drop snapshots that are no longer kept, and remove from the object store what nothing has
    /// needed for long
    ///
    /// Safe at any time, beside servers, publishers and another `gc`. Run it daily.
    Gc {
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
    /// Ask a running server whether it is alive; exit code 1 when it is not
    Health {
        /// Its listener for operators, or the public one [default: what server.admin_listen says,
        /// else server.listen]
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// Bring the database up to date, as every command does by itself, and store what versions of
    /// before lack: bounds of rows and, with share.iceberg, descriptions for Iceberg
    Migrate,
}

/// `yearbook keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Issue a key; it is shown once
    Create {
        /// free, starter, pro or enterprise
        #[arg(long)]
        plan: Plan,
        /// A note to tell keys apart
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
    },
    /// List keys, revoked ones included
    List,
    /// Revoke a key for good
    Revoke {
        /// Identifier as `keys list` shows it
        id: String,
    },
    /// End every link to rows that was made with a key so far
    EndLinks {
        /// Identifier as `keys list` shows it
        id: String,
    },
}

/// `yearbook share`.
#[derive(Debug, Subcommand)]
pub enum ShareCommand {
    /// Issue an Enterprise key and print the profile file for clients of Delta Sharing, once
    ///
    /// Write it to a file that only its recipient can read: yearbook share profile --label ann >
    /// ann.share
    Profile {
        /// A note to tell keys apart
        #[arg(long, value_name = "TEXT", required_unless_present = "key", conflicts_with = "key")]
        label: Option<String>,
        /// Take this key and issue none; `-` reads it from standard input, which keeps it out of
        /// lists of processes
        #[arg(long, value_name = "-")]
        key: Option<StandardInput>,
    },
}

/// The argument `-`: a value comes from standard input.
#[derive(Clone, Copy, Debug)]
pub struct StandardInput;

impl std::str::FromStr for StandardInput {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "-" => Ok(Self),
            _ => Err("only `-` is taken: write the key to standard input".to_owned()),
        }
    }
}

/// `yearbook signup`.
#[derive(Debug, Subcommand)]
pub enum SignupCommand {
    /// Show the mails that wait, or the whole text of one
    ///
    /// Without a mail server, pass the text of each mail on to its address and mark it as sent.
    Outbox {
        /// Identifier of a mail [default: all]
        id: Option<String>,
        /// Mark the mail as handed over, which deletes it with its address
        #[arg(long, requires = "id")]
        sent: bool,
    },
}

/// Options of a release at an instant.
#[derive(Args, Clone, Debug)]
pub struct ReleaseOptions {
    /// Instant from which everybody sees them, and nobody before: with an offset,
    /// 2026-11-27T10:45:00+13:00, or with a zone, 2026-11-27T10:45:00[Pacific/Auckland]
    #[arg(long, value_name = "TIME", value_parser = release_time::parse)]
    pub release_at: Option<Millis>,
    /// Show the release in the calendar, under this title [default: that of the package]
    #[arg(long, value_name = "TITLE", requires = "release_at", num_args = 0..=1, require_equals = true, value_parser = parse_title)]
    pub announce: Option<Option<String>>,
    /// Withdraw the release of the dataset that waits already
    #[arg(long, requires = "release_at")]
    pub replace: bool,
}

/// `yearbook release`.
#[derive(Debug, Subcommand)]
pub enum ReleaseCommand {
    /// Withdraw a release: it is as if it had never been published
    Withdraw {
        /// Number as `datasets releases` shows it
        id: i64,
    },
    /// Move a release to another instant
    Move {
        /// Number as `datasets releases` shows it
        id: i64,
        /// The instant, as --release-at takes it
        #[arg(value_parser = release_time::parse)]
        time: Millis,
    },
}

/// `yearbook datasets`.
#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// List datasets that are not retired
    List,
    /// Show one dataset and its columns
    Show {
        /// Name of the dataset
        #[arg(value_parser = parse_dataset_name)]
        name: DatasetName,
    },
    /// List the snapshots that are kept, oldest first
    Snapshots {
        /// Name of the dataset
        #[arg(value_parser = parse_dataset_name)]
        name: DatasetName,
    },
    /// List the releases that wait for their time
    Releases,
    /// Keep a snapshot for ever, so that what cites it can be checked
    Hold {
        /// Name of the dataset
        #[arg(value_parser = parse_dataset_name)]
        name: DatasetName,
        /// Snapshot id as `datasets snapshots` shows it
        snapshot: String,
    },
    /// Forget versions that retention has dropped, so that no `as_of` reads them any more
    Forget {
        /// Name of the dataset
        #[arg(value_parser = parse_dataset_name)]
        name: DatasetName,
        /// Versions that were no longer current at this time go: a date (its end, UTC), or a time
        /// with its offset
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        before: Millis,
    },
    /// Stop serving a dataset; publishing it again brings it back
    Retire {
        /// Name of the dataset
        #[arg(value_parser = parse_dataset_name)]
        name: DatasetName,
    },
}

/// A time that has come, as `as_of` takes it.
fn parse_time(text: &str) -> Result<Millis, String> {
    let sent = [("since".to_owned(), text.to_owned())];
    let parsed = parse_since(&sent, yearbook_catalog::clock::now());
    let parsed = parsed.map_err(|problem| problem.msg.replace("Value error, since ", "it "))?;
    parsed.ok_or_else(|| "it is no time".to_owned())
}

fn parse_dataset_name(text: &str) -> Result<DatasetName, String> {
    text.parse::<DatasetName>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
