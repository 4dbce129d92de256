//! Shades of a map's features: each has the class of its value. Where rows share a geometry and a
//! date, nothing says which of them is meant, so no value is drawn.

use yearbook_sdk::Field;

use super::classes::{Class, classify};
use super::shapes::{Feature, ShapeStore};

/// Classes of a map, and the shade of each feature.
#[derive(Debug, Default)]
pub(super) struct Shading {
    pub(super) classes: Vec<Class>,
    /// By the order of features.
    pub(super) shades: Vec<Option<usize>>,
    /// Values that are drawn, in the same order.
    pub(super) values: Vec<Option<f64>>,
    /// Features without a value that is drawn.
    pub(super) without: usize,
    /// Features of these whose row is older than the newest one.
    pub(super) outdated: u64,
    /// Features of which several rows have the same date.
    pub(super) ambiguous: u64,
    /// First and last date of the values.
    pub(super) dates: Option<(f64, f64)>,
}

impl Shading {
    /// Chooses the values. Where rows have a geometry again and again, those of the newest date are
    /// drawn.
    pub(super) fn new(shapes: &ShapeStore, value: Option<&Field>) -> Self {
        let features = shapes.features();
        let mut shading = Self {
            shades: vec![None; features.len()],
            values: vec![None; features.len()],
            ..Self::default()
        };
        if value.is_none() {
            return shading;
        }
        let dates = features.iter().filter_map(|feature| feature.figures.date);
        let newest = dates.reduce(f64::max).filter(|_| shapes.older > 0);
        let is_drawn = |feature: &&Feature| newest.is_none() || feature.figures.date == newest;
        let is_ambiguous = |feature: &&Feature| feature.is_ambiguous && is_drawn(feature);
        shading.ambiguous = features.iter().filter(is_ambiguous).count() as u64;
        if shading.ambiguous > 0 {
            return shading;
        }
        for (value, feature) in shading.values.iter_mut().zip(features) {
            if is_drawn(&feature) {
                *value = feature.figures.value;
                let date = feature.figures.date.filter(|_| value.is_some());
                if let Some(date) = date {
                    let (first, last) = shading.dates.unwrap_or((date, date));
                    shading.dates = Some((first.min(date), last.max(date)));
                }
            } else {
                shading.outdated += 1;
            }
        }
        shading.classes = classify(shading.values.iter().filter_map(|value| *value).collect());
        for (shade, value) in shading.shades.iter_mut().zip(&shading.values) {
            let class = value.and_then(|value| Class::find(&shading.classes, value));
            *shade = class.map(|class| class.shade);
        }
        shading.without = shading.values.iter().filter(|value| value.is_none()).count();
        shading
    }

    /// Returns whether values are drawn.
    pub(super) fn is_shown(&self) -> bool {
        !self.classes.is_empty()
    }
}
