//! A capsule's call once more: on the component that failed, or on one that should not.

use std::sync::Arc;

use yearbook_shares::Holder;

use super::{About, CallName, Capsule, Line, Outlet};
use crate::encoder::{Encoder, Notes};
use crate::failure::{EncodeError, Rejected};
use crate::generator::{Generator, Request};
use crate::instance::Instance;
use crate::sandbox::{Plugin, Sandbox};
use crate::tally::Work;

/// Why a call is not made now.
const NONE_FREE: &str = "no instance is free; try again";

/// What came of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The failure; none: the call succeeded.
    pub failed: Option<About>,
    /// What the instance logged.
    pub log: Vec<Line>,
    /// Bytes that the call returned; 0 where it failed.
    pub bytes: usize,
}

/// Why a capsule was not replayed at all.
#[derive(Debug, thiserror::Error)]
pub enum NotReplayed {
    /// The component is no plugin.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// It is one of the other kind.
    #[error(
        "the capsule is of a plugin of the kind {expected}, and the component is of the other kind"
    )]
    Kind {
        /// `encoder` or `generator`.
        expected: String,
    },
    /// The host failed, or cannot hand these rows over.
    #[error("{0}")]
    Host(String),
}

impl Replayed {
    /// Whether it failed at the same call, and in the same way, as `capsule`; other words count as
    /// the same.
    #[must_use]
    pub fn is_same(&self, capsule: &Capsule) -> bool {
        let way = |about: &About| (about.call, about.failure.kind.clone());
        self.failed.as_ref().is_some_and(|failed| way(failed) == way(&capsule.about))
    }
}

impl Sandbox {
    /// Makes the call of `capsule` again, on `component`. The sandbox's own limits are in force:
    /// make it with those of the capsule. Blocking.
    ///
    /// # Errors
    /// [`NotReplayed`] when the call was not made.
    pub fn replay(
        self: &Arc<Self>,
        component: &[u8],
        capsule: &Capsule,
    ) -> Result<Replayed, NotReplayed> {
        let hand = Outlet::hand();
        let failed = |capsule: Box<Capsule>| Replayed {
            log: capsule.about.log.clone(),
            failed: Some(capsule.about),
            bytes: 0,
        };
        let plugin = match self.load_into(component, &hand) {
            Ok(plugin) => plugin,
            Err(rejected) => return hand.take().map(failed).ok_or(NotReplayed::Rejected(rejected)),
        };
        let made = match (&capsule.request, &plugin) {
            _ if capsule.about.call == CallName::Describe => Ok((0, Vec::new())),
            (Some(request), Plugin::Generator(generator)) => {
                generator.replay(request, hand.clone())
            }
            (None, Plugin::Encoder(encoder)) => {
                encoder.replay(capsule, hand.clone()).map_err(|error| error.to_string())
            }
            _ => return Err(NotReplayed::Kind { expected: capsule.about.component.kind.clone() }),
        };
        match made {
            Ok((bytes, log)) => Ok(Replayed { failed: None, log, bytes }),
            Err(error) => hand.take().map(failed).ok_or(NotReplayed::Host(error)),
        }
    }
}

impl Generator {
    fn replay(&self, request: &Request, hand: Outlet) -> Result<(usize, Vec<Line>), String> {
        let permit = self
            .sandbox
            .instances
            .try_acquire(&Holder::default())
            .map_err(|_| NONE_FREE.to_owned())?;
        let made = self.call(permit, Work::new(Arc::clone(&self.tally), hand), request);
        let project = made.project.map_err(|error| error.to_string())?;
        Ok((project.files.iter().map(|file| file.content.len()).sum(), made.log))
    }
}

impl Encoder {
    fn replay(&self, capsule: &Capsule, hand: Outlet) -> Result<(usize, Vec<Line>), EncodeError> {
        let permit = self
            .sandbox
            .instances
            .try_acquire(&Holder::default())
            .map_err(|_| EncodeError::Host(NONE_FREE.to_owned()))?;
        let work = Work::new(Arc::clone(&self.tally), hand);
        let About { call, before, options, .. } = &capsule.about;
        let options = self.description().complete(options);
        let mut instance =
            Instance::open(self, permit, Arc::clone(&work), &capsule.schema, &options)?;
        let mut bytes = 0;
        if before.head && *call != CallName::Head {
            instance.head()?;
        }
        if let (CallName::Tail, Some(batch)) = (call, &capsule.batch) {
            instance.part(batch)?;
        }
        instance.allow(before.allowance);
        match call {
            CallName::Head => bytes = instance.head()?.len(),
            CallName::Part => {
                work.noted(before.noted);
                if let Some(batch) = &capsule.batch {
                    bytes = instance.part(batch)?.bytes.len();
                }
            }
            CallName::Tail => bytes = instance.tail(&Notes::of(&capsule.notes))?.len(),
            CallName::Describe | CallName::Open | CallName::Generate => {}
        }
        Ok((bytes, instance.heard().to_vec()))
    }
}
