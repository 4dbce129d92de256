//! The transform `growth`: the value of each row beside an earlier one of its series
//! (contract-16-growth). Each number is the result of at most two operations of IEEE 754, and the
//! logarithm is compiled in, so that every host makes the same bits.

mod places;
mod row_columns;
mod settings;

use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{
    Codes, InputRows, MadeRows, MadeType, Needs, OutputColumn, Relation, TransformDescription,
    TransformError, TransformOutput,
};
use yearbook_sdk::{Column, Field, Kind, Options, Parameter, Schema, Transform};
use yearbook_series::{Number, SeriesMap, read_number};

use places::{FreePlaces, SeriesPlaces};
use row_columns::Moment;
use settings::{Measure, Settings};

yearbook_sdk::export_transform!(Growth);

/// One response.
#[derive(Debug)]
pub struct Growth {
    settings: Settings,
    series: SeriesMap<SeriesPlaces>,
    free: FreePlaces,
    /// Values of each column, by their places.
    values: Vec<Vec<Option<f64>>>,
    output: TransformOutput,
}

/// Places of a row's values.
#[derive(Debug, Clone, Copy, Default)]
struct RowPlaces {
    /// The place of those that they are compared with; `None` where there are none.
    earlier: Option<usize>,
    /// The place where later rows find them; `None` where none looks.
    own: Option<usize>,
}

impl Transform for Growth {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "growth",
            version: env!("CARGO_PKG_VERSION"),
            title: "Growth",
            independent: false,
            parameters: vec![
                Parameter {
                    name: "periods",
                    kind: Kind::Integer,
                    default: "1",
                    allowed: &[],
                    docs: "How many units earlier the value is that each one is compared with.",
                },
                Parameter {
                    name: "unit",
                    kind: Kind::Text,
                    default: "",
                    allowed: &["", "month", "quarter", "year", "day", "week"],
                    docs: "The unit of `periods`: without one that of the period's code, else the distance of the dates.",
                },
                Parameter {
                    name: "as",
                    kind: Kind::Text,
                    default: "ratio",
                    allowed: &["ratio", "difference", "log", "index"],
                    docs: "What becomes of a value x and the earlier one p: x/p-1, x-p or ln(x/p); as an index 100x/b, where b is the value at `base`.",
                },
                Parameter {
                    name: "base",
                    kind: Kind::Text,
                    default: "",
                    allowed: &[],
                    docs: "The date or the period where an index is 100.",
                },
                Parameter {
                    name: "columns",
                    kind: Kind::Text,
                    default: "",
                    allowed: &[],
                    docs: "The columns, with commas between them; without a name all value columns.",
                },
            ],
            docs: "Compares each value with that of the same series exactly so many units earlier, also where that one lies before `start`. \
                   Without such a value the result is null, so a gap never gives a wrong neighbour; likewise where a ratio or an index would divide by 0, \
                   and where a logarithm has none. Of several rows of one series and time the last one counts.",
        }
    }

    fn plan(schema: &Schema, options: &Options) -> Result<Needs, TransformError> {
        Ok(Settings::new(schema, options)?.needs())
    }

    fn open(schema: &Schema, _: &Codes, options: &Options) -> Result<Self, TransformError> {
        let settings = Settings::new(schema, options)?;
        let column = |(at, field): (usize, &Field)| {
            if !settings.columns.contains(&at) {
                return OutputColumn::passed(&field.name, at);
            }
            let unit = field.unit().filter(|_| settings.measure == Measure::Difference);
            OutputColumn {
                role: field.role().or(Some(Role::Value)),
                unit: unit.map(str::to_owned),
                ..OutputColumn::made(&field.name, MadeType::Number)
            }
        };
        let columns = schema.fields.iter().enumerate().map(column).collect();
        let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
        let values = vec![Vec::new(); settings.columns.len()];
        let (series, free) = (SeriesMap::default(), FreePlaces::default());
        Ok(Self { settings, series, free, values, output })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    /// Takes the rows of the base, as those of the time 0.
    fn prime(&mut self, rows: &InputRows) -> Result<(), TransformError> {
        let columns = self.settings.read(rows);
        let mut places = vec![RowPlaces::default(); rows.rows()];
        for (row, place) in places.iter_mut().enumerate() {
            if let Some(form) = columns.base_form(row, self.settings.reference) {
                let series = self.series.entry(rows.group(row), form, SeriesPlaces::default);
                place.own = Some(series.add(0, &mut self.free)?);
            }
        }
        for (at, column) in columns.values.iter().enumerate() {
            self.compare(at, column, &places).for_each(drop);
        }
        Ok(())
    }

    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        let columns = self.settings.read(rows);
        let mut places = vec![RowPlaces::default(); rows.rows()];
        let mut moment = None;
        for (row, place) in places.iter_mut().enumerate() {
            // Tables ascend in time, so most rows have that of the one before.
            if !columns.is_as_before(row) {
                moment = columns.moment(row, self.settings.reference);
                if let Some(Moment { form, .. }) = moment {
                    self.settings.check_form(form)?;
                }
            }
            let Some(Moment { form, time, earlier }) = moment else { continue };
            let series = self.series.entry(rows.group(row), form, SeriesPlaces::default);
            place.earlier = earlier.and_then(|earlier| series.seek(earlier, &mut self.free));
            place.own = time.map(|time| series.add(time, &mut self.free)).transpose()?;
        }
        for (at, column) in columns.values.iter().enumerate() {
            made.numbers(at, self.compare(at, column, &places));
        }
        Ok(())
    }
}

impl Growth {
    /// Results that replace the values of a column, row by row. Each value stands in its own place
    /// then.
    fn compare<'a>(
        &'a mut self,
        at: usize,
        column: &'a Column<'_>,
        places: &'a [RowPlaces],
    ) -> impl Iterator<Item = Option<f64>> + 'a {
        let (values, measure) = (&mut self.values[at], self.settings.measure);
        values.resize(self.free.count(), None);
        places.iter().enumerate().map(move |(row, place)| {
            let value = read_number(column, row).map(Number::to_f64);
            let earlier = place.earlier.and_then(|place| values[place]);
            if let Some(own) = place.own {
                values[own] = value;
            }
            value.zip(earlier).and_then(|(x, p)| measure.compute(x, p))
        })
    }
}

impl Measure {
    /// Returns what replaces a value, beside an earlier one or that of the base. A NaN has the bits
    /// that it has on every host.
    fn compute(self, x: f64, p: f64) -> Option<f64> {
        let result = match self {
            Self::Ratio | Self::Index | Self::Log if p == 0.0 => return None,
            Self::Ratio => x / p - 1.0,
            Self::Index => 100.0 * x / p,
            Self::Difference => x - p,
            Self::Log if x.is_nan() || p.is_nan() => f64::NAN,
            Self::Log => Some(x / p).filter(|ratio| *ratio > 0.0).map(libm::log)?,
        };
        Some(if result.is_nan() { f64::NAN } else { result })
    }
}
