//! Check of the hosts that serve: which there are, how their clocks stand to the database's, and
//! which are of another release (contract-21-release-clock).

use std::time::Duration;

use yearbook_catalog::{Catalog, HostRecord};
use yearbook_domain::Millis;

use super::{Finding, Status};
use crate::commands::serve::presence;
use crate::output::pluralize;

/// Intervals after which a host that has said nothing serves no more, or cannot say so.
const MISSED: u32 = 3;

/// Uncertainty of the database's clock from which on releases are late, milliseconds
/// (contract-21-release-hosts).
const LATE_MS: u64 = 50;

/// Tells which hosts serve.
pub(super) async fn check_hosts(store: &Catalog) -> anyhow::Result<Finding> {
    let now = store.database_time().await?;
    let silence = i64::try_from((presence::INTERVAL * MISSED).as_millis()).unwrap_or(i64::MAX);
    let hosts = store.hosts(Millis(now.0.saturating_sub(silence))).await?;
    if hosts.is_empty() {
        return Ok((Status::Ok, "none serves, or none could say so".to_owned()));
    }
    let (statuses, lines): (Vec<Status>, Vec<String>) = hosts.iter().map(describe).unzip();
    let status = if statuses.contains(&Status::Warn) { Status::Warn } else { Status::Ok };
    let serve = if hosts.len() == 1 { "serves" } else { "serve" };
    let count = pluralize(hosts.len() as u64, "host");
    Ok((status, format!("{count} {serve}: {}", lines.join("; "))))
}

/// Describes a host; a warning where something should be done about it.
fn describe(host: &HostRecord) -> Finding {
    let HostRecord { name, release, .. } = host;
    let (mut status, mut line) = match host.clock {
        None => (
            Status::Warn,
            "it does not know the database's clock, so it shows no release".to_owned(),
        ),
        Some((offset, uncertainty)) => {
            let side = if offset < 0 { "behind" } else { "ahead of" };
            let offset = Duration::from_millis(offset.unsigned_abs()).as_secs_f64();
            let (status, late) = if uncertainty > LATE_MS {
                (Status::Warn, ", so releases are late there")
            } else {
                (Status::Ok, "")
            };
            let clock = format!(
                "the database's clock is {offset:.3} s {side} its own, known to {uncertainty} ms{late}"
            );
            (status, clock)
        }
    };
    if host.migration < Catalog::newest_migration() {
        status = Status::Warn;
        line.push_str("; it is of an older release than this program: upgrade it");
    }
    (status, format!("{name} ({release}), {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_with_its_clock_and_what_is_wrong_contract_21() {
        let host = |clock, migration| HostRecord {
            id: "host_1".to_owned(),
            name: "alpha 127.0.0.1:8080".to_owned(),
            release: "0.1.0".to_owned(),
            migration,
            seen_at: Millis(0),
            clock,
        };
        let newest = Catalog::newest_migration();
        for (host, behind, words) in [
            (host(Some((-2_000, 3)), newest), false, "2.000 s behind its own, known to 3 ms"),
            (host(Some((1_500, 60)), newest), true, "known to 60 ms, so releases are late there"),
            (host(None, newest), true, "so it shows no release"),
            (host(Some((0, 1)), newest - 1), true, "of an older release than this program"),
        ] {
            let (status, line) = describe(&host);
            assert_eq!(status == Status::Warn, behind);
            assert!(line.starts_with("alpha 127.0.0.1:8080 (0.1.0)"), "{line}");
            assert!(line.contains(words), "{line}");
        }
    }
}
