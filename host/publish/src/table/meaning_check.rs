//! Statuses and labels of a table (contract-21-meaning): each code is of its list, no value stands
//! beside a code that keeps it secret, and each value has one label.

use std::collections::{BTreeMap, HashMap};

use arrow::array::{Array, AsArray};
use arrow::util::display::array_value_to_string;
use yearbook_domain::meaning::{MAX_LABEL_BYTES, MAX_LABELS, StatusColumn, Text, ValueTexts};

use super::TableChunk;
use crate::faults::{FaultList, quote};
use crate::package::{DataPackage, LabelSource, find_label_fault};

/// Codes that a fault lists at most.
const MAX_LISTED_CODES: usize = 40;

/// Checks chunks and collects the labels that other columns hold.
pub(super) struct MeaningCheck {
    statuses: Vec<Statuses>,
    collected: Vec<LabelColumn>,
    /// Labels that the package lists, by position of the column.
    listed: BTreeMap<usize, ValueTexts>,
}

/// A column of statuses.
struct Statuses {
    column: usize,
    /// Columns whose values have them.
    values: Vec<usize>,
    status: StatusColumn,
    /// Set where what is under embargo is published when that ends.
    ends_embargo: bool,
}

/// A column whose labels are the values of another one.
struct LabelColumn {
    column: usize,
    from: usize,
    labels: HashMap<String, String>,
    bytes: usize,
    /// Set once there are too many.
    is_full: bool,
}

impl MeaningCheck {
    pub(super) fn new(package: &DataPackage) -> Self {
        let position =
            |name: &String| package.columns.iter().position(|column| column.name == *name);
        let statuses = package.columns.iter().enumerate().filter_map(|(column, known)| {
            let status = known.status()?.clone();
            Some(Statuses {
                column,
                values: status.of.iter().filter_map(position).collect(),
                status,
                ends_embargo: package.ends_embargo,
            })
        });
        let mut check =
            Self { statuses: statuses.collect(), collected: Vec::new(), listed: BTreeMap::new() };
        for (name, source) in &package.labels {
            let Some(column) = position(name) else { continue };
            match source {
                LabelSource::Listed(labels) => {
                    check.listed.insert(column, labels.clone());
                }
                LabelSource::Column { from } => {
                    check.collected.extend(position(from).map(|from| LabelColumn {
                        column,
                        from,
                        labels: HashMap::new(),
                        bytes: 0,
                        is_full: false,
                    }));
                }
            }
        }
        check
    }

    pub(super) fn check(&mut self, chunk: &TableChunk, faults: &mut FaultList) {
        self.statuses.iter().for_each(|statuses| statuses.check(chunk, faults));
        self.collected.iter_mut().for_each(|column| column.collect(chunk, faults));
    }

    /// Reports what only the end of the table shows.
    pub(super) fn finish_checks(&self, faults: &mut FaultList) {
        let text = |(value, label): (&String, &Text)| value.len() + label.bytes();
        let listed: usize = self.listed.values().flatten().map(text).sum();
        let bytes = listed + self.collected.iter().map(|column| column.bytes).sum::<usize>();
        if bytes > MAX_LABEL_BYTES {
            faults.add_file(None, || {
                format!(
                    "the labels of all columns have {bytes} bytes, and at most {MAX_LABEL_BYTES} are kept; leave a column out of `yearbook.labels`"
                )
            });
        }
    }

    /// Returns the labels by position of the column.
    pub(super) fn finish(self) -> BTreeMap<usize, ValueTexts> {
        let mut labels = self.listed;
        for column in self.collected {
            let text = |text| Text { text, ..Text::default() };
            let found = column.labels.into_iter().map(|(value, label)| (value, text(label)));
            labels.insert(column.column, found.collect());
        }
        labels
    }
}

impl Statuses {
    fn check(&self, chunk: &TableChunk, faults: &mut FaultList) {
        let columns = chunk.batch.columns();
        let Some(codes) = columns.get(self.column).and_then(|codes| codes.as_string_opt::<i32>())
        else {
            return;
        };
        // Codes come in runs.
        let mut last: Option<(&str, Option<bool>)> = None;
        for (position, row) in (0..codes.len()).zip(chunk.first_row..) {
            if codes.is_null(position) {
                continue;
            }
            let code = codes.value(position);
            let is_confidential = match last {
                Some((known, found)) if known == code => found,
                _ if self.ends_embargo && self.status.codes.is_embargo(code) => Some(false),
                _ => self.status.codes.is_confidential(code),
            };
            last = Some((code, is_confidential));
            match is_confidential {
                None => faults.cell(row, self.column, || self.unknown(code)),
                Some(false) => {}
                Some(true) => {
                    for value in &self.values {
                        if columns.get(*value).is_some_and(|values| values.is_valid(position)) {
                            // The value is secret: no message repeats it.
                            faults.cell(row, *value, || self.secret(code));
                        }
                    }
                }
            }
        }
    }

    fn unknown(&self, code: &str) -> String {
        let codes = self.status.codes.codes();
        let listed = codes.iter().take(MAX_LISTED_CODES).copied().collect::<Vec<_>>().join(", ");
        let more = if codes.len() > MAX_LISTED_CODES { ", …" } else { "" };
        let (code, list) = (quote(code.as_bytes()), self.status.codes.name());
        format!(
            "{code} is no status of the list {list} ({listed}{more}); correct it, or leave the cell empty"
        )
    }

    fn secret(&self, code: &str) -> String {
        let label = self.status.codes.label(code, None);
        // What is missing is said first in some labels, and why comes last.
        let reason = label.and_then(|label| label.rsplit("; ").next());
        let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        let release = if self.status.codes.is_embargo(code) {
            ", or release it when its embargo ends (--release-at)"
        } else {
            ""
        };
        format!(
            "stands beside the status {code}{reason}, so it must be empty; remove the value or correct the status{release}"
        )
    }
}

impl LabelColumn {
    fn collect(&mut self, chunk: &TableChunk, faults: &mut FaultList) {
        let columns = chunk.batch.columns();
        let (Some(values), Some(labels)) = (
            columns.get(self.column),
            columns.get(self.from).and_then(|labels| labels.as_string_opt::<i32>()),
        ) else {
            return;
        };
        for (position, row) in (0..labels.len()).zip(chunk.first_row..) {
            if self.is_full || labels.is_null(position) || values.is_null(position) {
                continue;
            }
            let label = labels.value(position);
            let Ok(value) = array_value_to_string(values, position) else { continue };
            match self.labels.get(&value) {
                Some(known) if known == label => {}
                Some(_) if faults.hides(self.from) => faults.cell(row, self.from, || {
                    "is another label of its value than in an earlier row; each value has one label"
                        .to_owned()
                }),
                Some(known) => faults.cell(row, self.from, || {
                    let texts = [label, &value, known].map(|text| quote(text.as_bytes()));
                    let [label, value, known] = texts;
                    format!("{label} is the label of {value} here, and {known} is it in an earlier row; each value has one label")
                }),
                None => {
                    if let Some(why) = find_label_fault(label) {
                        faults.cell(row, self.from, || why);
                    }
                    self.bytes += value.len() + label.len();
                    self.labels.insert(value, label.to_owned());
                    if self.labels.len() > MAX_LABELS || self.bytes > MAX_LABEL_BYTES {
                        self.is_full = true;
                        faults.cell(row, self.column, || {
                            format!(
                                "has more than {MAX_LABELS} values with labels, or {MAX_LABEL_BYTES} bytes of them; leave it out of `yearbook.labels`"
                            )
                        });
                    }
                }
            }
        }
    }
}
