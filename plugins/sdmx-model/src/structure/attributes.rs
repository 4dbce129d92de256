//! Attributes: the columns that are neither key nor time nor values.

use super::{Column, Decline, Measure, Representation, Role};
use crate::component_id;

/// Id of the flag of an observation, with the codes of SDMX.
pub const OBS_STATUS: &str = "OBS_STATUS";
/// Id of the confidentiality of an observation, with the codes of SDMX.
pub const CONF_STATUS: &str = "CONF_STATUS";

/// An attribute of observations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its id.
    pub id: String,
    /// Form of its values.
    pub representation: Representation,
    /// Columns that it is, each with the positions of the measures that it speaks of, ascending.
    /// More than one only where each measure of a wide table has a status of its own.
    pub sources: Vec<(usize, Vec<usize>)>,
}

impl Attribute {
    /// Position of the column that has it for observations of a measure. `None` where there is
    /// none.
    ///
    /// ```
    /// use yearbook_sdmx_model::{Attribute, Representation};
    ///
    /// let flag = Attribute {
    ///     id: "OBS_STATUS".to_owned(),
    ///     representation: Representation::Coded,
    ///     sources: vec![(3, vec![0])],
    /// };
    /// assert_eq!((flag.column(0), flag.column(1)), (Some(3), None));
    /// ```
    #[must_use]
    pub fn column(&self, measure: usize) -> Option<usize> {
        let speaks = |(_, measures): &&(usize, Vec<usize>)| measures.contains(&measure);
        self.sources.iter().find(speaks).map(|(column, _)| *column)
    }

    /// Adds a source, unless it speaks of what another one speaks of.
    fn join(&mut self, column: usize, measures: &[usize]) -> bool {
        let is_free = measures.iter().all(|measure| self.column(*measure).is_none());
        if is_free {
            self.sources.push((column, measures.to_vec()));
        }
        is_free
    }
}

/// The attributes that `rest`, positions of columns, are.
pub(super) fn find(
    columns: &[Column<'_>],
    rest: impl Iterator<Item = usize>,
    measures: &[Measure],
) -> Result<Vec<Attribute>, Decline> {
    let mut attributes: Vec<Attribute> = Vec::new();
    for at in rest {
        let column = &columns[at];
        if matches!(column.role, Role::Value | Role::Geometry) {
            continue;
        }
        let is_status = column.role == Role::Status;
        let speaks = |measure: &Measure| column.of.contains(&columns[measure.column].name);
        let named = (0..measures.len()).filter(|at| is_status && speaks(&measures[*at]));
        let mut of: Vec<usize> = named.collect();
        // Of nothing in particular, or of what is no measure: it is told with every one.
        let is_of_all = of.is_empty();
        if is_of_all {
            of = (0..measures.len()).collect();
        }
        let common = match column.codes {
            _ if !is_status || (is_of_all && !column.of.is_empty()) => None,
            "sdmx-obs" => Some(OBS_STATUS),
            "sdmx-conf" => Some(CONF_STATUS),
            _ => None,
        };
        let there = attributes.iter_mut().find(|attribute| Some(&*attribute.id) == common);
        let is_there = there.is_some();
        if there.is_some_and(|attribute| attribute.join(at, &of)) {
            continue;
        }
        let id = match common {
            Some(id) if !is_there => id.to_owned(),
            _ => component_id(column.name).ok_or_else(|| Decline::Name(column.name.to_owned()))?,
        };
        let representation = if is_status {
            Representation::Coded
        } else {
            Representation::Plain(column.value_type)
        };
        attributes.push(Attribute { id, representation, sources: vec![(at, of)] });
    }
    Ok(attributes)
}
