//! A chain of transforms: planned from the schema of its input, then run as one stream of batches.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use yearbook_domain::{CalendarSpan, Date};
use yearbook_engine::BoxError;
use yearbook_shares::CallerShare;

use super::codes::CodeTable;
use super::instance::TransformInstance;
use super::link::{LinkColumns, LinkPlan, project_schema};
use super::needs::{Form, Needs, Priming};
use super::output::{Relation, Source};
use super::run::ChainRun;
use super::{RowWindow, TransformFailure, TransformInput, TransformStep};
use crate::admission::InstancePlaces;
use crate::encode::{Batches, CODES, is_measured};
use crate::guest_error::GuestError;

/// A chain whose output is known, and of which no row has been read.
#[derive(Clone)]
pub struct TransformChain {
    links: Vec<Link>,
    input: Arc<dyn TransformInput>,
    /// Columns of the input that are read.
    read: Vec<usize>,
    schema: SchemaRef,
    /// Column of the table whose values those of each column are, by its name.
    origins: Vec<Option<String>>,
    order: Vec<String>,
}

/// A transform of a chain.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) plan: Arc<LinkPlan>,
    pub(super) columns: Arc<LinkColumns>,
    /// Rows that it sees before its first; none behind a transform that makes rows of its own.
    pub(super) before: Option<CalendarSpan>,
    /// Set where its input's rows are those of the table, or some of them.
    pub(super) of_table: bool,
}

impl TransformChain {
    /// Plans `steps` on rows of `schema`, which has the metadata that transforms are given, one
    /// after the other in instances of the share of `holder`. No row is read.
    ///
    /// # Errors
    /// [`TransformFailure`] of the first transform that declines or fails.
    pub async fn plan(
        holder: &CallerShare,
        steps: Vec<TransformStep>,
        schema: SchemaRef,
        input: Arc<dyn TransformInput>,
    ) -> Result<Self, TransformFailure> {
        let mut planner = Planner {
            holder: holder.clone(),
            origins: schema.fields().iter().map(|field| Some(field.name().clone())).collect(),
            input,
            schema: Arc::clone(&schema),
            plans: Vec::new(),
        };
        for step in steps {
            let transform = Arc::clone(&step.transform);
            let planned = planner.add(step).await;
            planned.map_err(|error| TransformFailure { transform, error })?;
        }
        let Planner { input, schema: output, plans, origins, .. } = planner;
        let mut of_table = true;
        let links = plans.into_iter().map(|plan| {
            let columns = LinkColumns::new(&plan, (0..plan.output.sources.len()).collect());
            let (columns, before) = (Arc::new(columns), plan.needs.before.filter(|_| of_table));
            let link = Link { before, of_table, columns, plan: Arc::new(plan) };
            of_table &= link.plan.output.relation != Relation::New;
            link
        });
        let links: Vec<Link> = links.collect();
        let order = order(&links);
        let read = (0..schema.fields().len()).collect();
        let mut chain = Self { links, input, read, schema: output, origins, order };
        let all: Vec<usize> = (0..chain.schema.fields().len()).collect();
        chain.project(&all);
        Ok(chain)
    }

    /// The same chain, which reads `input`: rows of which the same is known as of those that it was
    /// planned for.
    #[must_use]
    pub fn for_input(self, input: Arc<dyn TransformInput>) -> Self {
        Self { input, ..self }
    }

    /// Columns of the rows that go in, with their metadata; `None` without a transform.
    #[must_use]
    pub fn input_schema(&self) -> Option<&SchemaRef> {
        self.links.first().map(|first| &first.plan.schema)
    }

    /// Columns of the rows that come out, with their metadata.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns whether a row comes out for each row that goes in, in the same order.
    #[must_use]
    pub fn is_row_for_row(&self) -> bool {
        self.links.iter().all(|link| link.plan.output.relation == Relation::Same)
    }

    /// Names of columns by which the rows that come out ascend, null last; empty where they have
    /// the order of the input.
    #[must_use]
    pub fn order(&self) -> &[String] {
        &self.order
    }

    /// Leaves out all columns but these, which are positions in [`TransformChain::schema`],
    /// ascending, and reads no more of the input than they need.
    pub fn restrict(&mut self, columns: &[usize]) {
        // As many are the same ones.
        if columns.len() < self.schema.fields().len() {
            self.project(columns);
        }
    }

    fn project(&mut self, columns: &[usize]) {
        let schema = project_schema(&self.schema, columns);
        // Positions in the last link's whole output.
        let mut wanted: Vec<usize> = match self.links.last() {
            Some(last) => columns.iter().map(|column| last.columns.kept[*column]).collect(),
            None => columns.iter().map(|column| self.read[*column]).collect(),
        };
        for link in self.links.iter_mut().rev() {
            link.columns = Arc::new(LinkColumns::new(&link.plan, wanted));
            wanted = link.columns.read.clone();
        }
        let kept = |column: &usize| self.origins[*column].clone();
        self.origins = columns.iter().map(kept).collect();
        (self.read, self.schema) = (wanted, schema);
    }

    /// Columns of the table whose values those of each column that comes out are, by their names;
    /// `None` of one that a transform makes.
    #[must_use]
    pub fn origins(&self) -> &[Option<String>] {
        &self.origins
    }

    /// Distinct values of the columns of the rows that come out, ascending, where the table has
    /// them stored; `None` for columns that are measured.
    ///
    /// # Errors
    /// The input's own.
    pub async fn codes(&self) -> Result<Vec<Option<Vec<String>>>, BoxError> {
        let mut codes = Vec::with_capacity(self.origins.len());
        for (field, origin) in self.schema.fields().iter().zip(&self.origins) {
            codes.push(match origin {
                Some(origin) if !is_measured(field) => self.input.codes(origin).await?,
                _ => None,
            });
        }
        Ok(codes)
    }

    /// Places among the sandbox's instances that a run needs.
    #[must_use]
    pub fn places(&self) -> usize {
        self.links.len()
    }

    /// Windows of the input that a run reads, for a selection that begins at `start`: each as often
    /// as it is read.
    #[must_use]
    pub fn windows(&self, start: Option<Date>) -> Vec<RowWindow> {
        let mut windows = Vec::new();
        let window = RowWindow::Selected { start, most: None };
        windows_of(&self.links, window, &mut windows);
        windows
    }

    /// Runs the chain for rows from `start` on, the selection's own first day, in instances of the
    /// share of `holder`. Takes [`TransformChain::places`] of `places`. What fails is a
    /// [`TransformFailure`], or the input's own error. `most`: rows after which nobody takes more,
    /// so that no more of the input is read where each row gives one.
    #[must_use]
    pub fn start(
        &self,
        holder: &CallerShare,
        places: &mut InstancePlaces,
        start: Option<Date>,
        most: Option<u64>,
    ) -> Batches {
        let is_earlier = start.is_some() && self.links.iter().any(|link| link.before.is_some());
        let most = most.filter(|_| self.is_row_for_row() && !is_earlier);
        let permits = places.split_off(self.links.len());
        let run = ChainRun::new(holder, &self.input, self.read.clone(), permits);
        run.rows(self.links.clone(), RowWindow::Selected { start, most })
    }
}

/// The window of a link's input, for one of its output.
pub(super) fn input_window(link: &Link, window: RowWindow) -> RowWindow {
    let earlier = |day: Date| link.before.map_or(day, |before| before.before(day));
    match window {
        RowWindow::Selected { start, most } => {
            RowWindow::Selected { start: start.map(earlier), most }
        }
        RowWindow::Dates { from, to } => RowWindow::Dates { from: earlier(from), to },
    }
}

/// The window of the rows that a link is primed with, where its rows are those of `window`.
pub(super) fn priming_window(link: &Link, window: RowWindow) -> Option<RowWindow> {
    match link.plan.needs.prime {
        Priming::None => None,
        Priming::All => Some(match window {
            RowWindow::Selected { start, .. } => RowWindow::Selected { start, most: None },
            RowWindow::Dates { .. } => window,
        }),
        Priming::Dates(from, to) if link.of_table => Some(RowWindow::Dates { from, to }),
        // The rows of these dates are made of rows of any.
        Priming::Dates(..) => Some(RowWindow::Dates { from: Date::MIN, to: Date::MAX }),
    }
}

fn windows_of(links: &[Link], window: RowWindow, windows: &mut Vec<RowWindow>) {
    let Some((last, before)) = links.split_last() else { return windows.push(window) };
    let window = input_window(last, window);
    if let Some(priming) = priming_window(last, window) {
        windows_of(before, priming, windows);
    }
    windows_of(before, window, windows);
}

/// Names of the columns by which the rows of a chain ascend: those of the last transform that makes
/// rows of its own, as far as they are passed on.
fn order(links: &[Link]) -> Vec<String> {
    let Some(maker) = links.iter().rposition(|link| link.plan.output.relation == Relation::New)
    else {
        return Vec::new();
    };
    let mut columns = links[maker].plan.output.order.clone();
    for link in &links[maker + 1..] {
        let sources = &link.plan.output.sources;
        let passed = |column: usize| sources.iter().position(|s| *s == Source::Passed(column));
        columns = columns.into_iter().map_while(passed).collect();
    }
    let fields = links.last().map(|link| link.plan.output.schema.fields());
    let name = |column: usize| fields.map(|fields| fields[column].name().clone());
    columns.into_iter().filter_map(name).collect()
}

/// A chain on its way.
struct Planner {
    holder: CallerShare,
    input: Arc<dyn TransformInput>,
    /// Columns of the next transform's input.
    schema: SchemaRef,
    /// Column of the table whose values those of each of them are, by its name.
    origins: Vec<Option<String>>,
    plans: Vec<LinkPlan>,
}

impl Planner {
    /// Asks a transform what it needs and what it makes, in one instance.
    async fn add(&mut self, step: TransformStep) -> Result<(), GuestError> {
        let TransformStep { transform, options } = step;
        let options: Arc<[_]> = transform.description.parameters.complete(&options).into();
        let schema = Arc::clone(&self.schema);
        transform.check_turns()?;
        let mut places = transform.admit_places(&self.holder, 1).await?;
        let work = transform.call_metrics(transform.host.dump_target.clone());
        let (instance, needs) = {
            let (own, options, schema) =
                (Arc::clone(&transform), Arc::clone(&options), Arc::clone(&schema));
            let plan = move || {
                let place = Arc::new(places.take()?);
                let mut instance = TransformInstance::new(&own, place, work, &schema, &options)?;
                let needs = instance.plan(&schema, &options)?;
                Ok((instance, needs))
            };
            transform.run_on_worker(&self.holder, plan).await?
        };
        let codes = self.codes_of(&needs).await?;
        let (needs, codes, output, said) = {
            let (mut instance, options, schema) =
                (instance, Arc::clone(&options), Arc::clone(&schema));
            let open = move || {
                let said = instance.open(&schema, &options, &codes)?;
                let output = instance.check_output(said.clone(), &schema, &needs)?;
                Ok((needs, codes, output, said))
            };
            transform.run_on_worker(&self.holder, open).await?
        };
        let mut values_of = Vec::with_capacity(output.values_of.len());
        for origin in &output.values_of {
            let column = (*origin).and_then(|column| self.origins[column].clone());
            values_of.push(match column {
                Some(column) => self.codes(&column).await?,
                None => None,
            });
        }
        let origin = |(source, values_of): (&Source, &Option<usize>)| {
            let column = match source {
                Source::Passed(column) => Some(*column),
                Source::Group(place) => needs.groups.as_ref().map(|groups| groups[*place]),
                Source::Made(..) => *values_of,
            };
            self.origins[column?].clone()
        };
        self.origins = output.sources.iter().zip(&output.values_of).map(origin).collect();
        self.schema = Arc::clone(&output.schema);
        let options = options.to_vec();
        let plan = LinkPlan { transform, options, schema, needs, codes, values_of, output, said };
        self.plans.push(plan);
        Ok(())
    }

    /// Codes of the columns that cross so.
    async fn codes_of(&self, needs: &Needs) -> Result<Vec<Option<Arc<CodeTable>>>, GuestError> {
        let mut codes = vec![None; self.schema.fields().len()];
        for (column, form) in &needs.columns {
            if *form != Form::Coded {
                continue;
            }
            let known = match &self.origins[*column] {
                Some(origin) => self.codes(origin).await?,
                None => None,
            };
            let name = self.schema.field(*column).name();
            codes[*column] = Some(known.ok_or_else(|| {
                GuestError::Declined(format!(
                    "the values of the column {name} are not known before its rows are read, or are more than {CODES}"
                ))
            })?);
        }
        Ok(codes)
    }

    /// Codes of a column of the table.
    async fn codes(&self, column: &str) -> Result<Option<Arc<CodeTable>>, GuestError> {
        let values = self.input.codes(column).await.map_err(GuestError::Input)?;
        Ok(values.and_then(CodeTable::new))
    }
}
