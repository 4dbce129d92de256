//! State of each series: of the rows of one group with period codes of one form.

use yearbook_sdk::calendar::PeriodCodeForm;

/// Forms of period codes.
const FORMS: usize = 4;

/// A value for each series, found by the numbers that the host gives to groups.
#[derive(Debug)]
pub struct SeriesMap<T> {
    /// One more than the position in `series` of each form of a group; 0 where there is none yet.
    positions: Vec<u32>,
    /// In the order in which they appear.
    series: Vec<Series<T>>,
}

/// A series with its value.
#[derive(Debug)]
pub struct Series<T> {
    /// Number of the group.
    pub group: usize,
    /// Form of the period codes.
    pub form: PeriodCodeForm,
    /// The value.
    pub value: T,
}

impl<T> SeriesMap<T> {
    /// Returns the value of a series, made by `default` when the series is new.
    #[inline]
    pub fn entry(
        &mut self,
        group: usize,
        form: PeriodCodeForm,
        default: impl FnOnce() -> T,
    ) -> &mut T {
        let place = self.place(group, form, default);
        self.at(place)
    }

    /// Returns the value of the series in a place that [`Self::place`] returned since the last
    /// [`Self::drain`].
    #[inline]
    pub fn at(&mut self, place: usize) -> &mut T {
        &mut self.series[place].value
    }

    /// Returns the place of a series, whose value is made by `default` when it is new.
    #[inline]
    pub fn place(
        &mut self,
        group: usize,
        form: PeriodCodeForm,
        default: impl FnOnce() -> T,
    ) -> usize {
        let slot = group * FORMS + form as usize;
        if slot >= self.positions.len() {
            self.positions.resize(slot + 1, 0);
        }
        if self.positions[slot] == 0 {
            self.series.push(Series { group, form, value: default() });
            self.positions[slot] = u32::try_from(self.series.len()).unwrap_or(u32::MAX);
        }
        self.positions[slot] as usize - 1
    }

    /// Takes all series out, in the order in which they appeared.
    pub fn drain(&mut self) -> Vec<Series<T>> {
        for series in &self.series {
            self.positions[series.group * FORMS + series.form as usize] = 0;
        }
        std::mem::take(&mut self.series)
    }
}

impl<T> Default for SeriesMap<T> {
    fn default() -> Self {
        Self { positions: Vec::new(), series: Vec::new() }
    }
}
