//! A transform that passes every column on and sees none. `yearbook plugin bench` measures with it
//! what a transform costs before it calculates anything; it is never installed, and no client can
//! ask for it.

use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, Needs, OutputColumn, Relation, TransformDescription,
    TransformError, TransformOutput,
};
use yearbook_sdk::{Options, Schema, Transform};

yearbook_sdk::export_transform!(IdleTransform);

/// The same rows.
#[derive(Debug)]
pub struct IdleTransform(TransformOutput);

impl Transform for IdleTransform {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "idle",
            version: env!("CARGO_PKG_VERSION"),
            title: "Idle",
            independent: true,
            parameters: Vec::new(),
            docs: "Passes every column on, to measure what a transform costs.",
        }
    }

    fn plan(_: &Schema, _: &Options) -> Result<Needs, TransformError> {
        Ok(Needs::default())
    }

    fn open(schema: &Schema, _: &Codes, _: &Options) -> Result<Self, TransformError> {
        let fields = schema.fields.iter().enumerate();
        let columns = fields.map(|(at, field)| OutputColumn::passed(&field.name, at)).collect();
        Ok(Self(TransformOutput { columns, rows: Relation::Same, order: Vec::new() }))
    }

    fn output(&self) -> &TransformOutput {
        &self.0
    }

    fn push(&mut self, _: &InputRows, _: &mut MadeRows) -> Result<(), TransformError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yearbook_sdk::testing::transforming;

    #[test]
    fn every_table_is_passed_on() {
        transforming::check::<IdleTransform>(&[]);
    }
}
