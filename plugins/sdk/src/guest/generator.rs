//! The generator world: bindings and the export.

use std::marker::PhantomData;

use super::encoder_world::yearbook::plugin::types;
use super::{install_log, options, parameter, wit_error, write_log};
use crate::Generator;
use crate::generator::{BulkFiles, Column, ColumnType, Dataset, Layout, Plan, Request, Role};
use generator_world::exports::yearbook::plugin::generator as wit;

/// Generated from the WIT package; shares `types` and `log` with the encoder world.
#[doc(hidden)]
pub mod generator_world {
    wit_bindgen::generate!({
        path: "wit/1.1.0",
        world: "generator-plugin",
        pub_export_macro: true,
        export_macro_name: "export_generator_world",
        with: {
            "yearbook:plugin/log@1.1.0": crate::guest::encoder_world::yearbook::plugin::log,
            "yearbook:plugin/types@1.1.0": crate::guest::encoder_world::yearbook::plugin::types,
        },
    });
}

/// The type that [`crate::export_generator!`] exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct GeneratorExport<G>(PhantomData<G>);

impl<G: Generator> wit::Guest for GeneratorExport<G> {
    fn describe() -> wit::Description {
        install_log(write_log);
        let description = G::describe();
        wit::Description {
            tool: description.tool.into(),
            version: description.version.into(),
            title: description.title.into(),
            parameters: description.parameters.into_iter().map(parameter).collect(),
            docs: description.docs.into(),
        }
    }

    fn generate(asked: wit::Request) -> Result<wit::Project, types::Error> {
        install_log(write_log);
        let chosen = options(asked.options);
        let datasets = asked.datasets.into_iter().map(dataset).collect();
        let project = G::generate(
            &Request { base_url: asked.base_url, plan: plan(asked.plan), datasets },
            &chosen,
        )
        .map_err(wit_error)?;
        let files = project.files.into_iter().map(|file| wit::File {
            path: file.path,
            media_type: file.media_type,
            content: file.content,
        });
        Ok(wit::Project { files: files.collect(), warnings: project.warnings })
    }
}

fn plan(plan: wit::Plan) -> Plan {
    let bulk = match plan.bulk {
        wit::BulkFiles::None => BulkFiles::None,
        wit::BulkFiles::Monthly => BulkFiles::Monthly,
        wit::BulkFiles::Current => BulkFiles::Current,
    };
    Plan { name: plan.name, monthly_requests: plan.monthly_requests, row_cap: plan.row_cap, bulk }
}

fn dataset(dataset: wit::Dataset) -> Dataset {
    Dataset {
        name: dataset.name,
        namespace: dataset.namespace,
        title: dataset.title,
        description: dataset.description,
        source: dataset.source,
        source_url: dataset.source_url,
        licence: dataset.licence,
        attribution: dataset.attribution,
        columns: dataset.columns.into_iter().map(column).collect(),
        primary_key: dataset.primary_key,
        layout: match dataset.layout {
            wit::Layout::Long => Layout::Long,
            wit::Layout::Wide => Layout::Wide,
        },
        date_column: dataset.date_column,
        date_range: dataset.date_range,
        rows: dataset.rows,
        snapshot_id: dataset.snapshot_id,
        refresh_cadence: dataset.refresh_cadence,
        data_url: dataset.data_url,
        changes_url: dataset.changes_url,
        bulk_url: dataset.bulk_url,
    }
}

fn column(column: wit::Column) -> Column {
    Column {
        name: column.name,
        column_type: match column.type_ {
            wit::ColumnType::Text => ColumnType::Text,
            wit::ColumnType::Integer => ColumnType::Integer,
            wit::ColumnType::Number => ColumnType::Number,
            wit::ColumnType::Boolean => ColumnType::Boolean,
            wit::ColumnType::Date => ColumnType::Date,
        },
        nullable: column.nullable,
        role: match column.role {
            wit::Role::Date => Role::Date,
            wit::Role::Period => Role::Period,
            wit::Role::Dimension => Role::Dimension,
            wit::Role::Value => Role::Value,
            wit::Role::Geometry => Role::Geometry,
            wit::Role::Key => Role::Key,
            wit::Role::Attribute => Role::Attribute,
        },
        unit: column.unit,
        description: column.description,
    }
}
