//! The binary as operators and scripts see it: exit codes, standard output, standard error.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "programs that tests start have an environment")]

#[path = "command_line/author.rs"]
mod author;
#[path = "command_line/binary.rs"]
mod binary;
#[path = "command_line/crash.rs"]
mod crash;
#[path = "command_line/datasets.rs"]
mod datasets;
#[path = "command_line/descriptors.rs"]
mod descriptors;
#[path = "command_line/doctor.rs"]
mod doctor;
#[path = "command_line/failure_dumps.rs"]
mod failure_dumps;
#[path = "command_line/full_disk.rs"]
mod full_disk;
#[path = "command_line/gc.rs"]
mod gc;
#[path = "command_line/guide.rs"]
mod guide;
#[path = "command_line/injection.rs"]
mod injection;
#[path = "command_line/keys.rs"]
mod keys;
#[path = "command_line/log.rs"]
mod log;
#[path = "command_line/plugin.rs"]
mod plugin;
#[path = "command_line/publish.rs"]
mod publish;
#[path = "command_line/publish_memory.rs"]
mod publish_memory;
#[path = "command_line/readers.rs"]
mod readers;
#[path = "command_line/refresh.rs"]
mod refresh;
#[path = "command_line/registry.rs"]
mod registry;
#[path = "command_line/release.rs"]
mod release;
#[path = "command_line/round_trip.rs"]
mod round_trip;
#[path = "command_line/serve.rs"]
mod serve;
#[path = "command_line/served.rs"]
mod served;
#[path = "command_line/settings.rs"]
mod settings;
#[path = "command_line/share.rs"]
mod share;
#[path = "command_line/signals.rs"]
mod signals;
#[path = "command_line/signup.rs"]
mod signup;
#[path = "command_line/traces.rs"]
mod traces;
#[path = "command_line/webhooks.rs"]
mod webhooks;
