//! Values of columns that an adapter asks for (contract-17-facts): those of `/values`.

use http::request::Parts;
use yearbook_domain::read_plan::ColumnValue;
use yearbook_domain::values::{ColumnValues, ValueRows};
use yearbook_http::Error;
use yearbook_sandbox::catalogue;
use yearbook_shares::CallerShare;

use crate::ApiState;
use crate::request::ValuesRequest;
use crate::routes::values::ValuesAnswer;

/// Values that an adapter asks for. Nothing was read or charged for them.
pub struct SelectedValues(ValuesAnswer);

impl ApiState {
    /// Plans the count of the values of `query`.
    ///
    /// # Errors
    /// The refusals of `/values`, in their order.
    pub async fn select_values(
        &self,
        parts: &Parts,
        query: &catalogue::ValueQuery,
    ) -> Result<SelectedValues, Error> {
        let request = ValuesRequest::of_query(parts, query)?;
        let dataset = self.core.dataset(&request.name)?;
        let target = request.resolve(self, &dataset).await?;
        Ok(SelectedValues(ValuesAnswer::new(&request, target)))
    }
}

impl SelectedValues {
    /// Returns the values where publishing stored them, which is free; `None` where rows have to be
    /// counted.
    ///
    /// # Errors
    /// 503 where the store is away; 422 for texts that are too long for a page.
    pub async fn stored(
        &self,
        app: &ApiState,
    ) -> Result<Option<Vec<catalogue::ColumnValues>>, Error> {
        let stored = self.0.stored_columns(app).await?;
        let Some(columns) = stored else { return Ok(None) };
        self.describe(app, columns).await.map(Some)
    }

    /// Counts the values on the account of `holder`.
    ///
    /// # Errors
    /// Those of reading; 422 for texts that are too long for a page.
    pub async fn count(
        &self,
        app: &ApiState,
        holder: &CallerShare,
    ) -> Result<Vec<catalogue::ColumnValues>, Error> {
        let (_, columns) = Box::pin(self.0.count(app, holder)).await?;
        self.describe(app, columns).await
    }

    async fn describe(
        &self,
        app: &ApiState,
        mut columns: Vec<ColumnValues>,
    ) -> Result<Vec<catalogue::ColumnValues>, Error> {
        self.0.end_pages(&mut columns)?;
        let labels = self.0.labels(app).await?;
        let names = &self.0.snapshot().columns;
        let described = columns.iter().map(|counted| {
            let column = names.get(counted.column);
            let observed = |(value, rows): &(ColumnValue, ValueRows)| {
                let label = column.and_then(|of| labels.label(of, counted.column, value));
                observed(value, rows, label)
            };
            let last = counted.values.last().filter(|_| counted.has_more);
            catalogue::ColumnValues {
                column: column.map(|column| column.name.clone()).unwrap_or_default(),
                distinct: counted.distinct,
                nulls: counted.nulls,
                values: counted.values.iter().map(observed).collect(),
                next: last.map(|(value, _)| value.to_string()),
            }
        });
        Ok(described.collect())
    }
}

fn observed(value: &ColumnValue, rows: &ValueRows, label: Option<&str>) -> catalogue::Observed {
    catalogue::Observed {
        code: catalogue::Code { value: value.to_string(), label: label.map(str::to_owned) },
        rows: rows.rows,
        first: rows.first.map(|date| date.to_string()),
        last: rows.last.map(|date| date.to_string()),
    }
}
