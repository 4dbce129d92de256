//! The transform `aggregate`: one row a combination of values (contract-16-aggregate). Holds a
//! summary of each value column for every combination.

use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Need, Needs, OutputColumn, Relation,
    TransformDescription, TransformError, TransformOutput,
};
use yearbook_sdk::{Kind, Options, Parameter, Schema, Transform};
use yearbook_series::{
    Number, Summary, SummaryKind, listed_columns, make_number, numeric_columns, read_number,
};

yearbook_sdk::export_transform!(Aggregate);

/// One response.
#[derive(Debug)]
pub struct Aggregate {
    settings: Settings,
    types: Vec<MadeType>,
    /// Summaries of each group, one for each value column.
    summaries: Vec<Summary>,
    /// Number of the next group to come out.
    next: usize,
    output: TransformOutput,
}

/// A request for aggregates of a table.
#[derive(Debug)]
struct Settings {
    by: Vec<usize>,
    values: Vec<usize>,
    with: SummaryKind,
    weight: Option<usize>,
}

impl Transform for Aggregate {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "aggregate",
            version: env!("CARGO_PKG_VERSION"),
            title: "Aggregate",
            independent: false,
            parameters: vec![
                text(
                    "by",
                    "The columns of which each combination of values makes a row, with commas between them. Required.",
                ),
                Parameter {
                    name: "with",
                    kind: Kind::Text,
                    default: "sum",
                    allowed: &["sum", "mean", "first", "last", "min", "max", "count"],
                    docs: "What a row has of the values. Nulls are left out, but the first and the last row count with or without a value.",
                },
                text(
                    "value",
                    "The columns of values, with commas between them; without a name all value columns. Columns that are counted may be of any type.",
                ),
                text(
                    "weight",
                    "The column of weights of a mean. Rows without a weight are left out.",
                ),
            ],
            docs: "Makes one row of each combination of the values that `by` has, in ascending order, null last: a sum, a mean or another summary of each value column. \
                   Sums and means are exact and rounded once, so the order of the rows does not matter. A result of no values is null, and a count is 0.",
        }
    }

    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError> {
        Ok(Settings::new(schema, options)?.needs())
    }

    fn open(schema: &Schema, _: &Codes, options: &Options) -> Result<Self, TransformError> {
        let settings = Settings::new(schema, options)?;
        let field = |at: &usize| &schema.fields[*at];
        let groups = settings.by.iter().map(|at| OutputColumn::group(&field(at).name, *at));
        let values = settings.values.iter().map(|at| settings.with.output_column(field(at)));
        let (values, types): (Vec<OutputColumn>, Vec<MadeType>) = values.unzip();
        let output = TransformOutput {
            columns: groups.chain(values).collect(),
            rows: Relation::New,
            order: (0..settings.by.len()).collect(),
        };
        Ok(Self { settings, types, summaries: Vec::new(), next: 0, output })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn push(&mut self, rows: &InputRows, _: &mut MadeRows) -> Result<(), TransformError> {
        let Settings { values, with, weight, .. } = &self.settings;
        let width = values.len();
        let groups = rows.groups().iter().max().map_or(0, |group| *group as usize + 1);
        if self.summaries.len() < groups * width {
            self.summaries.resize(groups * width, Summary::new(*with));
        }
        let weight = weight.map(|_| rows.column(width));
        for at in 0..width {
            let column = rows.column(at);
            for row in 0..rows.rows() {
                let summary = &mut self.summaries[rows.group(row) * width + at];
                // What is counted need not be a number.
                let value = match with {
                    SummaryKind::Count => column.is_valid(row).then_some(Number::Integer(1)),
                    _ => read_number(&column, row),
                };
                match &weight {
                    Some(weight) => summary.add_weighted(value, read_number(weight, row)),
                    None => summary.add(value),
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, made: &mut MadeRows) -> Result<(), TransformError> {
        for summaries in self.summaries.chunks(self.types.len()).skip(self.next) {
            if made.is_full() {
                break;
            }
            made.group(self.next);
            for (at, (summary, made_type)) in summaries.iter().zip(&self.types).enumerate() {
                make_number(made, at, *made_type, summary.result());
            }
            self.next += 1;
        }
        Ok(())
    }
}

impl Settings {
    fn new(schema: &Schema, options: &Options) -> Result<Self, TransformError> {
        let by = listed_columns(schema, "by", options.text("by")?)?;
        if by.is_empty() {
            let names: Vec<&str> =
                schema.fields.iter().take(40).map(|field| field.name.as_str()).collect();
            let sentence = format!("is required: one or more of {}", names.join(", "));
            return Err(TransformError::invalid_option("by", sentence));
        }
        let with = SummaryKind::parse(options.text("with")?).unwrap_or(SummaryKind::Sum);
        let weight = match options.text("weight")? {
            "" => None,
            _ if with != SummaryKind::Mean => {
                let sentence = "only a mean has weights; ask for `aggregate.with=mean`";
                return Err(TransformError::invalid_option("weight", sentence));
            }
            list if listed_columns(schema, "weight", list)?.len() != 1 => {
                let sentence = "must be one column, that of the weights";
                return Err(TransformError::invalid_option("weight", sentence));
            }
            name => numeric_columns(schema, "weight", name)?.first().copied(),
        };
        let named = options.text("value")?;
        let mut values = match with {
            SummaryKind::Count if !named.is_empty() => listed_columns(schema, "value", named)?,
            _ => numeric_columns(schema, "value", named)?,
        };
        if named.is_empty() {
            values.retain(|at| !by.contains(at) && Some(*at) != weight);
        }
        if let Some(at) = values.iter().find(|at| by.contains(at) || Some(**at) == weight) {
            let name = &schema.fields[*at].name;
            let sentence =
                format!("`{name}` has another part already: it is a group or the weight");
            return Err(TransformError::invalid_option("value", sentence));
        }
        if values.is_empty() {
            let sentence = "no value column is left; name one";
            return Err(TransformError::invalid_option("value", sentence));
        }
        Ok(Self { by, values, with, weight })
    }

    fn needs(&self) -> Needs {
        let columns = self.values.iter().copied().chain(self.weight).map(Need::plain);
        Needs { columns: columns.collect(), groups: Some(self.by.clone()), ..Needs::default() }
    }
}

fn text(name: &'static str, docs: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Text, default: "", allowed: &[], docs }
}
