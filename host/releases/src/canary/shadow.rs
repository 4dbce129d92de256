//! The one thread of a host on which releases that wait work: of lowest priority, one response at
//! a time, and what comes while it is busy is dropped. So whatever such a release does, no client
//! waits for it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures::StreamExt;
use yearbook_sandbox::Batches;

use super::{CanaryPair, CanarySample, CanarySamples, compare};

/// The nicest that a thread can be to others.
const NICE: i32 = 19;

/// Pairs whose first sample is remembered to have been; more are begun anew.
const MAX_PAIRS: usize = 256;

/// Queue of samples.
pub(crate) struct ShadowWorker {
    samples: SyncSender<CanarySample>,
}

impl ShadowWorker {
    /// Starts the thread with so much stack, which ends with this value. What it finds goes to
    /// `seen`.
    ///
    /// # Errors
    /// Fails when the operating system refuses a thread.
    pub(crate) fn start(
        seen: Arc<CanarySamples>,
        stack_bytes: usize,
    ) -> std::io::Result<Arc<Self>> {
        // No room to wait: a sample is taken by a thread that waits for it, or by nobody.
        let (samples, receiver) = sync_channel(0);
        yearbook_workers::spawn("canary", stack_bytes, move || run_shadow(&receiver, &seen))?;
        Ok(Arc::new(Self { samples }))
    }

    /// The same `batches`, of which the first are kept and compared as soon as there are enough, or
    /// no more come. A response that fails, or whose client goes away before that, is not compared.
    pub(crate) fn tee(self: Arc<Self>, sample: CanarySample, batches: Batches) -> Batches {
        let taking = Taking { sample: Some(sample), shadow: self };
        futures::stream::unfold((batches, taking), |(mut batches, mut taking)| async {
            let next = batches.next().await;
            match &next {
                Some(Ok(batch)) => {
                    if taking.sample.as_mut().is_some_and(|sample| sample.take(batch)) {
                        taking.submit();
                    }
                }
                Some(Err(_)) => taking.sample = None,
                None => taking.submit(),
            }
            Some((next?, (batches, taking)))
        })
        .boxed()
    }

    /// Has `sample` compared, unless the thread or the sandbox is busy.
    pub(crate) fn offer(&self, sample: CanarySample) {
        if sample.has_room() {
            // Dropped where nobody takes it.
            let _ = self.samples.try_send(sample);
        }
    }
}

/// A sample that is being taken.
struct Taking {
    /// `None` once it was submitted, or must not be.
    sample: Option<CanarySample>,
    shadow: Arc<ShadowWorker>,
}

impl Taking {
    fn submit(&mut self) {
        if let Some(sample) = self.sample.take() {
            self.shadow.offer(sample);
        }
    }
}

impl Drop for Taking {
    /// A page of transformed rows ends without a look at what remains.
    fn drop(&mut self) {
        if matches!(&self.sample, Some(CanarySample::Transformed(_, rows)) if !rows.batches.is_empty())
        {
            self.submit();
        }
    }
}

fn run_shadow(samples: &Receiver<CanarySample>, seen: &CanarySamples) {
    // On Linux priorities are a thread's own. Where it is refused, one thread is still the bound.
    let _ = rustix::process::setpriority_process(None, NICE);
    let mut measured: HashSet<CanaryPair> = HashSet::new();
    for (turn, sample) in samples.iter().enumerate() {
        if measured.len() >= MAX_PAIRS {
            measured.clear();
        }
        // The first response of a release pays for pages of its code that were never touched.
        let warm = !measured.insert(sample.key());
        if let Some(found) = compare::run(&sample, turn, warm) {
            seen.add(found);
        }
    }
}
