//! A dataset as a dataflow: its structure, out of the facts that the host tells of it.

use yearbook_sdk::adapter::{Column, ColumnType, ColumnValues, Dataset, Selection, Stop, Version};
use yearbook_sdmx_model::{
    self as model, MAX_CODES, MEASURE, OBS_VALUE, Representation, Role, Structure, TIME_PERIOD,
    ValueType,
};

use crate::problem::not_found;

/// A dataset that is a dataflow, with the values of its columns where they were asked for.
pub(crate) struct Flow {
    pub(crate) dataset: Dataset,
    pub(crate) structure: Structure,
    pub(crate) name: model::Flow,
    pub(crate) values: Vec<ColumnValues>,
    /// Language of its text.
    pub(crate) language: String,
}

/// Kinds of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Dimension,
    Time,
    Attribute,
    Measure,
}

/// A component of a structure, with what people read of it.
pub(crate) struct Component {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) representation: Representation,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) unit: Option<String>,
}

/// A code with what it stands for.
pub(crate) struct Code {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
}

impl Flow {
    /// The dataflow of a dataset, where its columns are those of one.
    ///
    /// # Errors
    /// The reason for which they are not.
    pub(crate) fn new(dataset: Dataset) -> Result<Self, model::Decline> {
        let structure = structure(&dataset)?;
        let name = model::Flow::new(&dataset.namespace, &dataset.name, dataset.schema_version);
        let language = dataset.languages.first().map_or("en", String::as_str).to_owned();
        Ok(Self { dataset, structure, name, values: Vec::new(), language })
    }

    /// Checks that publishing stored the values of all columns that have codelists: nobody needs a
    /// key or is charged for structures.
    ///
    /// # Errors
    /// The reason for which it is no dataflow.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_stored =
            |column: &Column| column.distinct.is_some_and(|distinct| distinct <= MAX_CODES);
        let coded = self.coded_columns();
        let columns = self.dataset.columns.iter();
        let mut coded = columns.filter(|column| coded.contains(&&*column.name));
        match coded.find(|column| !is_stored(column)) {
            None => Ok(()),
            Some(Column { name, .. }) => Err(format!(
                "the column `{name}` has no codelist, for its values are not stored: they are \
                 numbers, more than {MAX_CODES} or too long, or what was stored is damaged"
            )),
        }
    }

    /// Every row of the version that its facts are of. That version is named, so that what is
    /// counted and what is sent are of one, whatever is published between.
    pub(crate) fn rows(&self) -> Selection {
        let newest = self.dataset.editions.first();
        let version =
            newest.map_or(Version::Current, |edition| Version::Snapshot(edition.id.clone()));
        Selection { version, ..Selection::new(&self.dataset.name) }
    }

    /// Returns whether series have several rows: time tells rows of one key apart.
    pub(crate) fn has_series(&self) -> bool {
        let Dataset { columns, primary_key, .. } = &self.dataset;
        let is_time = |column: &&Column| column.role == "date" || column.role == "period";
        let mut times = columns.iter().filter(is_time);
        self.structure.time.is_some() && times.any(|column| primary_key.contains(&column.name))
    }

    /// All components: dimensions in the order of a key, attributes, the measure.
    pub(crate) fn components(&self) -> Vec<Component> {
        let Structure { dimensions, is_wide, time, measures, value_type, attributes } =
            &self.structure;
        let mut components: Vec<Component> = dimensions
            .iter()
            .map(|dimension| {
                let column = &self.dataset.columns[dimension.column];
                component(&dimension.id, Kind::Dimension, Representation::Coded, column)
            })
            .collect();
        if *is_wide {
            let coded = Representation::Coded;
            components.push(plain(MEASURE, Kind::Dimension, coded, "What is measured"));
        }
        if time.is_some() {
            let date = Representation::Plain(ValueType::Date);
            components.push(plain(TIME_PERIOD, Kind::Time, date, "Time period"));
        }
        components.extend(attributes.iter().map(|attribute| {
            let column = attribute.sources.first().map(|(column, _)| *column);
            let column = &self.dataset.columns[column.unwrap_or_default()];
            component(&attribute.id, Kind::Attribute, attribute.representation, column)
        }));
        let representation = Representation::Plain(*value_type);
        components.push(match &measures[..] {
            [measure] => {
                let column = &self.dataset.columns[measure.column];
                component(OBS_VALUE, Kind::Measure, representation, column)
            }
            _ => plain(OBS_VALUE, Kind::Measure, representation, "Value"),
        });
        components
    }

    /// Names of the columns that have codelists.
    pub(crate) fn coded_columns(&self) -> Vec<&str> {
        let dimensions = self.structure.dimensions.iter().map(|dimension| dimension.column);
        let coded = self.structure.attributes.iter();
        let coded = coded.filter(|attribute| attribute.representation == Representation::Coded);
        let coded = coded.flat_map(|one| one.sources.iter().map(|(column, _)| *column));
        let mut columns: Vec<usize> = dimensions.chain(coded).collect();
        columns.dedup();
        columns.into_iter().map(|at| &*self.dataset.columns[at].name).collect()
    }

    /// The columns that a coded component's values come from; none for [`MEASURE`].
    pub(crate) fn sources(&self, component: &str) -> Vec<usize> {
        let dimensions = self.structure.dimensions.iter();
        if let Some(dimension) = dimensions.clone().find(|dimension| dimension.id == component) {
            return vec![dimension.column];
        }
        let attribute = self.structure.attributes.iter().find(|one| one.id == component);
        let sources = attribute.map(|one| one.sources.iter().map(|(column, _)| *column));
        sources.into_iter().flatten().collect()
    }

    /// The codes of a component that the values that were asked for have, ascending.
    pub(crate) fn codes(&self, component: &str) -> Vec<Code> {
        if component == MEASURE && self.structure.is_wide {
            return self.measure_codes();
        }
        let mut codes: Vec<Code> = Vec::new();
        for column in self.sources(component) {
            let name = &self.dataset.columns[column].name;
            let values = self.values.iter().filter(|values| values.column == *name);
            for observed in values.flat_map(|values| &values.values) {
                let id = model::encode(&observed.code.value).into_owned();
                if codes.iter().rev().take(1).all(|code| code.id != id) {
                    let label = observed.code.label.as_ref().unwrap_or(&observed.code.value);
                    let name = if label.is_empty() { "(empty)" } else { label };
                    codes.push(Code { id, name: name.to_owned(), description: None });
                }
            }
        }
        if self.sources(component).len() > 1 {
            codes.sort_by(|one, other| one.id.cmp(&other.id));
            codes.dedup_by(|one, other| one.id == other.id);
        }
        codes
    }

    fn measure_codes(&self) -> Vec<Code> {
        let code = |measure: &model::Measure| {
            let column = &self.dataset.columns[measure.column];
            Code {
                id: measure.code.clone(),
                name: column.title.clone().unwrap_or_else(|| spoken(&column.name)),
                description: described(column),
            }
        };
        self.structure.measures.iter().map(code).collect()
    }

    /// Title for people.
    pub(crate) fn title(&self) -> &str {
        self.dataset.title.as_deref().unwrap_or(&self.dataset.name)
    }

    /// Names the language that its text is in where this one was asked for.
    pub(crate) fn asked_in(mut self, wanted: Option<&str>) -> Self {
        let mut range = wanted;
        while let Some(tag) = range {
            let mut languages = self.dataset.languages.iter();
            if let Some(found) = languages.find(|language| language.eq_ignore_ascii_case(tag)) {
                self.language = found.clone();
                break;
            }
            range = tag.rsplit_once('-').map(|(shorter, _)| shorter);
        }
        self
    }

    /// Language of its text.
    pub(crate) fn language(&self) -> &str {
        &self.language
    }
}

/// The name of the dataset that a dataflow is, where one may be.
///
/// # Errors
/// 404 for what is no id of one.
pub(crate) fn dataset_name(flow: &str) -> Result<String, Stop> {
    let is_name = |byte: u8| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let begins = flow.starts_with(|first: char| first.is_ascii_uppercase());
    if !begins || !flow.bytes().all(is_name) || flow.len() > 128 {
        return Err(not_found(format!("there is no dataflow '{flow}'")));
    }
    Ok(flow.to_ascii_lowercase())
}

fn component(id: &str, kind: Kind, representation: Representation, column: &Column) -> Component {
    Component {
        id: id.to_owned(),
        kind,
        representation,
        name: column.title.clone().unwrap_or_else(|| spoken(&column.name)),
        description: column.description.clone(),
        unit: column.unit.clone(),
    }
}

fn plain(id: &str, kind: Kind, representation: Representation, name: &str) -> Component {
    let (id, name) = (id.to_owned(), name.to_owned());
    Component { id, kind, representation, name, description: None, unit: None }
}

/// Description and unit of a column.
fn described(column: &Column) -> Option<String> {
    match (&column.description, &column.unit) {
        (Some(text), Some(unit)) => Some(format!("{text} ({unit})")),
        (text, unit) => text.as_ref().or(unit.as_ref()).cloned(),
    }
}

/// A column's name as words.
fn spoken(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The structure of a dataset.
fn structure(dataset: &Dataset) -> Result<Structure, model::Decline> {
    let columns: Vec<model::Column<'_>> = dataset.columns.iter().map(describe).collect();
    let key: Vec<&str> = dataset.primary_key.iter().map(String::as_str).collect();
    Structure::new(&columns, &key, false)
}

fn describe(column: &Column) -> model::Column<'_> {
    model::Column {
        name: &column.name,
        role: Role::parse(&column.role),
        value_type: match column.type_ {
            ColumnType::Text => ValueType::Text,
            ColumnType::Integer => ValueType::Integer,
            ColumnType::Number => ValueType::Number,
            ColumnType::Boolean => ValueType::Boolean,
            ColumnType::Date => ValueType::Date,
        },
        of: column.of.as_deref().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use yearbook_sdk::adapter::{Fact, Question};
    use yearbook_sdk::testing::sample::SampleCatalogue;

    use super::*;

    #[test]
    fn text_says_the_language_that_it_is_in_contract_19() {
        let asked = Question::Dataset(("harvest_long".to_owned(), None));
        let Fact::Dataset(mut dataset) = SampleCatalogue::new().answer(&asked) else {
            panic!("the sample catalogue has it")
        };
        dataset.languages.push("mi".to_owned());
        for (wanted, language) in
            [(None, "en"), (Some("mi"), "mi"), (Some("mi-NZ"), "mi"), (Some("fr"), "en")]
        {
            let flow = Flow::new(dataset.clone()).map(|flow| flow.asked_in(wanted));
            assert!(flow.is_ok_and(|flow| flow.language() == language), "{wanted:?}");
        }
    }
}
