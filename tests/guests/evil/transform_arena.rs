//! A table in memory, a chain of one hostile transform on it, and what came of that.

use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use yearbook_domain::Date;
use yearbook_sandbox::{
    Batches, BoxError, PluginEncoder, RowWindow, Sandbox, TransformChain, TransformFailure,
    TransformInput, TransformStep,
};
use yearbook_shares::CallerShare;
use yearbook_tests::components::{component, sandbox};

use crate::attack_arena::sandbox_limits;
use crate::list::limits;
use crate::list::transforms::{ChainEnd, TransformAttack};

/// A sandbox with the limits of the list, and an encoder that has room beside a chain.
pub(crate) struct TransformArena {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) encoder: Arc<PluginEncoder>,
}

/// A table with a batch for each of some days, and what was asked of it.
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    days: &'static [&'static str],
    /// Rows of each batch.
    rows: usize,
    /// Windows and columns.
    pub(crate) asked: Mutex<Vec<(RowWindow, Vec<usize>)>>,
    /// Columns whose codes were asked for.
    pub(crate) coded: Mutex<Vec<String>>,
}

impl TransformArena {
    pub(crate) fn open() -> Self {
        let sandbox = sandbox(sandbox_limits());
        let encoder = sandbox.load_encoder(&component("csv")).unwrap();
        Self { sandbox, encoder }
    }

    /// Loads the attack's guest and runs it over the table. All instances are free afterwards.
    pub(crate) async fn run(&self, attack: &TransformAttack) -> ChainEnd {
        let transform = match self.sandbox.load_transform(&attack.component()) {
            Ok(transform) => transform,
            Err(rejected) => return ChainEnd::Rejected(rejected.to_string()),
        };
        let step = TransformStep { transform, options: Vec::new() };
        let end = self.end(step).await;
        let free = limits::INSTANCES as usize;
        assert_eq!(self.sandbox.free_instances(), free, "{}", attack.name);
        end.unwrap_or_else(|error| {
            let failure = error.downcast::<TransformFailure>().unwrap();
            let text = failure.error.to_string();
            assert!(text.lines().count() == 1, "{}: {text:?}", attack.name);
            let start = format!("plugin {}", attack.name);
            let why = text.strip_prefix(&start).unwrap_or(&text);
            ChainEnd::Failed(why.trim_start_matches([':', ' ']).to_owned())
        })
    }

    async fn end(&self, step: TransformStep) -> Result<ChainEnd, BoxError> {
        let holder = CallerShare::default();
        let table = Table::new(&["2020-06-01", "2021-06-01"], 100);
        let schema = Arc::clone(&table.schema);
        let chain = TransformChain::plan(&holder, vec![step], schema, table).await?;
        let mut places = self.encoder.admit(&holder, chain.places()).await?;
        let mut rows = chain.start(&holder, &mut places, Date::parse("2020-01-01"), None);
        let (mut count, mut unit) = (0, None);
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            assert_eq!(batch.schema(), *chain.schema());
            let last = chain.schema().fields().last();
            unit = last.and_then(|field| field.metadata().get("yearbook.unit").cloned());
            count += batch.num_rows();
        }
        Ok(ChainEnd::Rows(count, unit))
    }
}

impl Table {
    pub(crate) fn new(days: &'static [&'static str], rows: usize) -> Arc<Self> {
        let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let date = [("yearbook.role", "date"), ("yearbook.type", "date")];
        let schema = Schema::new(vec![
            Field::new("date", text, false).with_metadata(date),
            Field::new("region", DataType::Utf8, true),
            Field::new("value", DataType::Float64, true),
        ]);
        let (asked, coded) = (Mutex::default(), Mutex::default());
        Arc::new(Self { schema: Arc::new(schema), days, rows, asked, coded })
    }

    /// All rows, all columns.
    pub(crate) fn batches(&self) -> Vec<RecordBatch> {
        self.days.iter().map(|day| self.batch(day, &[0, 1, 2]).unwrap()).collect()
    }

    fn batch(&self, day: &str, columns: &[usize]) -> Result<RecordBatch, BoxError> {
        let date: DictionaryArray<Int32Type> = std::iter::repeat_n(day, self.rows).collect();
        let region = (0..self.rows).map(|row| ["south", "north"][row % 2]);
        let values: [ArrayRef; 3] = [
            Arc::new(date),
            Arc::new(StringArray::from_iter_values(region)),
            Arc::new(Float64Array::from(vec![1.5; self.rows])),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), values.to_vec())?;
        Ok(batch.project(columns)?)
    }
}

impl TransformInput for Table {
    fn codes(&self, column: &str) -> BoxFuture<'_, Result<Option<Vec<String>>, BoxError>> {
        self.coded.lock().unwrap().push(column.to_owned());
        let known = (column == "region").then(|| ["north", "south"].map(str::to_owned).to_vec());
        async move { Ok(known) }.boxed()
    }

    fn rows(
        &self,
        window: RowWindow,
        columns: Vec<usize>,
    ) -> BoxFuture<'_, Result<Batches, BoxError>> {
        let (from, to, most) = match window {
            RowWindow::Selected { start, most } => (start.unwrap_or(Date::MIN), Date::MAX, most),
            RowWindow::Dates { from, to } => (from, to, None),
        };
        let most = most.and_then(|rows| usize::try_from(rows).ok());
        let most = most.map_or(usize::MAX, |rows| rows.div_ceil(self.rows));
        let days = self.days.iter().filter(|day| **day >= from.as_str() && **day <= to.as_str());
        let batches: Vec<_> = days.take(most).map(|day| self.batch(day, &columns)).collect();
        self.asked.lock().unwrap().push((window, columns));
        async move { Ok(stream::iter(batches).boxed()) }.boxed()
    }
}
