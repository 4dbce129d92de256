//! `yearbook plugin` as it is written.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PluginSource;

/// `yearbook plugin`.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Try a plugin as the host would use it; say what is wrong, what to do, and what it uses of
    /// its limits
    ///
    /// Takes a component, or the core module that `cargo build --target wasm32-unknown-unknown`
    /// makes. Nothing is installed. Exit code 1 when something is wrong; what failed is then left
    /// as dumps, for `plugin replay`.
    Check {
        /// The plugin: a file, or oci://HOST[:PORT]/REPOSITORY:TAG in a registry
        #[arg(value_name = "FILE.wasm|oci://…")]
        plugin: PluginSource,
        /// Folder for dumps [default: the plugin's]
        #[arg(long, value_name = "DIR")]
        dumps: Option<PathBuf>,
    },
    /// Make a call that failed again: with the same input and under the same limits
    ///
    /// Takes a dump that `plugin check` left, or a server with `plugins.dumps` set. Exit code
    /// 0 when the call succeeds now, 1 when it fails as before, or otherwise.
    Replay {
        /// The dump
        #[arg(value_name = "DUMP")]
        dump: PathBuf,
        /// The plugin to call [default: the release with the dump's digest]
        #[arg(long, value_name = "FILE.wasm|oci://…")]
        component: Option<PluginSource>,
    },
    /// Show what a plugin is made of and whether it is trusted here; nothing of it is compiled or
    /// run
    Inspect {
        /// The plugin: a file, or oci://HOST[:PORT]/REPOSITORY:TAG in a registry
        #[arg(value_name = "FILE.wasm|oci://…")]
        plugin: PluginSource,
        /// Its signature [default: FILE.wasm.minisig, or the one in the registry, if there is one]
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
        /// Write the component here, for signing: of a core module it is the component that counts
        #[arg(long, value_name = "COMPONENT.wasm")]
        write_component: Option<PathBuf>,
    },
    /// Write a project of your own: it builds, tests and passes its check as it is
    New {
        /// An output format, files for a data tool, an input format, a calculation or an API
        kind: TemplateKind,
        /// Format, tool, calculation or API, crate and folder
        #[arg(value_parser = check_name)]
        name: String,
    },
    /// Build a plugin at every change, serve it on a server of its own, and show what became of an
    /// answer
    ///
    /// Serves a small table, or packages of your own, on a free port until Ctrl-C; nothing of it
    /// stays. Each build replaces the plugin that serves; one that fails leaves it. Prints lines
    /// of the answer that changed, its status, bytes, time, processor time and memory, and then
    /// what `plugin check` finds.
    Dev {
        /// Folder of the plugin's crate
        #[arg(value_name = "FOLDER", default_value = ".")]
        folder: PathBuf,
        /// Path and query to ask for [default: rows in the format or through the calculation,
        /// files for the tool, or the first example of the API]
        #[arg(long, value_name = "PATH")]
        request: Option<String>,
        /// Package to publish in place of the table `sample`; as often as you like
        #[arg(long, value_name = "PACKAGE")]
        data: Vec<PathBuf>,
    },
    /// Check a plugin, store it and make its release known to every running host
    ///
    /// Where nothing of its name serves yet, and for a generator, the release serves within 2
    /// seconds. A reader is what the next `publish` uses. Otherwise it waits as `installed` beside
    /// the release that serves: hosts compare the two on live responses and promote it, or roll it
    /// back, as `[plugins]` in the settings says.
    /// `--now` or `plugin pin` promotes it at once.
    Install {
        /// The plugin: a file, or oci://HOST[:PORT]/REPOSITORY:TAG in a registry
        #[arg(value_name = "FILE.wasm|oci://…")]
        plugin: PluginSource,
        /// Promote it at once: running hosts serve it within 2 seconds
        #[arg(long)]
        now: bool,
        /// Its signature, made with minisign [default: FILE.wasm.minisig, or the one in the
        /// registry, if there is one]
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
        /// Name and reason for the history
        #[command(flatten)]
        who: Actor,
    },
    /// Push a plugin to a registry, with its signature, in the layout of Wasm components
    ///
    /// The file is not checked: `plugin check` does that. Credentials are those of `docker login`,
    /// or YEARBOOK_REGISTRY_HOST, YEARBOOK_REGISTRY_USERNAME and YEARBOOK_REGISTRY_PASSWORD.
    Push {
        /// The plugin
        #[arg(value_name = "FILE.wasm")]
        file: PathBuf,
        /// Its place in the registry: oci://HOST[:PORT]/REPOSITORY:TAG
        #[arg(value_name = "oci://…")]
        to: PluginSource,
        /// Its signature, made with minisign [default: FILE.wasm.minisig if there is one]
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
    },
    /// Measure a format or a transform beside built-in ones, over the same tables, in one run
    ///
    /// Formats beside json and csv, transforms beside growth and resample; an adapter by its
    /// examples, alone. Takes seconds. Medians of interleaved runs on one thread, without
    /// compression and HTTP.
    Bench {
        /// The plugin: a file, or oci://HOST[:PORT]/REPOSITORY:TAG in a registry
        #[arg(value_name = "FILE.wasm|oci://…")]
        plugin: PluginSource,
        /// Counted runs of each, after one that is not counted
        #[arg(long, value_name = "NUMBER", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        runs: u16,
    },
    /// Show in which functions a format or a transform spends its time, over the rows of `bench`
    ///
    /// Writes a profile that the profiler of a browser opens. Functions need names: build with
    /// `cargo wasm --config 'profile.release.strip="debuginfo"'`.
    Profile {
        /// The plugin: a file, or oci://HOST[:PORT]/REPOSITORY:TAG in a registry
        #[arg(value_name = "FILE.wasm|oci://…")]
        plugin: PluginSource,
        /// File of the profile [default: NAME.cpuprofile beside the plugin]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// Runs over all rows
        #[arg(long, value_name = "NUMBER", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        runs: u16,
    },
    /// Print the releases whose tag in a registry names another component now
    ///
    /// Nothing is installed. Exit code 0 whether or not there are any, 1 when a registry could not
    /// be asked.
    Outdated,
    /// List the releases that are known, and which of them serve
    List {
        /// Everything that happened to releases instead, oldest first
        #[arg(long)]
        history: bool,
    },
    /// Take the release that serves out of service; the one promoted before it serves again
    Rollback {
        /// Format or tool; KIND/NAME where several plugins have the name
        name: String,
        /// Name and reason for the history
        #[command(flatten)]
        who: Actor,
    },
    /// Remove every release of a name that somebody installed; what is built in serves again
    Remove {
        /// Format or tool; KIND/NAME where several plugins have the name
        name: String,
        /// Name and reason for the history
        #[command(flatten)]
        who: Actor,
    },
    /// Show what each release does now: responses a second, times, processor, memory, traps
    ///
    /// Reads the admin listener of a running server (`serve --admin-listen`). Refreshes every
    /// second on a terminal, else prints once.
    Top {
        /// The admin listener, like http://127.0.0.1:9090 [default: server.admin_listen]
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// Print once
        #[arg(long)]
        once: bool,
    },
    /// Make one release of a name serve, whatever is promoted later
    Pin {
        /// Format or tool; KIND/NAME where several plugins have the name
        name: String,
        /// The release's digest, or as much of it as tells it from others
        #[arg(required_unless_present = "off", conflicts_with = "off")]
        digest: Option<String>,
        /// Take the pin away instead
        #[arg(long)]
        off: bool,
        /// Name for the history [default: the system user]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
}

/// Kinds of plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TemplateKind {
    /// Another API: its requests in, documents and rows out
    Adapter,
    /// An output format: rows in, bytes out
    Encoder,
    /// An integration: descriptions of datasets in, files for a data tool out
    Generator,
    /// An input format: bytes of a file in, rows out
    Reader,
    /// A calculation: rows in, rows out
    Transform,
}

/// Author of a change, for the history.
#[derive(Args, Clone, Debug)]
pub struct Actor {
    /// Name for the history [default: the system user]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Reason for the history
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Checks for a name that a format and a crate may both have.
fn check_name(text: &str) -> Result<String, String> {
    let good = text.len() <= 32
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if good {
        Ok(text.to_owned())
    } else {
        Err("a name is lower-case letters, digits and hyphens, begins with a letter, and has at most 32 bytes".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_must_do_for_a_format_and_for_a_crate() {
        assert!(check_name("geo-json2").is_ok());
        for bad in ["", "Lines", "2d", "a_b", "../x", "a b", &"a".repeat(33)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
