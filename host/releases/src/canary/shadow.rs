//! The one thread of a host on which releases that wait encode: of lowest priority, one response at
//! a time, and what comes while it is busy is dropped. So whatever such a release does, no client
//! waits for it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures::StreamExt;
use yearbook_sandbox::Batches;

use super::{CanarySample, CanarySamples, compare};

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
        futures::stream::unfold(
            (batches, Some((sample, self))),
            |(mut batches, mut taking)| async {
                let next = batches.next().await;
                match &next {
                    Some(Ok(batch)) => {
                        if let Some((sample, _)) = &mut taking
                            && sample.take(batch)
                        {
                            submit(&mut taking);
                        }
                    }
                    Some(Err(_)) => taking = None,
                    None => submit(&mut taking),
                }
                Some((next?, (batches, taking)))
            },
        )
        .boxed()
    }

    /// Has `sample` compared, unless the thread or the sandbox is busy.
    fn offer(&self, sample: CanarySample) {
        if sample.waiting.has_room() {
            // Dropped where nobody takes it.
            let _ = self.samples.try_send(sample);
        }
    }
}

fn submit(taking: &mut Option<(CanarySample, Arc<ShadowWorker>)>) {
    if let Some((sample, shadow)) = taking.take() {
        shadow.offer(sample);
    }
}

fn run_shadow(samples: &Receiver<CanarySample>, seen: &CanarySamples) {
    // On Linux priorities are a thread's own. Where it is refused, one thread is still the bound.
    let _ = rustix::process::setpriority_process(None, NICE);
    let mut measured: HashSet<String> = HashSet::new();
    for (turn, sample) in samples.iter().enumerate() {
        if measured.len() >= MAX_PAIRS {
            measured.clear();
        }
        // The first response of a release pays for pages of its code that were never touched.
        let warm =
            !measured.insert(format!("{} {}", sample.waiting.digest(), sample.incumbent.digest()));
        if let Some(found) = compare::run(&sample, turn, warm) {
            seen.add(found);
        }
    }
}
