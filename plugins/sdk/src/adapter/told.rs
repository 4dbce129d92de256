//! Answers out of facts, one by one or for questions that were asked together.

use super::{
    Asked, Cited, ColumnValues, Counted, Dataset, DatasetPage, Fact, Format, Question, Refusal,
    Table,
};

/// Message of a panic where facts answer other questions.
pub(super) const ORDER: &str = "an adapter asks the same questions in the same order in every call";

/// Answer to a question.
///
/// ```
/// use yearbook_sdk::adapter::{Counted, Fact, Told};
///
/// let told = Counted::from_fact(Fact::Count((2, None)));
/// assert_eq!(told, Ok(Some(Counted { rows: 2, series: None })));
/// let other = Counted::from_fact(Fact::Formats(Vec::new()));
/// assert_eq!(other, Ok(None), "the answer to something else");
/// ```
pub trait Told: Sized {
    /// Reads a fact; `None` where it answers another kind of question.
    ///
    /// # Errors
    /// The refusal of the question.
    fn from_fact(fact: Fact) -> Result<Option<Self>, Refusal>;
}

/// Implements [`Told`] for the answer that one kind of fact holds.
///
/// ```
/// use yearbook_sdk::adapter::{Fact, Format, Told};
///
/// assert_eq!(Vec::<Format>::from_fact(Fact::Formats(Vec::new())), Ok(Some(Vec::new())));
/// ```
macro_rules! told {
    ($($type:ty: $fact:pat => $told:expr;)*) => {$(
        impl Told for $type {
            fn from_fact(fact: Fact) -> Result<Option<Self>, Refusal> {
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
    fn from_fact(fact: Fact) -> Result<Option<Self>, Refusal> {
        Ok(T::from_fact(fact).map_or_else(|refusal| Some(Err(refusal)), |told| told.map(Ok)))
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
        let told = facts.next().map(T::from_fact).transpose()?.flatten();
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
