//! Points of one series in bounded memory. As long as they are few, each is kept; beyond that,
//! neighbours share a bucket that keeps its first, last, smallest and greatest point, so that no
//! extreme is lost however many rows there are.

use super::marks::{MarkedRows, Marks};

/// Buckets of a series at most. More than twice the pixels of the widest picture, so that a pixel
/// column never has less than a bucket of its own.
pub const MOST_BUCKETS: usize = 4_096;

/// A point: place on the x axis and value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Place on the x axis.
    pub x: f64,
    /// Value, always finite.
    pub y: f64,
}

/// Neighbouring points, or a row without a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bucket {
    /// A row without a value: the line has a gap here.
    Gap {
        /// Its place.
        x: f64,
        /// Its marks.
        marks: Marks,
    },
    /// Points that share a place.
    Points {
        /// The first of them.
        first: Point,
        /// The last of them.
        last: Point,
        /// The one with the smallest value.
        min: Point,
        /// The one with the greatest value.
        max: Point,
        /// Marks of any of them.
        marks: Marks,
    },
}

impl Bucket {
    /// The bucket of one row.
    #[must_use]
    pub fn row(x: f64, value: Option<f64>, marks: Marks) -> Self {
        match value {
            None => Self::Gap { x, marks: marks.without_value() },
            Some(y) => {
                let point = Point { x, y };
                Self::Points { first: point, last: point, min: point, max: point, marks }
            }
        }
    }

    /// Place of its first row.
    #[must_use]
    pub fn x(&self) -> f64 {
        match self {
            Self::Gap { x, .. } => *x,
            Self::Points { first, .. } => first.x,
        }
    }

    /// Place of its last row.
    #[must_use]
    pub fn last_x(&self) -> f64 {
        match self {
            Self::Gap { x, .. } => *x,
            Self::Points { last, .. } => last.x,
        }
    }

    /// Marks of its rows.
    #[must_use]
    pub fn marks(&self) -> Marks {
        match self {
            Self::Gap { marks, .. } | Self::Points { marks, .. } => *marks,
        }
    }

    /// Takes in a bucket of the same place or of a later one. A gap beside points is too narrow to
    /// be seen.
    pub fn join(&mut self, later: &Self) {
        let both = self.marks().union(later.marks());
        match (&mut *self, later) {
            (_, Self::Gap { .. }) => {}
            (Self::Gap { .. }, points) => *self = *points,
            (
                Self::Points { first, last, min, max, .. },
                Self::Points { first: next, last: end, min: low, max: high, .. },
            ) => {
                if next.x < first.x {
                    *first = *next;
                }
                if end.x >= last.x {
                    *last = *end;
                }
                if low.y < min.y {
                    *min = *low;
                }
                if high.y > max.y {
                    *max = *high;
                }
            }
        }
        let (Self::Gap { marks, .. } | Self::Points { marks, .. }) = self;
        *marks = both;
    }

    /// Its points in the order in which a line passes them; `None` where it is a gap.
    pub fn path(&self) -> impl Iterator<Item = Point> + use<> {
        let mut points = match self {
            Self::Gap { .. } => Vec::new(),
            Self::Points { first, last, min, max, .. } => vec![*first, *min, *max, *last],
        };
        if let [_, min, max, _] = points.as_mut_slice()
            && max.x < min.x
        {
            std::mem::swap(min, max);
        }
        points.dedup();
        points.into_iter()
    }
}

/// Points of one series, and what is true of all of them.
#[derive(Debug, Clone, Default)]
pub struct SeriesSamples {
    /// Ascending by place.
    buckets: Vec<Bucket>,
    /// Width of a bucket on the x axis; zero as long as each place has its own.
    width: f64,
    /// Number of finite values.
    pub points: u64,
    /// Number of rows whose value is null.
    pub nulls: u64,
    /// Number of values that are NaN or infinite.
    pub not_finite: u64,
    /// The point at the last place; of several there, the last row's.
    pub latest: Option<Point>,
    /// Its marks.
    pub latest_marks: Marks,
    /// The first point with the smallest value.
    pub min: Option<Point>,
    /// The first point with the greatest value.
    pub max: Option<Point>,
    /// Marks of any row.
    pub marks: Marks,
    /// Values that are not final.
    pub tentative: MarkedRows,
    /// Rows before which the series breaks.
    pub breaks: MarkedRows,
}

impl SeriesSamples {
    /// Adds a row.
    pub fn push(&mut self, x: f64, value: Option<f64>, marks: Marks) {
        let finite = value.filter(|value| value.is_finite());
        match (value, finite) {
            (None, _) => self.nulls += 1,
            (_, None) => self.not_finite += 1,
            (_, Some(y)) => self.count(Point { x, y }, marks),
        }
        let row = Bucket::row(x, finite, marks);
        self.count_marks(x, row.marks());
        let key = self.key(x);
        match self.buckets.last_mut() {
            Some(last) if key_of(self.width, last.x()) == key => last.join(&row),
            Some(last) if key_of(self.width, last.x()) > key => self.insert(key, row),
            _ => self.buckets.push(row),
        }
        if self.buckets.len() > MOST_BUCKETS {
            self.coarsen();
        }
    }

    /// The buckets, ascending by place.
    #[must_use]
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Smallest and greatest place of its rows.
    #[must_use]
    pub fn extent(&self) -> Option<(f64, f64)> {
        Some((self.buckets.first()?.x(), self.buckets.last()?.last_x()))
    }

    fn count_marks(&mut self, x: f64, marks: Marks) {
        self.marks = self.marks.union(marks);
        if marks.is_tentative() {
            self.tentative.push(x);
        }
        if marks.is_break() {
            self.breaks.push(x);
        }
    }

    fn count(&mut self, point: Point, marks: Marks) {
        self.points += 1;
        if self.latest.is_none_or(|latest| point.x >= latest.x) {
            self.latest = Some(point);
            self.latest_marks = marks;
        }
        if self.min.is_none_or(|min| point.y < min.y) {
            self.min = Some(point);
        }
        if self.max.is_none_or(|max| point.y > max.y) {
            self.max = Some(point);
        }
    }

    fn key(&self, x: f64) -> f64 {
        key_of(self.width, x)
    }

    /// Adds a row that comes before others.
    fn insert(&mut self, key: f64, row: Bucket) {
        let width = self.width;
        match self.buckets.binary_search_by(|bucket| key_of(width, bucket.x()).total_cmp(&key)) {
            Ok(at) => self.buckets[at].join(&row),
            Err(at) => self.buckets.insert(at, row),
        }
    }

    /// Widens the buckets until half of them are free.
    fn coarsen(&mut self) {
        let Some((first, last)) = self.extent() else { return };
        let half = f64::from(u32::try_from(MOST_BUCKETS / 2).unwrap_or(1));
        let needed = (last - first) / half;
        let mut width = if self.width > 0.0 { self.width * 2.0 } else { 1.0 };
        // A power of two, so that buckets nest and the order of rows does not move their borders.
        while width > needed && self.width == 0.0 {
            width /= 2.0;
        }
        while width < needed {
            width *= 2.0;
        }
        self.width = width;
        let mut wider: Vec<Bucket> = Vec::with_capacity(MOST_BUCKETS);
        for bucket in self.buckets.drain(..) {
            match wider.last_mut() {
                Some(last) if key_of(width, last.x()) == key_of(width, bucket.x()) => {
                    last.join(&bucket);
                }
                _ => wider.push(bucket),
            }
        }
        self.buckets = wider;
    }
}

/// Number of the bucket of a place; without a width, the place itself.
fn key_of(width: f64, x: f64) -> f64 {
    // Adding zero makes one of both zeros.
    if width > 0.0 { (x / width).floor() + 0.0 } else { x + 0.0 }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn samples(rows: &[(f64, Option<f64>)]) -> SeriesSamples {
        let mut samples = SeriesSamples::default();
        rows.iter().for_each(|(x, y)| samples.push(*x, *y, Marks::default()));
        samples
    }

    #[test]
    fn few_points_are_all_kept_and_nulls_are_gaps() {
        let rows = [(1.0, Some(5.0)), (2.0, None), (3.0, Some(7.0)), (3.0, Some(1.0))];
        let samples = samples(&rows);
        assert_eq!(samples.buckets().len(), 3);
        assert_eq!(samples.buckets()[1], Bucket::Gap { x: 2.0, marks: Marks::default() });
        assert_eq!((samples.points, samples.nulls), (3, 1));
        assert_eq!(samples.latest, Some(Point { x: 3.0, y: 1.0 }));
        let last: Vec<_> = samples.buckets()[2].path().map(|point| point.y).collect();
        assert_eq!(last, [7.0, 1.0, 7.0, 1.0]);
    }

    #[test]
    fn values_that_are_not_finite_are_counted_and_leave_gaps() {
        let samples =
            samples(&[(1.0, Some(f64::NAN)), (2.0, Some(f64::INFINITY)), (3.0, Some(2.0))]);
        assert_eq!((samples.points, samples.not_finite), (1, 2));
        assert_eq!(samples.min, samples.max);
        assert_eq!(samples.buckets().len(), 3);
    }

    #[test]
    fn a_million_rows_have_few_buckets_and_all_extremes() {
        let mut samples = SeriesSamples::default();
        for row in 0..1_000_000u32 {
            let y = if row == 777_777 { 1e9 } else { f64::from(row % 100) };
            samples.push(f64::from(row) / 24.0, Some(y), Marks::default());
        }
        assert!(samples.buckets().len() <= MOST_BUCKETS);
        assert!(samples.buckets().len() >= MOST_BUCKETS / 4);
        let path: Vec<Point> = samples.buckets().iter().flat_map(Bucket::path).collect();
        assert!(path.contains(&Point { x: 777_777.0 / 24.0, y: 1e9 }));
        assert!(path.is_sorted_by_key(|point| point.x));
        assert_eq!(samples.latest.unwrap().x, 999_999.0 / 24.0);
    }

    proptest! {
        #[test]
        fn buckets_are_bounded_sorted_and_keep_extremes_in_any_order_of_rows(
            rows in prop::collection::vec((-1e6f64..1e6, prop::option::of(-1e6f64..1e6)), 1..9_000)
        ) {
            let samples = samples(&rows);
            prop_assert!(samples.buckets().len() <= MOST_BUCKETS);
            let path: Vec<Point> = samples.buckets().iter().flat_map(Bucket::path).collect();
            let values = || rows.iter().filter_map(|(_, y)| *y);
            let greatest = values().fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!(path.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max), greatest);
            prop_assert_eq!(samples.points, values().count() as u64);
            let starts: Vec<f64> = samples.buckets().iter().map(Bucket::x).collect();
            prop_assert!(starts.is_sorted());
        }
    }
}
