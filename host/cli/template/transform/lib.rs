//! The transform `{{module}}`: every value column of numbers times `{{module}}.by`. Replace the
//! arithmetic by yours.

use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Need, Needs, OutputColumn, Relation,
    TransformDescription, TransformError, TransformOutput,
};
use yearbook_sdk::{Field, Kind, Options, Parameter, Schema, Transform};

yearbook_sdk::export_transform!(Scale);

/// One response. A fresh value serves each response, so it may keep what it likes between batches;
/// nothing outlives it.
pub struct Scale {
    by: f64,
    output: TransformOutput,
    /// Number of the columns that are made.
    width: usize,
}

fn is_scaled(field: &Field) -> bool {
    field.role() == Some(Role::Value) && field.format == "g"
}

impl Transform for Scale {
    /// Description that clients see. The rules for each field stand in
    /// `yearbook/plugins/sdk/wit/1.2.0/transform.wit`.
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "{{module}}",
            version: env!("CARGO_PKG_VERSION"),
            title: "{{name}}",
            // A result depends on its own row alone: batches may be pushed side by side.
            independent: true,
            parameters: vec![Parameter {
                name: "by",
                kind: Kind::Number,
                default: "2",
                allowed: &[],
                docs: "The factor of every value.",
            }],
            docs: "Every value times a factor.",
        }
    }

    /// Decline here what cannot be done: no row has been read yet. Columns that the output only
    /// passes on need not cross.
    fn plan(schema: &Schema, _: &Options) -> Result<Needs, TransformError> {
        let fields = schema.fields.iter().enumerate();
        let scaled = fields.filter(|(_, field)| is_scaled(field));
        let columns: Vec<Need> = scaled.map(|(position, _)| Need::plain(position)).collect();
        if columns.is_empty() {
            let sentence = "no value column holds numbers; apply {{module}} to a table with one";
            return Err(TransformError::UnsupportedSchema(sentence.to_owned()));
        }
        Ok(Needs { columns, ..Needs::default() })
    }

    fn open(schema: &Schema, _: &Codes, options: &Options) -> Result<Self, TransformError> {
        let column = |(position, field): (usize, &Field)| {
            if is_scaled(field) {
                let made = OutputColumn::made(&field.name, MadeType::Number);
                OutputColumn { role: Some(Role::Value), ..made }
            } else {
                OutputColumn::passed(&field.name, position)
            }
        };
        let columns = schema.fields.iter().enumerate().map(column).collect();
        let width = schema.fields.iter().filter(|field| is_scaled(field)).count();
        let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
        Ok(Self { by: options.number("by")?, output, width })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    /// A batch of rows in, the same rows out. Where batches end must change nothing.
    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        for position in 0..self.width {
            let values = rows.column(position);
            for row in 0..rows.rows() {
                made.number(position, values.number(row).map(|value| value * self.by));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use yearbook_sdk::Value;
    use yearbook_sdk::testing::{Table, transforming};

    use super::*;

    /// The list that every transform must hold.
    #[test]
    fn conforms() {
        transforming::check::<Scale>(&[]);
    }

    #[test]
    fn values_are_scaled_and_other_columns_are_passed_on() {
        let table = Table::new()
            .text("region", &[Some("north"), Some("south")])
            .numbers("value", &[Some(1.5), None])
            .about("value", "yearbook.role", "value");
        let scaled = transforming::transform::<Scale>(&table, &[("by", Value::Number(10.0))]);
        let scaled = scaled.unwrap();
        assert_eq!(scaled.column("region"), [Some("north"), Some("south")]);
        assert_eq!(scaled.numbers("value"), [Some(15.0), None]);
    }
}
