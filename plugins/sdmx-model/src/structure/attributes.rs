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

    /// Returns whether one of its columns may speak of what another one does. Names alone decide,
    /// and whether a status speaks of one column, so that structures and data, of which each is
    /// told more than the other, have the same ids.
    fn is_taken(&self, columns: &[Column<'_>], status: &Column<'_>) -> bool {
        self.sources.iter().any(|(column, _)| match (&columns[*column].of[..], &status.of[..]) {
            ([one], [other]) => one == other,
            _ => true,
        })
    }
}

/// The attributes that `rest`, positions of columns, are. Statuses of columns that are left out are
/// left out too.
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
        let speaks = |measure: &Measure| {
            !is_status || column.of.is_empty() || column.of.contains(&columns[measure.column].name)
        };
        let of: Vec<usize> = (0..measures.len()).filter(|at| speaks(&measures[*at])).collect();
        if of.is_empty() {
            continue;
        }
        let common = if is_status { common_id(column) } else { None };
        let there = attributes.iter_mut().find(|attribute| Some(&*attribute.id) == common);
        let common = match there {
            Some(attribute) if !attribute.is_taken(columns, column) => {
                attribute.sources.push((at, of));
                continue;
            }
            Some(_) => None,
            None => common.map(str::to_owned),
        };
        let id = common.or_else(|| component_id(column.name));
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

/// The id of SDMX that a status has by its name, less the name of the one column that it speaks of.
fn common_id(status: &Column<'_>) -> Option<&'static str> {
    let kind = match status.of[..] {
        [of] => status.name.strip_prefix(of).and_then(|rest| rest.strip_prefix('_')),
        _ => None,
    };
    match kind.unwrap_or(status.name) {
        "status" | "obs_status" => Some(OBS_STATUS),
        "conf_status" => Some(CONF_STATUS),
        _ => None,
    }
}
