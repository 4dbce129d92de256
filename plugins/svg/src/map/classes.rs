//! Classes of values: as many features in each as ties allow, with borders at short numbers.

use crate::number::{brief, decimal_exponent, exact};

/// Classes at most.
pub(super) const MOST_CLASSES: usize = crate::palette::SHADES;

/// A class of values that lie together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Class {
    /// Its smallest number: of the first class the least value, else a short number above the
    /// values of the class before.
    from: f64,
    /// The border to the next class, or the greatest value.
    to: f64,
    /// Returns whether `to` is a value of the class.
    is_last: bool,
    /// The value, if all are the same.
    only: Option<f64>,
    /// Features with such a value.
    pub(super) count: usize,
    /// Its place in the palette, from 0 on.
    pub(super) shade: usize,
}

/// Shades of few classes: as different as can be.
const SHADES: [&[usize]; MOST_CLASSES] =
    [&[2], &[0, 4], &[0, 2, 4], &[0, 1, 2, 4], &[0, 1, 2, 3, 4]];

impl Class {
    /// Returns the class of a value.
    pub(super) fn find(classes: &[Self], value: f64) -> Option<&Self> {
        let place = classes.partition_point(|class| class.from <= value);
        classes.get(place.checked_sub(1)?)
    }

    /// The class beside its sample.
    pub(super) fn label(&self) -> String {
        match self.only {
            Some(value) => brief(value),
            None => format!("{} – {}", brief(self.from), brief(self.to)),
        }
    }

    /// The class in a sentence.
    pub(super) fn in_words(&self) -> String {
        match (self.only, self.is_last) {
            (Some(value), _) => exact(value),
            (None, true) => format!("{} to {}", exact(self.from), exact(self.to)),
            (None, false) => format!("{} to below {}", exact(self.from), exact(self.to)),
        }
    }
}

/// Returns the classes of finite values, in ascending order; none of none.
pub(super) fn classify(mut values: Vec<f64>) -> Vec<Class> {
    values.sort_unstable_by(f64::total_cmp);
    let mut classes: Vec<Class> = Vec::new();
    let mut rest = values.as_slice();
    while let Some(first) = rest.first() {
        let wanted = rest.len().div_ceil(MOST_CLASSES - classes.len());
        let last = rest[wanted - 1];
        let count = rest.partition_point(|value| *value <= last);
        let from = match classes.last_mut() {
            None => *first,
            Some(before) => {
                let border = shortest(before.to, *first);
                before.to = border;
                border
            }
        };
        let only = (first == &last).then_some(last);
        classes.push(Class { from, to: last, is_last: false, only, count, shade: 0 });
        rest = &rest[count..];
    }
    if let Some(shades) = classes.len().checked_sub(1).and_then(|last| SHADES.get(last)) {
        classes.iter_mut().zip(*shades).for_each(|(class, shade)| class.shade = *shade);
    }
    classes.last_mut().into_iter().for_each(|class| class.is_last = true);
    classes
}

/// The number of fewest digits above `low` and not above `high`.
fn shortest(low: f64, high: f64) -> f64 {
    let size = decimal_exponent(high).max(decimal_exponent(low));
    let fits = |exponent: i32| {
        let digits = (high / crate::number::power_of_ten(exponent)).floor();
        // The float nearest to the decimal number, not the sum of roundings.
        let short: f64 = format!("{digits}e{exponent}").parse().ok()?;
        (low < short && short <= high).then_some(short)
    };
    (size - 16..=size + 1).rev().find_map(fits).unwrap_or(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> Vec<String> {
        classify(values.to_vec()).iter().map(Class::label).collect()
    }

    #[test]
    fn classes_have_as_many_features_and_borders_at_short_numbers() {
        let values: Vec<_> = (0..50).map(|at| 1_003.0 + f64::from(at) * 137.0).collect();
        let classes = classify(values.clone());
        assert!(classes.iter().all(|class| class.count == 10), "{classes:?}");
        assert_eq!(
            labels(&values),
            ["1,003 – 2,300", "2,300 – 3,700", "3,700 – 5,000", "5,000 – 6,400", "6,400 – 7,716"]
        );
        for value in values {
            let class = Class::find(&classes, value);
            assert!(class.is_some_and(|class| class.from <= value && value <= class.to));
        }
        assert_eq!(labels(&[0.051, 0.062]), ["0.051", "0.062"]);
    }

    #[test]
    fn ties_are_in_one_class_and_the_others_share_the_rest() {
        let mut values = vec![0.0; 90];
        values.extend((1..=10).map(f64::from));
        assert_eq!(labels(&values), ["0", "1 – 4", "4 – 7", "7 – 9", "9 – 10"]);
        assert_eq!(labels(&[7.0; 3]), ["7"]);
        assert_eq!(labels(&[]), Vec::<String>::new());
        assert_eq!(labels(&[-2.0, -1.0, 3.0]), ["−2", "−1", "3"]);
        let shades: Vec<_> = classify(vec![1.0, 2.0, 3.0]).iter().map(|one| one.shade).collect();
        assert_eq!(shades, [0, 2, 4]);
    }

    #[test]
    fn borders_lie_between_their_neighbours_however_near_or_far() {
        for (low, high) in [
            (1.0, 1.000_000_000_000_000_2),
            (-1e300, 1e300),
            (-0.5, 0.5),
            (-3.7, -3.6),
            (0.0, 5e-324),
            (999.0, 1_001.0),
            (f64::MIN, f64::MAX),
        ] {
            let border = shortest(low, high);
            assert!(low < border && border <= high, "{low} {high}: {border}");
        }
        assert_eq!([shortest(999.0, 1_001.0), shortest(-3.7, -3.62)], [1_000.0, -3.62]);
    }
}
