//! SQL with Jinja in it: staging models, and tests of keys that have several columns. Made of names
//! alone, which the service guarantees to be snake_case.

use std::fmt::Write;

use yearbook_sdk::generator::{ColumnType, Dataset};

use crate::sources::NAME;

/// Words that are reserved in one of the usual warehouses and that a snake_case column may be
/// called. Those of `DuckDB` are all here. In ascending order.
pub(crate) const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "anti",
    "any",
    "array",
    "as",
    "asc",
    "asof",
    "asymmetric",
    "at",
    "authorization",
    "between",
    "binary",
    "both",
    "by",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current",
    "default",
    "deferrable",
    "delete",
    "desc",
    "describe",
    "distinct",
    "do",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "glob",
    "grant",
    "group",
    "grouping",
    "having",
    "if",
    "ignore",
    "ilike",
    "in",
    "initially",
    "inner",
    "insert",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lambda",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "merge",
    "natural",
    "new",
    "no",
    "not",
    "notnull",
    "null",
    "nulls",
    "of",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "over",
    "overlaps",
    "partition",
    "pivot",
    "pivot_longer",
    "pivot_wider",
    "placing",
    "positional",
    "primary",
    "qualify",
    "range",
    "references",
    "returning",
    "right",
    "rows",
    "sample",
    "select",
    "semi",
    "set",
    "show",
    "similar",
    "some",
    "start",
    "summarize",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "trigger",
    "true",
    "union",
    "unique",
    "unnest",
    "unpack",
    "unpivot",
    "update",
    "user",
    "using",
    "values",
    "variadic",
    "verbose",
    "view",
    "when",
    "where",
    "window",
    "with",
];

/// Type of numbers: 64 bits everywhere. What dbt calls a float has 32 bits in most tools.
const DOUBLE: &str = "{{ dbt.type_float() if target.type in \
    ('bigquery', 'postgres', 'redshift', 'snowflake') else 'double' }}";

/// True for a column's name that must be quoted in SQL. Others must not be: where loaders write
/// upper case, a quoted lower-case name is another one.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

/// A view of the table with every column cast to its type.
pub(crate) fn staging(dataset: &Dataset) -> String {
    let mut columns = Vec::with_capacity(dataset.columns.len());
    for column in &dataset.columns {
        let sql_type = match column.column_type {
            ColumnType::Text => "{{ dbt.type_string() }}",
            ColumnType::Integer => "{{ dbt.type_bigint() }}",
            ColumnType::Number => DOUBLE,
            ColumnType::Boolean => "{{ dbt.type_boolean() }}",
            ColumnType::Date => "date",
        };
        let name = reference(&column.name);
        columns.push(format!("    cast({name} as {sql_type}) as {name}"));
    }
    format!("select\n{}\nfrom {}\n", columns.join(",\n"), source(dataset))
}

/// Rows whose key is there twice; dbt has a test of its own for keys of one column.
pub(crate) fn key_is_unique(dataset: &Dataset) -> Option<String> {
    if dataset.primary_key.len() < 2 {
        return None;
    }
    let key: Vec<String> = dataset.primary_key.iter().map(|name| reference(name)).collect();
    let key = key.join(", ");
    let mut sql = format!("select {key}, count(*) as times\nfrom {}\n", source(dataset));
    let _ = write!(sql, "group by {key}\nhaving count(*) > 1\n");
    Some(sql)
}

fn source(dataset: &Dataset) -> String {
    format!("{{{{ source('{NAME}', '{}') }}}}", dataset.name)
}

fn reference(name: &str) -> String {
    if is_reserved(name) { format!("{{{{ adapter.quote('{name}') }}}}") } else { name.to_owned() }
}
