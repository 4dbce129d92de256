//! Rules of the interface for what a transform needs and gives, which the host holds it to.

use crate::Schema;
use crate::transform::{Form, MadeType, Needs, Relation, Source, TransformOutput};

pub(super) fn check_needs(schema: &Schema, needs: &Needs) {
    for (at, need) in needs.columns.iter().enumerate() {
        let field = &schema.fields[need.column];
        let before = &needs.columns[..at];
        assert!(
            before.iter().all(|other| other.column != need.column),
            "`{}` is needed twice",
            field.name
        );
        let is_date = field.is_date() && field.format == "u";
        assert!(need.form != Form::Days || is_date, "`{}` holds no dates", field.name);
    }
    for column in needs.groups.iter().flatten() {
        assert!(*column < schema.fields.len(), "there is no column {column} to group by");
    }
}

pub(super) fn check_output(schema: &Schema, needs: &Needs, output: &TransformOutput) {
    let columns = &output.columns;
    assert!((1..=4_096).contains(&columns.len()), "the output has {} columns", columns.len());
    for (at, column) in columns.iter().enumerate() {
        let name = &column.name;
        assert!(columns[..at].iter().all(|other| other.name != *name), "`{name}` is there twice");
        match column.source {
            Source::Passed(input) => {
                assert!(output.rows != Relation::New, "`{name}` is passed to rows that are new");
                assert!(input < schema.fields.len(), "`{name}` is passed from nowhere");
            }
            Source::Group(input) => {
                let groups = needs.groups.as_deref().unwrap_or_default();
                assert!(groups.contains(&input), "`{name}` is of no group");
            }
            Source::Made(_) => {}
        }
        if let Some(values_of) = column.values_of {
            let is_text = column.source == Source::Made(MadeType::Text);
            assert!(is_text && values_of < schema.fields.len(), "`{name}` has values of nothing");
        }
    }
    let kinds = output.order.iter().map(|at| match columns[*at].source {
        Source::Made(_) => 0,
        Source::Group(_) => 1,
        Source::Passed(_) => panic!("rows are ordered by `{}`, which is passed", columns[*at].name),
    });
    assert!(kinds.is_sorted(), "rows are ordered by a group before a made column");
}
