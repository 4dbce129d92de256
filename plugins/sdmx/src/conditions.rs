//! Conditions that keys and filters make. Of one column and operator the host takes several for
//! alternatives, or the last one; in SDMX all of them hold, so they become one.

use std::cmp::Ordering;

use yearbook_sdk::adapter::{Column, ColumnType, Operator, Selection, Step};
use yearbook_sdmx_model::{MEASURE, OBS_VALUE, TIME_PERIOD, decode};

use crate::filter::{self, Comparison};
use crate::problem::{bad_request, unsaid};
use crate::selected::{Selected, days};

impl Selected {
    /// Adds what `c[component]` says.
    pub(crate) fn filter(&mut self, component: &str, text: &str) -> Step<()> {
        for comparison in filter::comparisons(component, text)? {
            if component == TIME_PERIOD && self.flow.structure.time.is_some() {
                self.compare_time(&comparison)?;
            } else {
                self.compare(component, comparison)?;
            }
        }
        Ok(())
    }

    /// Adds a comparison of the values of a component.
    pub(crate) fn compare(&mut self, id: &str, comparison: Comparison) -> Step<()> {
        let structure = &self.flow.structure;
        if id == MEASURE && structure.is_wide {
            return self.choose_measures(&comparison);
        }
        let is_status = |column: &usize| self.flow.dataset.columns[*column].role == "status";
        let sources = self.flow.sources(id);
        let column = match (&sources[..], &structure.measures[..]) {
            ([], [measure]) if id == OBS_VALUE => measure.column,
            ([], _) if id != OBS_VALUE => {
                return Err(bad_request(format!("there is no component '{id}'")));
            }
            (&[column], [_]) => column,
            (&[column], _) if !is_status(&column) => column,
            // A row has several of them, and which one is meant another parameter says.
            _ => {
                self.of_measures.push((id.to_owned(), comparison));
                return Ok(());
            }
        };
        self.compare_column(id, column, comparison)
    }

    /// Adds the comparisons of values and statuses of the one measure that is chosen.
    pub(crate) fn compare_measures(&mut self) -> Step<()> {
        for (id, comparison) in std::mem::take(&mut self.of_measures) {
            let chosen = match self.measures[..] {
                [measure] => self.column_of(&id, measure),
                _ => None,
            };
            let column = chosen.ok_or_else(|| {
                unsaid(format!(
                    "c[{id}]: a row has several; choose one measure that has it, by the key or c[MEASURE]"
                ))
            })?;
            self.compare_column(&id, column, comparison)?;
        }
        Ok(())
    }

    /// The column of a component for observations of a measure alone. `None` for a status of
    /// several columns: nobody told of which.
    fn column_of(&self, id: &str, measure: usize) -> Option<usize> {
        let structure = &self.flow.structure;
        if id == OBS_VALUE {
            return structure.measures.get(measure).map(|measure| measure.column);
        }
        let attribute = structure.attributes.iter().find(|attribute| attribute.id == id)?;
        let column = attribute.column(measure)?;
        self.flow.dataset.columns.get(column)?.of.is_some().then_some(column)
    }

    fn compare_column(&mut self, id: &str, column: usize, comparison: Comparison) -> Step<()> {
        let structure = &self.flow.structure;
        let is_dimension = structure.dimensions.iter().any(|dimension| dimension.id == id);
        let is_coded = is_dimension || self.flow.is_coded(id);
        let column = &self.flow.dataset.columns[column];
        let is_bound = !matches!(comparison.operator, Operator::Equal | Operator::NotEqual);
        let values = comparison.values.iter().filter_map(|value| {
            let value = if is_coded { decode(value)?.into_owned() } else { value.clone() };
            let is_value = match column.type_ {
                // What a bound may be is for the host to say.
                _ if is_bound => true,
                ColumnType::Integer => value.parse::<i64>().is_ok(),
                ColumnType::Boolean => ["true", "false"].contains(&&*value),
                _ => true,
            };
            is_value.then_some(value)
        });
        let values: Vec<String> = values.collect();
        let is_number = matches!(column.type_, ColumnType::Integer | ColumnType::Number);
        if is_bound && is_number && values.iter().any(|value| value.parse::<f64>().is_err()) {
            return Err(bad_request(format!("c[{id}]: the component is a number")));
        }
        match (values.is_empty(), comparison.operator) {
            // Every value differs from what is none.
            (true, Operator::NotEqual) => {}
            (true, _) => self.is_nothing = true,
            (false, operator) => {
                let is_some = add(&mut self.selection, column, operator, values)?;
                self.is_nothing |= !is_some;
            }
        }
        Ok(())
    }

    fn choose_measures(&mut self, comparison: &Comparison) -> Step<()> {
        let measures = &self.flow.structure.measures;
        let has = |at: &usize| comparison.values.contains(&measures[*at].code);
        match comparison.operator {
            Operator::Equal => self.measures.retain(has),
            Operator::NotEqual => self.measures.retain(|at| !has(at)),
            _ => return Err(unsaid("c[MEASURE]: `eq` and `ne` alone")),
        }
        Ok(())
    }

    fn compare_time(&mut self, Comparison { operator, values }: &Comparison) -> Step<()> {
        let [period] = &values[..] else {
            return Err(unsaid("c[TIME_PERIOD]: one period, or a range by `ge:…+le:…`"));
        };
        let (first, last) = days("c[TIME_PERIOD]", period)?;
        match operator {
            Operator::Equal => {
                self.from(&first);
                self.until(&last);
            }
            Operator::Ge => self.from(&first),
            Operator::Le => self.until(&last),
            Operator::Gt => self.beside(Operator::Gt, last)?,
            Operator::Lt => self.beside(Operator::Lt, first)?,
            _ => return Err(unsaid("c[TIME_PERIOD]: `eq`, `ge`, `gt`, `le` and `lt` alone")),
        }
        Ok(())
    }

    /// Adds a condition on the dates.
    fn beside(&mut self, operator: Operator, day: String) -> Step<()> {
        if let Some(time) = self.flow.structure.time {
            let column = &self.flow.dataset.columns[time.date];
            add(&mut self.selection, column, operator, vec![day])?;
        }
        Ok(())
    }
}

/// Adds a condition to those that hold. Returns whether a value can meet all of them.
///
/// # Errors
/// 501 for two that are not one.
fn add(
    selection: &mut Selection,
    column: &Column,
    operator: Operator,
    values: Vec<String>,
) -> Step<bool> {
    let mut conditions = selection.conditions.iter_mut();
    let same = conditions.find(|one| one.column == column.name && one.operator == operator);
    let Some(same) = same else {
        selection.condition(&column.name, operator, values);
        return Ok(true);
    };
    let held = &mut same.values;
    // Of bounds the stricter one, which says what both say.
    let stricter = match operator {
        Operator::Ge | Operator::Gt => Ordering::Less,
        _ => Ordering::Greater,
    };
    match operator {
        Operator::Equal => {
            held.retain(|one| values.iter().any(|other| compare(column.type_, one, other).is_eq()))
        }
        Operator::NotEqual => held.extend(values),
        Operator::Ge | Operator::Gt | Operator::Le | Operator::Lt => {
            if compare(column.type_, &held.concat(), &values.concat()) == stricter {
                *held = values;
            }
        }
        _ if *held == values => {}
        _ => {
            let name = &column.name;
            return Err(unsaid(format!("a selection has one `co` and one `sw` of `{name}`")));
        }
    }
    Ok(!held.is_empty())
}

/// Numbers by what they are, everything else as text.
fn compare(kind: ColumnType, one: &str, other: &str) -> Ordering {
    let ordering = match kind {
        ColumnType::Integer | ColumnType::Number => match (one.parse(), other.parse()) {
            (Ok(one), Ok(other)) => Some(i64::cmp(&one, &other)),
            _ => one.parse::<f64>().ok().partial_cmp(&other.parse().ok()),
        },
        _ => None,
    };
    ordering.unwrap_or_else(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_sdk::adapter::Stop;

    use super::*;

    fn both(type_: ColumnType, operator: Operator, one: &[&str], other: &[&str]) -> Step<String> {
        let column = Column {
            name: "x".to_owned(),
            type_,
            nullable: false,
            role: "key".to_owned(),
            unit: None,
            title: None,
            description: None,
            of: None,
            distinct: None,
        };
        let mut selection = Selection::new("t");
        for values in [one, other] {
            let values = values.iter().map(|&value| value.to_owned()).collect();
            let is_some = add(&mut selection, &column, operator, values)?;
            assert_eq!(is_some, !selection.conditions[0].values.is_empty());
        }
        assert_eq!(selection.conditions.len(), 1);
        Ok(selection.conditions[0].values.join(","))
    }

    #[test]
    fn conditions_of_one_column_hold_together_contract_19() {
        use ColumnType::{Date, Integer, Number, Text};
        use Operator::{Contains, Equal, Ge, Gt, Le, Lt, NotEqual, Starts};
        for (kind, operator, one, other, held) in [
            (Text, Equal, &["a", "b"][..], &["b", "c"][..], "b"),
            (Text, Equal, &["a"], &["b"], ""),
            (Number, Equal, &["1.0", "2"], &["1"], "1.0"),
            (Text, NotEqual, &["a"], &["b"], "a,b"),
            (Text, Ge, &["9"], &["10"], "9"),
            (Number, Ge, &["9"], &["10"], "10"),
            (Number, Ge, &["10.5"], &["9"], "10.5"),
            (Integer, Gt, &["9007199254740993"], &["9007199254740992"], "9007199254740993"),
            (Number, Le, &["-1"], &["-1.5"], "-1.5"),
            (Number, Lt, &["1e3"], &["200"], "200"),
            (Date, Lt, &["2024-02-01"], &["2024-03-01"], "2024-02-01"),
            (Text, Contains, &["a"], &["a"], "a"),
        ] {
            assert_eq!(both(kind, operator, one, other).unwrap(), held, "{operator:?} {one:?}");
        }
        for operator in [Contains, Starts] {
            let refused = both(Text, operator, &["a"], &["ab"]);
            assert!(matches!(refused, Err(Stop::Refused(refusal)) if refusal.status == 501));
        }
    }
}
