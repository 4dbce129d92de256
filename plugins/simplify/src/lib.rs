//! The transform `simplify`: geometry with fewer vertices, in which a border that two rows share
//! stays shared. All geometry is seen first, for a vertex where three lines meet has to stay; what
//! lies between two of these is then simplified in the same way for both rows.

mod shape;

use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Need, Needs, OutputColumn, Priming, Relation,
    TransformDescription, TransformError, TransformOutput,
};
use yearbook_sdk::{Kind, Options, Parameter, Schema, Transform};
use yearbook_wkt::arcs::Junctions;

use shape::Shape;

yearbook_sdk::export_transform!(Simplify);

/// One response.
#[derive(Debug)]
pub struct Simplify {
    tolerance: f64,
    junctions: Junctions,
    output: TransformOutput,
}

impl Transform for Simplify {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "simplify",
            version: env!("CARGO_PKG_VERSION"),
            title: "Simplify",
            independent: false,
            parameters: vec![Parameter {
                name: "tolerance",
                kind: Kind::Number,
                default: "0.01",
                allowed: &[],
                docs: "How far a line may move, in degrees: more than 0, at most 90.",
            }],
            docs: "Leaves out vertices of lines and areas (Douglas and Peucker) as long as no line moves farther than the tolerance. \
                   Borders that several rows share stay shared, and the points where three of them meet stay. \
                   No geometry vanishes; small holes and parts may. Points pass on as they are.",
        }
    }

    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError> {
        tolerance(options)?;
        let columns = vec![Need::plain(geometry(schema)?)];
        Ok(Needs { columns, prime: Priming::All, ..Needs::default() })
    }

    fn open(schema: &Schema, _: &Codes, options: &Options) -> Result<Self, TransformError> {
        let geometry = geometry(schema)?;
        let mut columns: Vec<OutputColumn> = Vec::new();
        for (at, field) in schema.fields.iter().enumerate() {
            columns.push(if at == geometry {
                let made = OutputColumn::made(&field.name, MadeType::Text);
                OutputColumn { role: Some(Role::Geometry), ..made }
            } else {
                OutputColumn::passed(&field.name, at)
            });
        }
        let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
        Ok(Self { tolerance: tolerance(options)?, junctions: Junctions::default(), output })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn prime(&mut self, rows: &InputRows) -> Result<(), TransformError> {
        let column = rows.column(0);
        for text in (0..rows.rows()).filter_map(|row| column.text(row)) {
            Shape::parse(text)?
                .for_each_line(&mut |line, is_ring| self.junctions.add(line, is_ring));
        }
        Ok(())
    }

    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        let column = rows.column(0);
        for row in 0..rows.rows() {
            let Some(text) = column.text(row) else {
                made.text(0, None);
                continue;
            };
            let simple = Shape::parse(text)?.simplified(&self.junctions, self.tolerance);
            made.text(0, Some(simple.as_deref().unwrap_or(text)));
        }
        Ok(())
    }
}

fn geometry(schema: &Schema) -> Result<usize, TransformError> {
    schema.position(Role::Geometry).ok_or_else(|| {
        TransformError::UnsupportedSchema("there is no column of geometry".to_owned())
    })
}

fn tolerance(options: &Options) -> Result<f64, TransformError> {
    let tolerance = options.number("tolerance")?;
    if tolerance > 0.0 && tolerance <= 90.0 {
        return Ok(tolerance);
    }
    let sentence = "must be more than 0 and at most 90 degrees";
    Err(TransformError::invalid_option("tolerance", sentence))
}
