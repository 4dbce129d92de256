//! A run of a chain: one stream of batches, pulled by whoever takes the rows. Each transform is a
//! stream on the one before it, and holds one slice, one result and what it keeps in its instance.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tracing::Span;
use yearbook_domain::Date;
use yearbook_engine::BoxError;
use yearbook_shares::{CallerShare, SlotPermit};

use super::budget::ChainBytes;
use super::chain::{Link, input_window, priming_window};
use super::crossing::{batch_bytes, slice_rows};
use super::gather::gather;
use super::link_run::LinkRun;
use super::output::Relation;
use super::{RowWindow, TransformFailure, TransformInput};
use crate::encode::Batches;
use crate::guest_error::GuestError;
use crate::observe::ResponseMetrics;

/// A chain that runs. All of its streams share it.
pub(super) struct ChainRun {
    holder: CallerShare,
    input: Arc<dyn TransformInput>,
    /// Columns of the input that are read.
    read: Vec<usize>,
    /// A place for each link: a link that is primed runs those before it, and drops their instances
    /// before they begin.
    places: Vec<Arc<SlotPermit>>,
    bytes: Arc<ChainBytes>,
}

/// A link at work.
struct LinkStream {
    run: Arc<ChainRun>,
    link: Link,
    /// Its instance, which is nowhere else between two jobs.
    at_work: Option<Box<LinkRun>>,
    input: Batches,
    /// The batch at hand, and the number of its rows that have been pushed.
    batch: Option<(RecordBatch, usize)>,
    /// Rows that come out are of this day or later.
    from: Option<Date>,
    /// Rows that leave next.
    rows: Option<RecordBatch>,
    /// Set where the input has no more.
    drained: bool,
    /// Set where `finish` has returned none.
    ended: bool,
    account: Option<ResponseMetrics>,
    /// Span that the guest's log belongs to.
    span: Span,
}

/// Work for an instance.
enum Step {
    Prime(RecordBatch),
    Push(RecordBatch),
    Finish,
    /// None: rows are ready.
    Take,
}

impl ChainRun {
    pub(super) fn new(
        holder: &CallerShare,
        input: &Arc<dyn TransformInput>,
        read: Vec<usize>,
        places: Vec<SlotPermit>,
    ) -> Arc<Self> {
        let places = places.into_iter().map(Arc::new).collect();
        let (holder, input) = (holder.clone(), Arc::clone(input));
        Arc::new(Self { holder, input, read, places, bytes: Arc::default() })
    }

    /// Rows of `window` after all of `links`.
    pub(super) fn rows(self: Arc<Self>, links: Vec<Link>, window: RowWindow) -> Batches {
        self.stream(&links, window, true)
    }

    /// `counted`: the run that a response is made of, not one for priming.
    fn stream(self: &Arc<Self>, links: &[Link], window: RowWindow, counted: bool) -> Batches {
        let run = Arc::clone(self);
        let Some((link, before)) = links.split_last() else {
            let opened = async move {
                let batches = run.input.rows(window, run.read.clone()).await?;
                let bytes = Arc::clone(&run.bytes);
                Ok::<_, BoxError>(batches.inspect_ok(move |batch| {
                    bytes.record_read(batch_bytes(batch));
                }))
            };
            return stream::once(opened).try_flatten().boxed();
        };
        let is_small = link.plan.output.relation != Relation::Same;
        let (link, before) = (link.clone(), before.to_vec());
        let opened = async move {
            let started = LinkStream::open(run, link, &before, window, counted).await?;
            Ok::<_, BoxError>(stream::try_unfold(started, |mut link| async move {
                let batch = link.next().await?;
                Ok(batch.map(|batch| (batch, link)))
            }))
        };
        let rows = stream::once(opened).try_flatten().boxed();
        if is_small { gather(rows) } else { rows }
    }
}

impl LinkStream {
    /// Opens an instance, and primes it.
    async fn open(
        run: Arc<ChainRun>,
        link: Link,
        before: &[Link],
        window: RowWindow,
        counted: bool,
    ) -> Result<Self, BoxError> {
        let head = &link.plan.transform.head;
        let dumps = &head.host.dump_target;
        let account = counted.then(|| ResponseMetrics::begin(&head.metrics, dumps));
        let work = account
            .as_ref()
            .map_or_else(|| head.call_metrics(dumps.clone()), ResponseMetrics::work);
        let of_input = input_window(&link, window);
        let from = match window {
            RowWindow::Selected { start, .. } => start,
            RowWindow::Dates { from, .. } => Some(from),
        };
        let mut opened = Self {
            from: from.filter(|_| link.before.is_some()),
            input: run.stream(before, of_input, counted),
            at_work: None,
            batch: None,
            rows: None,
            drained: false,
            ended: false,
            span: account.as_ref().map_or_else(Span::current, ResponseMetrics::span),
            account,
            run,
            link,
        };
        let (plan, columns) = (Arc::clone(&opened.link.plan), Arc::clone(&opened.link.columns));
        let bytes = Arc::clone(&opened.run.bytes);
        let place = opened.run.places.get(before.len()).cloned();
        let begun = opened.link.plan.transform.run_on_worker(&opened.run.holder, move || {
            let place = place.ok_or_else(|| GuestError::Host("no place".to_owned()))?;
            LinkRun::open(&plan, &columns, place, work, &bytes).map(Box::new)
        });
        let begun = begun.await;
        opened.at_work = Some(begun.map_err(|error| opened.fail(error))?);
        if let Some(priming) = priming_window(&opened.link, of_input) {
            opened.prime(before, priming).await?;
        }
        Ok(opened)
    }

    async fn prime(&mut self, before: &[Link], window: RowWindow) -> Result<(), BoxError> {
        let mut rows = self.run.stream(before, window, false);
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            let batch = self.link.columns.primed_rows(&self.link.plan, batch)?;
            self.prime_batch(&batch).await?;
        }
        Ok(())
    }

    async fn prime_batch(&mut self, batch: &RecordBatch) -> Result<(), BoxError> {
        let mut at = 0;
        while at < batch.num_rows() {
            let count = self.slice_rows(batch, at);
            self.work(Step::Prime(batch.slice(at, count))).await?;
            at += count;
        }
        Ok(())
    }

    /// The next rows that come out.
    async fn next(&mut self) -> Result<Option<RecordBatch>, BoxError> {
        loop {
            if let Some(rows) = self.rows.take() {
                return Ok(Some(rows));
            }
            if self.at_work.as_ref().is_some_and(|run| run.has_rows()) {
                self.work(Step::Take).await?;
            } else if let Some((batch, at)) =
                self.batch.take_if(|(batch, at)| *at < batch.num_rows())
            {
                let count = self.slice_rows(&batch, at);
                let slice = batch.slice(at, count);
                self.batch = Some((batch, at + count));
                self.work(Step::Push(slice)).await?;
            } else if !self.drained {
                self.batch = self.input.next().await.transpose()?.map(|batch| (batch, 0));
                self.drained = self.batch.is_none();
            } else if !self.ended {
                self.work(Step::Finish).await?;
            } else {
                if let Some(account) = self.account.take() {
                    account.complete();
                }
                return Ok(None);
            }
        }
    }

    /// Number of rows of `batch` from `at` on that cross together.
    fn slice_rows(&self, batch: &RecordBatch, at: usize) -> usize {
        let columns = self.link.columns.crossing(&self.link.plan.needs);
        slice_rows(batch, &columns, at)
    }

    /// Makes one call on a worker, and takes the first rows that are ready after it.
    async fn work(&mut self, step: Step) -> Result<(), BoxError> {
        let Some(mut link) = self.at_work.take() else {
            return Err("the instance of a transform was lost".into());
        };
        let (from, span) = (self.from, self.span.clone());
        let job = move || {
            let _entered = span.entered();
            let mut ended = false;
            match &step {
                Step::Prime(batch) => link.prime(batch)?,
                Step::Push(batch) => link.push(batch, from)?,
                Step::Finish => ended = !link.finish()?,
                Step::Take => {}
            }
            let rows = link.next()?;
            Ok((link, rows, ended))
        };
        match self.link.plan.transform.run_on_worker(&self.run.holder, job).await {
            Ok((link, rows, ended)) => {
                (self.at_work, self.rows) = (Some(link), rows);
                self.ended |= ended;
                Ok(())
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Ends the response with an error.
    fn fail(&mut self, error: GuestError) -> BoxError {
        if let Some(account) = self.account.take() {
            account.finish_failed(&error);
        }
        let transform = Arc::clone(&self.link.plan.transform);
        Box::new(TransformFailure { transform, error })
    }
}
