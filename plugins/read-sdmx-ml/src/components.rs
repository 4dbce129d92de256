//! The components of observations: those that are asked for, and their texts at the data set, the
//! series and the observation.

use std::collections::{BTreeSet, HashMap};

use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadRefusal, RequestedType, snake_case,
};
use yearbook_sdmx_values::REPORTING_YEAR;

use crate::tags::refusal;

/// Most components of a file.
const COMPONENTS: usize = 16_384;

/// Most bytes of a component's id.
const ID_BYTES: usize = 256;

/// Most bytes that are kept for the next text of a column.
const KEPT_BYTES: usize = 64 << 10;

/// Ids that a message lists.
const IDS_LISTED: usize = 20;

/// Statuses, which no group may have: they are no dimensions, so that they are meant for its
/// observations.
const STATUSES: [&str; 2] = ["OBS_STATUS", "CONF_STATUS"];

/// Place of an attribute, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    DataSet,
    Series,
    Observation,
}

/// A column that is read.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) request: ColumnRequest,
    /// Set where its values are ids.
    pub(crate) is_escaped: bool,
    /// Id of its component, once an element had it.
    found: Option<String>,
    texts: Texts,
    /// Set where a group has it.
    is_at_group: bool,
    /// Set once an observation had it neither itself nor at its series.
    was_missed: bool,
}

/// Texts by level; kept when there is none, for the next.
#[derive(Debug, Default)]
struct Texts([(bool, String); 3]);

impl Texts {
    /// Forgets the texts of a level and of those inside it.
    fn clear(&mut self, level: Level) {
        for (is_there, text) in &mut self.0[level as usize..] {
            *is_there = false;
            // A message may have a huge text in each column once.
            if text.capacity() > KEPT_BYTES {
                *text = String::new();
            }
        }
    }

    /// Takes a text; false where the level has one.
    fn set(&mut self, level: Level, text: &str) -> bool {
        let (is_there, kept) = &mut self.0[level as usize];
        kept.clear();
        kept.push_str(text);
        !std::mem::replace(is_there, true)
    }

    /// The text of an observation, at the innermost level that has one.
    fn text(&self) -> Option<&str> {
        self.0.iter().rev().find(|(is_there, _)| *is_there).map(|(_, text)| text.as_str())
    }
}

/// The components.
#[derive(Debug)]
pub(crate) struct Components {
    columns: Vec<Column>,
    /// Set while every component that comes is a column.
    takes_all: bool,
    /// Set where columns were asked for.
    was_asked: bool,
    /// Columns by the ids that came.
    by_id: HashMap<String, Vec<usize>>,
    /// Ids whose values are ids of values.
    escaped: Vec<String>,
    /// Ids that may be missing.
    optional: Vec<String>,
    /// Ids at groups, where no columns were asked for.
    of_groups: BTreeSet<String>,
    /// Day on which reporting years begin.
    reporting_year: Texts,
}

impl Components {
    /// Components that are asked for; all of the first observation where there is no request.
    pub(crate) fn new(requests: &[ColumnRequest], escaped: &[String], optional: &str) -> Self {
        Self {
            columns: requests.iter().cloned().map(Column::new).collect(),
            takes_all: requests.is_empty(),
            was_asked: !requests.is_empty(),
            by_id: HashMap::new(),
            escaped: escaped.to_vec(),
            optional: optional.split_whitespace().map(str::to_owned).collect(),
            of_groups: BTreeSet::new(),
            reporting_year: Texts::default(),
        }
    }

    /// Forgets the texts of a level and of those inside it.
    pub(crate) fn clear(&mut self, level: Level) {
        for column in &mut self.columns {
            column.texts.clear(level);
        }
        self.reporting_year.clear(level);
    }

    /// True where the text of a component is of use.
    pub(crate) fn wants(&mut self, id: &str, line: u64) -> Result<bool, ReadRefusal> {
        if !self.by_id.contains_key(id) {
            self.learn(id, line)?;
        }
        let is_column = self.by_id.get(id).is_some_and(|columns| !columns.is_empty());
        Ok(is_column || id == REPORTING_YEAR)
    }

    /// Keeps the text of a component that is wanted.
    pub(crate) fn set(
        &mut self,
        id: &str,
        level: Level,
        text: &str,
        line: u64,
    ) -> Result<(), ReadRefusal> {
        let columns = self.by_id.get(id).into_iter().flatten();
        let mut is_new = true;
        for at in columns {
            is_new &= self.columns[*at].texts.set(level, text);
        }
        if id == REPORTING_YEAR {
            is_new &= self.reporting_year.set(level, text);
        }
        if is_new { Ok(()) } else { Err(refusal(line, format!("has {id} twice in one element"))) }
    }

    /// The day on which an observation's reporting years begin; empty where none is told.
    pub(crate) fn reporting_year(&self) -> &str {
        self.reporting_year.text().unwrap_or_default()
    }

    /// Notes a component of a group. Dimensions are there, and so are attributes of all its
    /// observations; the latter these do not have themselves.
    ///
    /// # Errors
    /// [`ReadRefusal::Unsupported`] for one that is asked for and that observations do not have.
    pub(crate) fn note_group(&mut self, id: &str, line: u64) -> Result<(), ReadRefusal> {
        for column in self.columns.iter_mut().filter(|column| column.fits(id)) {
            column.is_at_group = true;
            if column.was_missed || STATUSES.contains(&id) {
                return Err(not_joined(line, &column.request.name));
            }
        }
        if self.was_asked {
            return Ok(());
        }
        if STATUSES.contains(&id) {
            return Err(not_joined(line, id));
        }
        if self.of_groups.len() >= COMPONENTS || id.len() > ID_BYTES {
            return Err(too_many(line));
        }
        self.of_groups.insert(id.to_owned());
        if self.takes_all { Ok(()) } else { self.find_of_groups(line) }
    }

    /// An observation is there: after the first, no more columns come.
    ///
    /// # Errors
    /// [`ReadRefusal::Unsupported`] for a component that only its groups may have.
    pub(crate) fn close(&mut self, line: u64) -> Result<(), ReadRefusal> {
        if std::mem::take(&mut self.takes_all) {
            self.find_of_groups(line)?;
        }
        for column in &mut self.columns {
            // What a data set says of all, a group may say otherwise.
            let mut own = column.texts.0[Level::Series as usize..].iter();
            if own.all(|(is_there, text)| !is_there || text.is_empty()) {
                column.was_missed = true;
                if column.is_at_group {
                    return Err(not_joined(line, &column.request.name));
                }
            }
        }
        Ok(())
    }

    /// Finds the columns of what groups have, where each component is one.
    fn find_of_groups(&mut self, line: u64) -> Result<(), ReadRefusal> {
        for id in &self.of_groups {
            let Some(column) = self.columns.iter_mut().find(|column| column.fits(id)) else {
                return Err(not_joined(line, id));
            };
            column.is_at_group = true;
        }
        Ok(())
    }

    /// The columns.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Checks, behind the last observation, that there was one with every component.
    ///
    /// # Errors
    /// [`ReadRefusal::Unsupported`] for one that never came.
    pub(crate) fn finish(&self) -> Result<(), ReadRefusal> {
        let may_miss = |fits: &dyn Fn(&str) -> bool| self.optional.iter().any(|id| fits(id));
        for column in self.columns.iter().filter(|column| column.found.is_none()) {
            if may_miss(&|id| column.fits(id)) {
                continue;
            }
            let mut ids: Vec<&str> = self.by_id.keys().map(String::as_str).collect();
            ids.sort_unstable();
            ids.truncate(IDS_LISTED);
            let sentence = format!(
                "no observation has {:?}; name one of its components in `yearbook.source_columns`: {}; or write the \
                 component in the option `optional`, if it may be missing",
                column.request.source.as_ref().unwrap_or(&column.request.name),
                ids.join(", ")
            );
            return Err(ReadRefusal::unsupported(FilePlace::path(&column.request.name), sentence));
        }
        let is_unknown = |id: &&String| {
            !self.by_id.contains_key(id.as_str()) && !may_miss(&|other| other == id.as_str())
        };
        match self.escaped.iter().find(is_unknown) {
            None => Ok(()),
            Some(id) => Err(ReadRefusal::unsupported(
                FilePlace::path(id),
                "stands in the option `escaped` and no observation has it; take it out",
            )),
        }
    }

    /// Finds the columns of an id that comes for the first time.
    fn learn(&mut self, id: &str, line: u64) -> Result<(), ReadRefusal> {
        if self.by_id.len() >= COMPONENTS || id.len() > ID_BYTES {
            return Err(too_many(line));
        }
        if !self.was_asked {
            if !self.takes_all {
                return Err(ReadRefusal::unsupported(
                    FilePlace::line(line, id),
                    "is no component of the first observation; ask for the columns by name",
                ));
            }
            self.columns.push(Column::new(ColumnRequest {
                name: id.to_owned(),
                source: Some(id.to_owned()),
                requested_type: RequestedType::Text,
            }));
        }
        let mut found = Vec::new();
        for (at, column) in self.columns.iter_mut().enumerate().filter(|(_, one)| one.fits(id)) {
            if let Some(other) = &column.found {
                return Err(ReadRefusal::unsupported(
                    FilePlace::line(line, &column.request.name),
                    format!("{other} and {id} fit it; name one in `yearbook.source_columns`"),
                ));
            }
            column.found = Some(id.to_owned());
            column.is_escaped = self.escaped.iter().any(|escaped| escaped == id);
            found.push(at);
        }
        self.by_id.insert(id.to_owned(), found);
        Ok(())
    }
}

impl Column {
    fn new(request: ColumnRequest) -> Self {
        Self {
            request,
            is_escaped: false,
            found: None,
            texts: Texts::default(),
            is_at_group: false,
            was_missed: false,
        }
    }

    fn fits(&self, id: &str) -> bool {
        match &self.request.source {
            Some(source) => source == id,
            None => self.request.name == id || self.request.name == snake_case(id),
        }
    }

    /// The text of an observation, at the innermost level that has one.
    pub(crate) fn text(&self) -> Option<&str> {
        self.texts.text()
    }
}

fn not_joined(line: u64, name: &str) -> ReadRefusal {
    ReadRefusal::unsupported(
        FilePlace::line(line, name),
        "stands at a group, and groups are not joined with their observations; take the data as SDMX-CSV",
    )
}

fn too_many(line: u64) -> ReadRefusal {
    let sentence = format!(
        "has more than {COMPONENTS} components, or one with an id of more than {ID_BYTES} bytes"
    );
    refusal(line, sentence)
}

impl From<&Column> for ReadColumn {
    fn from(column: &Column) -> Self {
        // Which others are dimensions is said by the structure alone.
        let roles = [("TIME_PERIOD", Role::Period), ("OBS_VALUE", Role::Value)];
        Self {
            name: column.request.name.clone(),
            read_type: column.request.requested_type.into(),
            role: roles.iter().find(|(id, _)| column.fits(id)).map(|(_, role)| *role),
            unit: None,
            description: None,
        }
    }
}
