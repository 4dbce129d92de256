//! Selections, and the rows that a reply names with one.

use super::{Condition, DatasetQuery, Operator, Pick, Rows, Selection, ValueQuery, Version};

impl Selection {
    /// All rows and columns of a dataset, without geometry, at most as many rows as on `/v1`
    /// without `limit`. Its fields are public: set what differs.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Selection;
    ///
    /// let mut selection = Selection { limit: Some(10), ..Selection::new("harvest_long") };
    /// selection.equal("region", "north").sort("date", true);
    /// assert_eq!(selection.conditions[0].values, ["north"]);
    /// ```
    #[must_use]
    pub fn new(dataset: impl Into<String>) -> Self {
        Self {
            dataset: dataset.into(),
            version: Version::Current,
            start: None,
            end: None,
            search: None,
            conditions: Vec::new(),
            bbox: None,
            row: None,
            columns: None,
            geometry: false,
            row_numbers: false,
            sort: Vec::new(),
            pick: Pick::All,
            apply: Vec::new(),
            limit: None,
            skip: 0,
            cursor: None,
        }
    }

    /// Adds a condition. [`Operator::Equal`] with several values means any of them.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Operator, Selection};
    ///
    /// let mut selection = Selection::new("harvest_long");
    /// selection.condition("region", Operator::Equal, ["north", "south"]);
    /// assert_eq!(selection.conditions[0].values.len(), 2);
    /// ```
    pub fn condition<V: Into<String>>(
        &mut self,
        column: impl Into<String>,
        operator: Operator,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Self {
        let values = values.into_iter().map(Into::into).collect();
        self.conditions.push(Condition { column: column.into(), operator, values });
        self
    }

    /// Adds the condition that a column has this value.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Operator, Selection};
    ///
    /// let mut selection = Selection::new("harvest_long");
    /// selection.equal("region", "north");
    /// assert_eq!(selection.conditions[0].operator, Operator::Equal);
    /// ```
    pub fn equal(&mut self, column: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.condition(column, Operator::Equal, [value])
    }

    /// Sorts by a column, after those that were named before.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Selection;
    ///
    /// let mut selection = Selection::new("harvest_long");
    /// selection.sort("date", true);
    /// assert_eq!(selection.sort, [("date".to_owned(), true)]);
    /// ```
    pub fn sort(&mut self, column: impl Into<String>, descending: bool) -> &mut Self {
        self.sort.push((column.into(), descending));
        self
    }

    /// Applies a transform, after those that were named before.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Selection;
    ///
    /// let mut selection = Selection::new("harvest_long");
    /// selection.apply("growth", &[("unit", "year")]);
    /// assert_eq!(selection.apply[0].transform, "growth");
    /// ```
    pub fn apply(&mut self, transform: impl Into<String>, options: &[(&str, &str)]) -> &mut Self {
        let pair = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        let options = options.iter().map(pair).collect();
        self.apply.push(super::Applied { transform: transform.into(), options });
        self
    }
}

impl Rows {
    /// The rows of a selection in a format that the host has.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Reply, Rows, Selection};
    ///
    /// let rows = Rows::new(Selection::new("harvest_long"), "json").option("layout", "array");
    /// assert!(matches!(Reply::from(rows), Reply::Rows(_)));
    /// ```
    #[must_use]
    pub fn new(selection: Selection, format: impl Into<String>) -> Self {
        Self { format: Some(format.into()), ..Self::own_format(selection) }
    }

    /// The rows of a selection in the format that this component brings itself, with
    /// [`crate::export_encoder!`].
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Rows, Selection};
    ///
    /// assert_eq!(Rows::own_format(Selection::new("harvest_long")).format, None);
    /// ```
    #[must_use]
    pub fn own_format(selection: Selection) -> Self {
        let (format, media_type, file_name) = (None, None, None);
        Self { selection, format, options: Vec::new(), media_type, file_name }
    }

    /// The same with an option of the format.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Rows, Selection};
    ///
    /// let rows = Rows::new(Selection::new("harvest_long"), "csv").option("delimiter", ";");
    /// assert_eq!(rows.options.len(), 1);
    /// ```
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }
}

impl DatasetQuery {
    /// The first datasets by name, at most `limit` (1 to 1,000), with their columns.
    ///
    /// ```
    /// use yearbook_sdk::adapter::DatasetQuery;
    ///
    /// let query = DatasetQuery { spatial: Some(true), ..DatasetQuery::page(100) };
    /// assert!(query.columns);
    /// ```
    #[must_use]
    pub fn page(limit: u32) -> Self {
        Self {
            search: None,
            namespace: None,
            spatial: None,
            bbox: None,
            columns: true,
            language: None,
            after: None,
            limit,
        }
    }
}

impl ValueQuery {
    /// Up to 10,000 values of each of these columns.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Selection, ValueQuery};
    ///
    /// let query = ValueQuery::new(Selection::new("harvest_long"), ["region"]);
    /// assert_eq!(query.limit, 10_000);
    /// ```
    #[must_use]
    pub fn new<C: Into<String>>(
        selection: Selection,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { selection, columns, language: None, after: None, limit: 10_000 }
    }
}
