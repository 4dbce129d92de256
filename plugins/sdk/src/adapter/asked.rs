//! Questions with the types of their answers.

use std::marker::PhantomData;

use super::{
    Cited, ColumnValues, Dataset, DatasetQuery, Format, Question, Refusal, Selection, Table, Told,
    ValueQuery,
};

/// A page of datasets.
///
/// ```
/// use yearbook_sdk::adapter::DatasetPage;
///
/// assert_eq!(DatasetPage { datasets: Vec::new(), total: 0, next: None }.total, 0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetPage {
    /// Datasets of this page.
    pub datasets: Vec<Dataset>,
    /// Number of all.
    pub total: u64,
    /// Place to go on from; `None` where no dataset remains.
    pub next: Option<String>,
}

/// Numbers of a selection.
///
/// ```
/// use yearbook_sdk::adapter::Counted;
///
/// assert_eq!(Counted { rows: 2, series: None }.rows, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Rows.
    pub rows: u64,
    /// Series, where the dataset has them.
    pub series: Option<u64>,
}

/// A question, with the type of its answer.
///
/// ```
/// use yearbook_sdk::adapter::Asked;
///
/// let first = Asked::dataset("harvest_long");
/// let second = Asked::dataset("prices_wide").or_refusal();
/// # let _ = (first, second);
/// ```
#[derive(Debug, Clone)]
pub struct Asked<T> {
    pub(super) question: Question,
    told: PhantomData<T>,
}

impl<T: Told> Asked<T> {
    fn new(question: Question) -> Self {
        Self { question, told: PhantomData }
    }

    /// The same with a refusal as an answer, which the adapter then handles itself.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Fact, Host, Refusal};
    ///
    /// let refusal = Refusal::new(404, "there is no dataset `x`");
    /// let mut host = Host::new(vec![Fact::Refused(refusal)]);
    /// let told = host.ask(Asked::dataset("x").or_refusal())?;
    /// assert!(matches!(told, Err(refusal) if refusal.status == 404));
    /// # Ok::<(), yearbook_sdk::adapter::Stop>(())
    /// ```
    #[must_use]
    pub fn or_refusal(self) -> Asked<Result<T, Refusal>> {
        Asked { question: self.question, told: PhantomData }
    }
}

impl Asked<Dataset> {
    /// Asks for the dataset of a name; see [`Host::dataset`](super::Host::dataset).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::dataset("harvest_long"));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn dataset(name: &str) -> Self {
        Self::new(Question::Dataset((name.to_owned(), None)))
    }

    /// Asks for the dataset of a name, its text in this language where the publisher wrote it.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::dataset_in("harvest_long", "mi"));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn dataset_in(name: &str, language: &str) -> Self {
        Self::new(Question::Dataset((name.to_owned(), Some(language.to_owned()))))
    }
}

impl Asked<DatasetPage> {
    /// Asks for a page of datasets; see [`Host::datasets`](super::Host::datasets).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, DatasetQuery, Host, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::datasets(DatasetQuery::page(10)));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn datasets(query: DatasetQuery) -> Self {
        Self::new(Question::Datasets(query))
    }
}

impl Asked<Vec<Format>> {
    /// Asks for the loaded formats; see [`Host::formats`](super::Host::formats).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::formats());
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn formats() -> Self {
        Self::new(Question::Formats)
    }
}

impl Asked<Cited> {
    /// Asks for a citation; see [`Host::citation`](super::Host::citation).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Selection, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::citation(Selection::new("harvest_long")));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn citation(selection: Selection) -> Self {
        Self::new(Question::Citation(selection))
    }
}

impl Asked<Vec<ColumnValues>> {
    /// Asks for values of columns; see [`Host::values`](super::Host::values).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Selection, Stop, ValueQuery};
    ///
    /// let query = ValueQuery::new(Selection::new("harvest_long"), ["region"]);
    /// let asked = Host::new(Vec::new()).ask(Asked::values(query));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn values(query: ValueQuery) -> Self {
        Self::new(Question::Values(query))
    }
}

impl Asked<Counted> {
    /// Asks for a number of rows; see [`Host::count`](super::Host::count).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Selection, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::count(Selection::new("harvest_long")));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn count(selection: Selection) -> Self {
        Self::new(Question::Count(selection))
    }
}

impl Asked<Table> {
    /// Asks for rows as values; see [`Host::rows`](super::Host::rows).
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Selection, Stop};
    ///
    /// let asked = Host::new(Vec::new()).ask(Asked::rows(Selection::new("harvest_long")));
    /// assert!(matches!(asked, Err(Stop::Ask(_))));
    /// ```
    #[must_use]
    pub fn rows(selection: Selection) -> Self {
        Self::new(Question::Rows(selection))
    }
}
