//! The calendar of this moment, made again where its datasets, its announcements or its time are
//! others.

use std::sync::Arc;

use tokio::sync::Mutex;
use yearbook_domain::hex::encode_hex;
use yearbook_domain::{Announcement, Dataset, Millis};
use yearbook_http::{Core, Error};

use super::event::CalendarEvent;
use super::events::{self, Sources};
use super::window::Window;

/// The calendar of this moment.
pub(crate) struct CurrentCalendar {
    /// Decides the names of releases, so that nobody finds a dataset by trying names.
    secret: Arc<str>,
    /// One is made at a time.
    newest: Mutex<Option<Arc<Calendar>>>,
}

/// A calendar.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Tells it from all that were made before it in this process.
    pub(crate) number: u64,
    /// Its releases, by time.
    pub(crate) events: Vec<CalendarEvent>,
    /// Number of those whose time has come; they stand first.
    pub(crate) past: usize,
    datasets: Arc<[Arc<Dataset>]>,
    announcements: Arc<[Announcement]>,
    made_at: Millis,
    /// Time of its next change.
    until: Millis,
}

impl CurrentCalendar {
    /// Without a calendar yet; all hosts of a catalog have one `secret`.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { secret: encode_hex(&secret).into(), newest: Mutex::new(None) }
    }

    /// Returns the calendar of this moment.
    ///
    /// # Errors
    /// [`Error::Internal`] for a bug.
    pub(crate) async fn read(&self, core: &Core) -> Result<Arc<Calendar>, Error> {
        let mut newest = self.newest.lock().await;
        // The time first: what it has made due is among the rest.
        let now = core.catalog_cache.time();
        let announcements = core.catalog_cache.announcements();
        let datasets = core.catalog_cache.datasets();
        if let Some(known) = newest.as_ref()
            && known.is_of(now, &announcements, &datasets)
        {
            return Ok(Arc::clone(known));
        }
        let number = newest.as_ref().map_or(0, |known| known.number + 1);
        let secret = Arc::clone(&self.secret);
        let job = move || Calendar::new(number, &secret, now, announcements, datasets);
        let made = core.workers.run(job).await;
        let made = Arc::new(made.map_err(|panic| Error::internal("make a calendar", &panic))?);
        *newest = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Calendar {
    fn new(
        number: u64,
        secret: &str,
        now: Millis,
        announcements: Arc<[Announcement]>,
        datasets: Arc<[Arc<Dataset>]>,
    ) -> Self {
        let window = Window::at(now);
        let sources = Sources { now, window, secret, datasets: &datasets };
        let events = events::list(&sources, &announcements);
        let past = events.partition_point(|event| event.at <= now);
        let next = events.get(past).map_or(Millis(i64::MAX), |event| event.at);
        let until = next.min(window.next_day());
        Self { number, events, past, datasets, announcements, made_at: now, until }
    }

    fn is_of(
        &self,
        now: Millis,
        announcements: &[Announcement],
        datasets: &[Arc<Dataset>],
    ) -> bool {
        let mut pairs = self.datasets.iter().zip(datasets);
        (self.made_at..self.until).contains(&now)
            && self.datasets.len() == datasets.len()
            && pairs.all(|(known, found)| Arc::ptr_eq(known, found))
            && *self.announcements == *announcements
    }
}
