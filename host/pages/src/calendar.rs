//! `/calendar`: releases that are to come, and those of the last three months with what was
//! released (contract-21-calendar). The same for machines is made by [`crate::machine`].

mod current;
mod event;
mod events;
mod window;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_domain::{Dataset, SnapshotId};
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, RenderedDocument};

pub(crate) use current::{Calendar, CurrentCalendar};
pub(crate) use event::{CalendarEvent, EventOutcome};

use crate::cache::PageKey;
use crate::figures::and_more;
use crate::{Frame, PagesState, Section, html};

/// Releases to come, and past ones, that the page shows at most; the documents have all.
const MAX_LISTED: usize = 500;

/// `/calendar`.
#[derive(Template)]
#[template(path = "calendar.html")]
struct CalendarPage<'a> {
    frame: Frame<'a>,
    coming: EventList<'a>,
    past: EventList<'a>,
}

/// Some releases, and a sentence about those that are not listed.
struct EventList<'a> {
    lines: Vec<EventLine<'a>>,
    /// "and 12 more releases".
    left_out: Option<String>,
}

/// One release.
struct EventLine<'a> {
    at: String,
    shown_at: String,
    title: &'a str,
    dataset: Option<&'a Dataset>,
    /// The version that was released, where there is a page of it.
    version: Option<SnapshotId>,
    outcome: &'static str,
}

/// `GET /calendar`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let calendar = app.calendar.read(&app.core).await?;
    let key = PageKey {
        // The page has no absolute link.
        base_url: String::new(),
        address: "/calendar".to_owned(),
        version: calendar.number.to_string(),
    };
    let render = async {
        let app_of_job = Arc::clone(&app);
        let job = move || page(&app_of_job, &calendar);
        app.core.workers.run(job).await.map_err(|panic| Error::internal("render a page", &panic))?
    };
    let page = app.cache.get(key, render).await?;
    html::respond(&app, &parts.headers, &page, CachePolicy::Public).await
}

fn page(app: &PagesState, calendar: &Calendar) -> Result<RenderedDocument, Error> {
    let (past, coming) = calendar.events.split_at(calendar.past);
    html::render(&CalendarPage {
        frame: app.site.frame("Release calendar", Section::Calendar),
        coming: EventList::new(coming.iter()),
        past: EventList::new(past.iter().rev()),
    })
}

impl<'a> EventList<'a> {
    fn new(events: impl ExactSizeIterator<Item = &'a CalendarEvent>) -> Self {
        let left_out = events.len().saturating_sub(MAX_LISTED) as u64;
        Self {
            lines: events.take(MAX_LISTED).map(EventLine::new).collect(),
            left_out: and_more(left_out, "release", "releases"),
        }
    }
}

impl<'a> EventLine<'a> {
    fn new(event: &'a CalendarEvent) -> Self {
        let at = event.at.to_rfc3339();
        Self {
            // Seconds where there are some.
            shown_at: at
                .strip_suffix(":00Z")
                .unwrap_or_else(|| at.trim_end_matches('Z'))
                .replace('T', " "),
            at,
            title: &event.title,
            dataset: event.dataset.as_deref(),
            version: event.outcome.snapshot(),
            outcome: match event.outcome {
                EventOutcome::Coming => "",
                EventOutcome::Released { .. } => "released",
                EventOutcome::Late => "late",
                EventOutcome::Forgotten => "no longer kept",
            },
        }
    }
}
