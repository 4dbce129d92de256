//! File descriptors of a server: as many as the system gives, and the connections that these leave.
//! Opens nothing.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use yearbook_server::ServerSettings;
use yearbook_storage::MadeFiles;

use crate::settings::SettingsDocument;

/// Descriptors that are neither clients with a slot nor databases nor tables of the past: logs,
/// listeners, clients that wait for a slot, files being read by each worker.
const RESERVED: u64 = 256;

/// Part of the descriptors that connections have, however many the server itself may need: one in
/// eight.
const LEAST_PART: u64 = 8;

/// Part of fewer connections that one address may have: one in sixteen, as by default of all, or
/// two addresses would take what is left.
const ADDRESS_PART: usize = 16;

/// Raises the soft limit of this process, which is 1,024 for programs that use `select`, to the
/// hard one. Returns what this process may open then; `None` if as many as it asks for.
pub(crate) fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

/// Descriptors that a server with these settings needs when all its slots are taken.
pub(crate) fn needed(values: &SettingsDocument) -> u64 {
    let connections = u64::try_from(values.server.connections).unwrap_or(u64::MAX);
    connections.saturating_add(own_need(values))
}

/// Settings of the server with no more connections than `most` descriptors leave, and no more than
/// their part for one address; `None` if all of them fit.
pub(crate) fn fit_connections(
    values: &SettingsDocument,
    most: Option<u64>,
) -> Option<ServerSettings> {
    let most = most.filter(|most| *most < needed(values))?;
    let fitting = most.saturating_sub(own_need(values)).max(most / LEAST_PART).max(1);
    let server = &values.server;
    let connections = usize::try_from(fitting).unwrap_or(usize::MAX).min(server.connections.max(1));
    let connections_per_address =
        server.connections_per_address.min((connections / ADDRESS_PART).max(1));
    Some(ServerSettings { connections, connections_per_address, ..server.clone() })
}

fn own_need(values: &SettingsDocument) -> u64 {
    u64::from(values.sandbox.limits.instances)
        + u64::from(values.database.bounds.connections)
        + MadeFiles::DESCRIPTORS
        + RESERVED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_many_as_descriptors_leave_and_an_address_has_its_part_contract_6() {
        let values = SettingsDocument::default();
        let fit = |most| {
            let fitted = fit_connections(&values, most);
            fitted.map(|server| (server.connections, server.connections_per_address))
        };
        for (most, expected) in [
            (None, None),
            (Some(65_536), None),
            (Some(9_488), None),
            (Some(9_487), Some((8_191, 511))),
            (Some(5_392), Some((4_096, 256))),
            (Some(1_024), Some((128, 8))),
            // However few there are, the server serves somebody.
            (Some(256), Some((32, 2))),
            (Some(3), Some((1, 1))),
        ] {
            assert_eq!(fit(most), expected, "{most:?}");
        }
    }
}
