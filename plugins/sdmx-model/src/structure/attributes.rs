//! Attributes: the columns that are neither key nor time nor values.

use super::{Column, Decline, Measure, Representation, Role};
use crate::component_id;

/// Id of the flag of an observation.
pub const OBS_STATUS: &str = "OBS_STATUS";
/// Id of the confidentiality of an observation.
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
}

/// The attributes that `rest`, positions of columns, are. Statuses of columns that are left out are
/// left out too.
pub(super) fn find(
    columns: &[Column<'_>],
    rest: impl Iterator<Item = usize>,
    measures: &[Measure],
    statuses: &[StatusOf<'_>],
) -> Result<Vec<Attribute>, Decline> {
    let mut attributes: Vec<Attribute> = Vec::new();
    for at in rest {
        let column = &columns[at];
        if matches!(column.role, Role::Value | Role::Geometry) {
            continue;
        }
        let is_status = column.role == Role::Status;
        let speaks = |measure: &Measure| {
            !is_status || column.of.is_empty() || column.of.contains(&columns[measure.column].name)
        };
        let of: Vec<usize> = (0..measures.len()).filter(|at| speaks(&measures[*at])).collect();
        if of.is_empty() {
            continue;
        }
        let common = statuses.iter().position(|status| is_status && status.column == column.name);
        let common = common.and_then(|at| common_id(statuses, at));
        let there = attributes.iter_mut().find(|attribute| Some(&*attribute.id) == common);
        if let Some(attribute) = there {
            attribute.sources.push((at, of));
            continue;
        }
        let id = common.map(str::to_owned).or_else(|| component_id(column.name));
        let id = id.ok_or_else(|| Decline::Name(column.name.to_owned()))?;
        let representation = if is_status {
            Representation::Coded
        } else {
            Representation::Plain(column.value_type)
        };
        attributes.push(Attribute { id, representation, sources: vec![(at, of)] });
    }
    Ok(attributes)
}

/// The id of SDMX that a status of a table has by its name, unless one before it has it and may
/// speak of the same. Of those that speak of several columns nobody but the data knows which.
fn common_id(statuses: &[StatusOf<'_>], at: usize) -> Option<&'static str> {
    let (before, status) = (statuses.get(..at)?, statuses.get(at)?);
    let id = status.common_id()?;
    let is_taken = before.iter().any(|other| {
        let is_apart = matches!((&other.of[..], &status.of[..]), ([one], [two]) if one != two);
        other.common_id() == Some(id) && !is_apart
    });
    (!is_taken).then_some(id)
}

/// A status of a table, with the columns that it speaks of.
#[derive(Debug)]
pub(super) struct StatusOf<'a> {
    pub(super) column: &'a str,
    pub(super) of: Vec<&'a str>,
}

impl StatusOf<'_> {
    /// The id of SDMX by its name, less the name of the one column that it speaks of.
    fn common_id(&self) -> Option<&'static str> {
        let kind = match self.of[..] {
            [of] => self.column.strip_prefix(of).and_then(|rest| rest.strip_prefix('_')),
            _ => None,
        };
        match kind.unwrap_or(self.column) {
            "status" | "obs_status" => Some(OBS_STATUS),
            "conf_status" => Some(CONF_STATUS),
            _ => None,
        }
    }
}
