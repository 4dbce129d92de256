//! Questions to the host. The first call asks; the next one has the answers and goes on.

use super::told::ORDER;
use super::{
    Asked, Cited, ColumnValues, Counted, Dataset, DatasetPage, DatasetQuery, Document, Fact,
    Format, Question, Refusal, Round, Selection, Table, ValueQuery,
};

/// Result of a step, or why the call ends here: `?` passes both on.
///
/// ```
/// use yearbook_sdk::adapter::{Dataset, Host, Step};
///
/// fn title(host: &mut Host) -> Step<Option<String>> {
///     let dataset: Dataset = host.dataset("harvest_long")?;
///     Ok(dataset.title)
/// }
/// ```
pub type Step<T> = Result<T, Stop>;

/// Reason for which a call ends before its end.
///
/// ```
/// use yearbook_sdk::adapter::{Host, Stop};
///
/// let mut host = Host::new(Vec::new());
/// assert!(matches!(host.formats(), Err(Stop::Ask(questions)) if questions.len() == 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// These questions come first.
    Ask(Vec<Question>),
    /// This document is the answer.
    Document(Box<Document>),
    /// A refusal, of the host or of the adapter: [`super::Adapter::refuse`] writes it.
    Refused(Refusal),
}

impl From<Document> for Stop {
    fn from(document: Document) -> Self {
        Self::Document(Box::new(document))
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The host, as far as a call knows it: the answers to the questions of earlier calls of the same
/// request. A question without one ends the call, and the next call has it. So an adapter asks the
/// same questions in the same order in every call.
///
/// ```
/// use yearbook_sdk::adapter::{Fact, Format, Host};
///
/// let csv = Format { name: "csv".into(), media_type: "text/csv".into(), extension: "csv".into() };
/// let mut host = Host::new(vec![Fact::Formats(vec![csv])]);
/// assert_eq!(host.formats()?[0].name, "csv");
/// # Ok::<(), yearbook_sdk::adapter::Stop>(())
/// ```
#[derive(Debug)]
pub struct Host {
    facts: std::vec::IntoIter<Fact>,
}

impl Host {
    /// A host that has told these facts.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Host;
    ///
    /// assert!(Host::new(Vec::new()).dataset("harvest_long").is_err());
    /// ```
    #[must_use]
    pub fn new(facts: Vec<Fact>) -> Self {
        Self { facts: facts.into_iter() }
    }

    /// Answers to all questions of a round: one [`Asked`], a tuple or a vector of them. A refusal
    /// of one ends the call, unless it was [`Asked::or_refusal`].
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Asked, Host, Selection, Stop};
    ///
    /// let mut host = Host::new(Vec::new());
    /// let selection = Selection::new("harvest_long");
    /// let round = (Asked::dataset("harvest_long"), Asked::count(selection));
    /// assert!(matches!(host.ask(round), Err(Stop::Ask(questions)) if questions.len() == 2));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    ///
    /// # Panics
    /// Panics where the questions are not those of the calls before.
    pub fn ask<R: Round>(&mut self, round: R) -> Step<R::Told> {
        let mut questions = Vec::new();
        round.questions(&mut questions);
        if self.facts.as_slice().is_empty() {
            if questions.is_empty() {
                return round.told(&mut self.facts).map_err(Stop::Refused);
            }
            return Err(Stop::Ask(questions));
        }
        assert!(self.facts.len() >= questions.len(), "{ORDER}");
        round.told(&mut self.facts).map_err(Stop::Refused)
    }

    /// The dataset of this name, with its columns.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Host, Stop};
    ///
    /// assert!(matches!(Host::new(Vec::new()).dataset("harvest_long"), Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn dataset(&mut self, name: &str) -> Step<Dataset> {
        self.ask(Asked::dataset(name))
    }

    /// A page of datasets.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{DatasetQuery, Host, Stop};
    ///
    /// let page = Host::new(Vec::new()).datasets(DatasetQuery::page(10));
    /// assert!(matches!(page, Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn datasets(&mut self, query: DatasetQuery) -> Step<DatasetPage> {
        self.ask(Asked::datasets(query))
    }

    /// The loaded formats.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Host, Stop};
    ///
    /// assert!(matches!(Host::new(Vec::new()).formats(), Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn formats(&mut self) -> Step<Vec<Format>> {
        self.ask(Asked::formats())
    }

    /// The citation of a selection.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Host, Selection, Stop};
    ///
    /// let cited = Host::new(Vec::new()).citation(Selection::new("harvest_long"));
    /// assert!(matches!(cited, Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn citation(&mut self, selection: Selection) -> Step<Cited> {
        self.ask(Asked::citation(selection))
    }

    /// Values of columns.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Host, Selection, Stop, ValueQuery};
    ///
    /// let query = ValueQuery::new(Selection::new("harvest_long"), ["region"]);
    /// assert!(matches!(Host::new(Vec::new()).values(query), Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn values(&mut self, query: ValueQuery) -> Step<Vec<ColumnValues>> {
        self.ask(Asked::values(query))
    }

    /// The number of rows of a selection.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Host, Selection, Stop};
    ///
    /// let counted = Host::new(Vec::new()).count(Selection::new("harvest_long"));
    /// assert!(matches!(counted, Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn count(&mut self, selection: Selection) -> Step<Counted> {
        self.ask(Asked::count(selection))
    }

    /// At most 200 rows as values. More are [`super::Rows`].
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Host, Selection, Stop};
    ///
    /// let rows = Host::new(Vec::new()).rows(Selection::new("harvest_long"));
    /// assert!(matches!(rows, Err(Stop::Ask(_))));
    /// ```
    ///
    /// # Errors
    /// [`Stop`].
    pub fn rows(&mut self, selection: Selection) -> Step<Table> {
        self.ask(Asked::rows(selection))
    }
}
