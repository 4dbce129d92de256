//! Questions to the host. The first call asks; the next one has the answers and goes on.

use std::marker::PhantomData;

use super::{
    Cited, ColumnValues, Dataset, DatasetQuery, Document, Fact, Format, Question, Refusal,
    Selection, Table, ValueQuery,
};

/// What a step gives, or why the call ends here: `?` passes both on.
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

/// Why a call ends before its end.
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
    /// let query = ValueQuery::of(Selection::new("harvest_long"), ["region"]);
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

const ORDER: &str = "an adapter asks the same questions in the same order in every call";

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
    /// Where to go on; `None` where no dataset remains.
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
    question: Question,
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

macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $told:ty = $question:expr;)*) => {$(
        impl Asked<$told> {
            $(#[$doc])*
            #[must_use]
            pub fn $name($($argument: $type),*) -> Self {
                Self::new($question)
            }
        }
    )*};
}

questions! {
    /// See [`Host::dataset`].
    dataset(name: &str) -> Dataset = Question::Dataset((name.to_owned(), None));
    /// See [`Host::dataset`]; text in this language where the publisher wrote it.
    dataset_in(name: &str, language: &str) -> Dataset =
        Question::Dataset((name.to_owned(), Some(language.to_owned())));
    /// See [`Host::datasets`].
    datasets(query: DatasetQuery) -> DatasetPage = Question::Datasets(query);
    /// See [`Host::formats`].
    formats() -> Vec<Format> = Question::Formats;
    /// See [`Host::citation`].
    citation(selection: Selection) -> Cited = Question::Citation(selection);
    /// See [`Host::values`].
    values(query: ValueQuery) -> Vec<ColumnValues> = Question::Values(query);
    /// See [`Host::count`].
    count(selection: Selection) -> Counted = Question::Count(selection);
    /// See [`Host::rows`].
    rows(selection: Selection) -> Table = Question::Rows(selection);
}

/// What a question is answered with.
///
/// ```
/// use yearbook_sdk::adapter::{Counted, Fact, Told};
///
/// let told = Counted::of(Fact::Count((2, None)));
/// assert_eq!(told, Ok(Some(Counted { rows: 2, series: None })));
/// assert_eq!(Counted::of(Fact::Formats(Vec::new())), Ok(None), "the answer to something else");
/// ```
pub trait Told: Sized {
    /// What the fact says; `None` where it answers another kind of question.
    ///
    /// # Errors
    /// The refusal of the question.
    fn of(fact: Fact) -> Result<Option<Self>, Refusal>;
}

macro_rules! told {
    ($($type:ty: $fact:pat => $told:expr;)*) => {$(
        impl Told for $type {
            fn of(fact: Fact) -> Result<Option<Self>, Refusal> {
                match fact {
                    $fact => Ok(Some($told)),
                    Fact::Refused(refusal) => Err(refusal),
                    _ => Ok(None),
                }
            }
        }
    )*};
}

told! {
    Dataset: Fact::Dataset(dataset) => dataset;
    DatasetPage: Fact::Datasets((datasets, total, next)) => Self { datasets, total, next };
    Vec<Format>: Fact::Formats(formats) => formats;
    Cited: Fact::Citation(cited) => cited;
    Vec<ColumnValues>: Fact::Values(values) => values;
    Counted: Fact::Count((rows, series)) => Self { rows, series };
    Table: Fact::Rows(table) => table;
}

impl<T: Told> Told for Result<T, Refusal> {
    fn of(fact: Fact) -> Result<Option<Self>, Refusal> {
        Ok(T::of(fact).map_or_else(|refusal| Some(Err(refusal)), |told| told.map(Ok)))
    }
}

/// Questions that are asked together.
///
/// ```
/// use yearbook_sdk::adapter::{Asked, Round};
///
/// let mut questions = Vec::new();
/// vec![Asked::dataset("harvest_long"), Asked::dataset("prices_wide")].questions(&mut questions);
/// assert_eq!(questions.len(), 2);
/// ```
pub trait Round {
    /// The answers.
    type Told;

    /// Adds its questions.
    fn questions(&self, questions: &mut Vec<Question>);

    /// The answers out of the facts that come next.
    ///
    /// # Errors
    /// The first refusal.
    ///
    /// # Panics
    /// Panics where a fact answers another question.
    fn told(self, facts: &mut impl Iterator<Item = Fact>) -> Result<Self::Told, Refusal>;
}

impl<T: Told> Round for Asked<T> {
    type Told = T;

    fn questions(&self, questions: &mut Vec<Question>) {
        questions.push(self.question.clone());
    }

    fn told(self, facts: &mut impl Iterator<Item = Fact>) -> Result<T, Refusal> {
        let told = facts.next().map(T::of).transpose()?.flatten();
        Ok(told.unwrap_or_else(|| panic!("{ORDER}")))
    }
}

impl<T: Told> Round for Vec<Asked<T>> {
    type Told = Vec<T>;

    fn questions(&self, questions: &mut Vec<Question>) {
        self.iter().for_each(|asked| asked.questions(questions));
    }

    fn told(self, facts: &mut impl Iterator<Item = Fact>) -> Result<Vec<T>, Refusal> {
        self.into_iter().map(|asked| asked.told(facts)).collect()
    }
}

impl<A: Round, B: Round> Round for (A, B) {
    type Told = (A::Told, B::Told);

    fn questions(&self, questions: &mut Vec<Question>) {
        self.0.questions(questions);
        self.1.questions(questions);
    }

    fn told(self, facts: &mut impl Iterator<Item = Fact>) -> Result<Self::Told, Refusal> {
        Ok((self.0.told(facts)?, self.1.told(facts)?))
    }
}
