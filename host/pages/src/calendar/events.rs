//! Releases of the calendar: those that packages plan and those that were announced, each once,
//! with what became of them. Pure: the same for the same catalog and time.

use std::collections::HashSet;
use std::sync::Arc;

use yearbook_domain::uuid::uuid_of_name;
use yearbook_domain::{
    Announcement, Dataset, DatasetName, Millis, PlannedRelease, SnapshotSummary,
};

use super::event::{CalendarEvent, EventOutcome};
use super::window::Window;

/// Everything that decides the calendar besides its announcements.
pub(super) struct Sources<'a> {
    pub(super) now: Millis,
    pub(super) window: Window,
    pub(super) secret: &'a str,
    /// Datasets that everybody sees, by name.
    pub(super) datasets: &'a [Arc<Dataset>],
}

/// Returns the releases by time.
pub(super) fn list(sources: &Sources<'_>, announcements: &[Announcement]) -> Vec<CalendarEvent> {
    let window = sources.window;
    let announcements = announcements.iter().filter(|one| window.has(one.release_at));
    let mut events: Vec<CalendarEvent> =
        announcements.map(|announcement| sources.announced(announcement)).collect();
    let is_announced: HashSet<(DatasetName, Millis)> = events
        .iter()
        .filter_map(|event| Some((event.dataset.as_ref()?.name.clone(), event.at)))
        .collect();
    for dataset in sources.datasets {
        let mut planned: Vec<&PlannedRelease> = dataset.current.meaning.releases.iter().collect();
        planned.sort_by_key(|release| release.at);
        for (place, release) in planned.iter().enumerate() {
            let key = (dataset.name.clone(), release.at);
            if window.has(release.at) && !is_announced.contains(&key) {
                let next = planned.get(place + 1).map(|release| release.at);
                events.push(sources.planned(dataset, release, next));
            }
        }
    }
    events.sort_by(|left, right| {
        (left.at, &left.title, &left.uid).cmp(&(right.at, &right.title, &right.uid))
    });
    events
}

impl Sources<'_> {
    fn announced(&self, announcement: &Announcement) -> CalendarEvent {
        let found = self.datasets.binary_search_by(|one| one.name.cmp(&announcement.dataset));
        let dataset = found.ok().map(|place| &self.datasets[place]);
        let at = announcement.release_at;
        let outcome = match (dataset, announcement.snapshot) {
            _ if at > self.now => EventOutcome::Coming,
            (Some(dataset), None) => self.what_became(dataset, at, None),
            (Some(_), snapshot) => EventOutcome::Released { snapshot, at },
            (None, Some(_)) => EventOutcome::Released { snapshot: None, at },
            (None, None) => EventOutcome::Late,
        };
        CalendarEvent {
            uid: self.uid(&format!("announced\0{}", announcement.id)),
            at,
            title: announcement.title.clone(),
            announced_at: announcement.announced_at,
            moves: announcement.moves,
            is_announced: true,
            dataset: dataset.cloned(),
            outcome,
        }
    }

    fn planned(
        &self,
        dataset: &Arc<Dataset>,
        release: &PlannedRelease,
        next: Option<Millis>,
    ) -> CalendarEvent {
        CalendarEvent {
            uid: self.uid(&format!("planned\0{}\0{}", dataset.name, release.at.0)),
            at: release.at,
            title: release.title.clone(),
            announced_at: dataset.current.created_at,
            moves: 0,
            is_announced: false,
            dataset: Some(Arc::clone(dataset)),
            outcome: self.what_became(dataset, release.at, next),
        }
    }

    /// Returns what became of a release at `at`, before the `next` one was due.
    fn what_became(&self, dataset: &Dataset, at: Millis, next: Option<Millis>) -> EventOutcome {
        if at > self.now {
            return EventOutcome::Coming;
        }
        let versions = &dataset.snapshots;
        let first = versions.partition_point(|version| version.created_at < at);
        match versions.get(first) {
            Some(version) if next.is_none_or(|next| version.created_at < next) => {
                EventOutcome::Released { snapshot: Some(version.id), at: version.created_at }
            }
            Some(version) if follows_a_dropped_one(versions, first, version) => {
                EventOutcome::Forgotten
            }
            _ => EventOutcome::Late,
        }
    }

    /// Returns a name for ever: the numbers of releases that were not announced, and names of
    /// datasets that nobody may know, are not found from it by trying.
    fn uid(&self, name: &str) -> String {
        uuid_of_name(&format!("release\0{}\0{name}", self.secret))
    }
}

/// Returns true where retention dropped the version before the one at `place`.
fn follows_a_dropped_one(
    versions: &[SnapshotSummary],
    place: usize,
    version: &SnapshotSummary,
) -> bool {
    let before = place.checked_sub(1).and_then(|place| versions.get(place));
    before.map_or(0, |before| before.version + 1) != version.version
}

#[cfg(test)]
mod tests;
