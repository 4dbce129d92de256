//! Order in which the releases of a name serve: the pinned one, then the one that was promoted
//! last, an operator's before those that came with a binary. A host that cannot load the first
//! takes the next.

use std::collections::BTreeMap;

use super::{PluginRelease, ReleaseState};
use crate::PluginKind;

/// The releases of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingOrder {
    /// Kind of the plugins.
    pub kind: PluginKind,
    /// Format or tool.
    pub name: String,
    /// Releases that may serve, best first. Empty: the name is known and nothing may serve it.
    pub candidates: Vec<PluginRelease>,
    /// The newest release that waits to take the first candidate's place; `None` where that is
    /// pinned, or newer.
    pub waiting: Option<PluginRelease>,
}

/// Every name that is, or was, served. A name whose releases were all removed, or never promoted,
/// is not among them: for clients it is unknown.
#[must_use]
pub fn lines(releases: &[PluginRelease]) -> Vec<ServingOrder> {
    let mut by_name: BTreeMap<(PluginKind, &str), Vec<&PluginRelease>> = BTreeMap::new();
    for release in releases {
        by_name.entry((release.id.kind, &release.id.name)).or_default().push(release);
    }
    let line = |((kind, name), releases): ((PluginKind, &str), Vec<&PluginRelease>)| {
        let known = releases.iter().any(|release| {
            !matches!(release.state, ReleaseState::Installed | ReleaseState::Removed)
        });
        let mut candidates: Vec<PluginRelease> = releases
            .iter()
            .copied()
            .filter(|release| release.state == ReleaseState::Promoted)
            .cloned()
            .collect();
        candidates.sort_by_key(|release| {
            std::cmp::Reverse((
                release.pinned,
                !release.built_in,
                release.promotion,
                release.installed_at,
                release.id.digest,
            ))
        });
        let waiting = candidates
            .first()
            .filter(|first| !first.pinned)
            .and_then(|first| newest_installed_after(first, &releases));
        known.then(|| ServingOrder {
            kind,
            name: name.to_owned(),
            waiting: waiting.cloned(),
            candidates,
        })
    };
    by_name.into_iter().filter_map(line).collect()
}

/// Returns the newest release that waits to replace `first`. A release that was installed before
/// `first` was promoted has been passed over already; an upgrade of a binary passes nothing over.
fn newest_installed_after<'a>(
    first: &PluginRelease,
    releases: &[&'a PluginRelease],
) -> Option<&'a PluginRelease> {
    let newer = |release: &&&PluginRelease| first.built_in || release.promotion > first.promotion;
    let installed = releases.iter().filter(|release| release.state == ReleaseState::Installed);
    installed.filter(newer).max_by_key(|release| release.promotion).copied()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::release::ReleaseId;
    use crate::{Digest, Millis};

    fn release(version: &str, state: ReleaseState, promotion: i64) -> PluginRelease {
        PluginRelease {
            id: ReleaseId {
                kind: PluginKind::Encoder,
                name: "csv".into(),
                digest: Digest::compute(version.as_bytes()),
            },
            version: version.into(),
            bytes: 1,
            by: "ann".into(),
            installed_at: Millis(0),
            built_in: false,
            state,
            promotion,
            pinned: false,
            reason: None,
            until: None,
            quarantines: 0,
            origin: None,
        }
    }

    fn order(releases: &[PluginRelease]) -> Option<String> {
        let mut lines = lines(releases);
        lines.pop().map(|line| line.candidates.into_iter().map(|release| release.version).collect())
    }

    #[test]
    fn the_newest_release_waits_for_the_place_of_an_older_one_that_is_not_pinned() {
        use ReleaseState::{Installed, Promoted};
        let waiting = |releases: &[PluginRelease]| {
            lines(releases)[0].waiting.as_ref().map(|release| release.version.clone())
        };
        let serving = release("s", Promoted, 5);
        let all = [
            serving.clone(),
            release("1", Installed, 3),
            release("2", Installed, 7),
            release("3", Installed, 9),
        ];
        assert_eq!(waiting(&all).as_deref(), Some("3"));
        assert_eq!(waiting(&all[..2]), None, "installed before the other was promoted");
        let built_in = PluginRelease { built_in: true, ..serving.clone() };
        assert_eq!(
            waiting(&[built_in, release("1", Installed, 3)]).as_deref(),
            Some("1"),
            "a new binary came later"
        );
        assert_eq!(
            waiting(&[PluginRelease { pinned: true, ..serving }, release("2", Installed, 7)]),
            None
        );
    }

    #[test]
    fn the_release_promoted_last_serves_and_what_is_built_in_comes_after() {
        use ReleaseState::{Installed, Promoted, Quarantined, Removed, RolledBack};
        let built_in = PluginRelease { built_in: true, ..release("b", Promoted, 90) };
        let all = [
            built_in,
            release("1", Promoted, 4),
            release("2", Promoted, 7),
            release("3", Installed, 0),
            release("4", RolledBack, 9),
        ];
        assert_eq!(order(&all).unwrap(), "21b");
        let pinned = PluginRelease { pinned: true, ..release("1", Promoted, 4) };
        assert_eq!(order(&[pinned.clone(), release("2", Promoted, 7)]).unwrap(), "12");
        // A pin does not keep a release in service that failed.
        assert_eq!(
            order(&[PluginRelease { state: Quarantined, ..pinned }, release("2", Promoted, 7)])
                .unwrap(),
            "2"
        );
        assert_eq!(
            order(&[release("1", Quarantined, 4), release("2", RolledBack, 7)]).unwrap(),
            "",
            "known, and nothing may serve"
        );
        assert_eq!(
            order(&[release("1", Removed, 4), release("2", Installed, 0)]),
            None,
            "unknown to clients"
        );
    }
}
