//! The smallest box around geometry on a round earth: west > east where it crosses 180° (RFC 7946,
//! 5.2). Geometry itself never crosses: RFC 7946, 3.1.9 has it cut there, and so have the sources.

/// Intervals of longitude held before they are merged.
const MAX_INTERVALS: usize = 65_536;

/// Gaps kept when merging overlapping intervals does not make them fewer: the narrower ones are
/// each less than a tenth of a degree (360 / 4096), and a box of that much less is the whole earth
/// anyway.
const MAX_GAPS: usize = 4_096;

/// The bounds so far.
#[derive(Debug, Clone, Default)]
pub struct GeometryBounds {
    /// West and east of parts, west <= east; disjoint and ascending only after merging.
    intervals: Vec<(f64, f64)>,
    /// South and north.
    latitudes: Option<(f64, f64)>,
}

impl GeometryBounds {
    /// Adds a connected part: degrees, west <= east, south <= north.
    pub fn add(&mut self, west: f64, east: f64, south: f64, north: f64) {
        // The parts of one boundary overlap as a rule.
        match self.intervals.last_mut() {
            Some((first, last)) if west <= *last && *first <= east => {
                (*first, *last) = (first.min(west), last.max(east))
            }
            _ => self.intervals.push((west, east)),
        }
        self.latitudes =
            Some(self.latitudes.map_or((south, north), |(s, n)| (s.min(south), n.max(north))));
        if self.intervals.len() >= MAX_INTERVALS {
            self.merge();
            self.drop_narrow_gaps();
        }
    }

    /// West, south, east and north of the box; `None` when nothing was added.
    #[must_use]
    pub fn finish(mut self) -> Option<[f64; 4]> {
        self.merge();
        let (south, north) = self.latitudes?;
        let (west, east) = (self.intervals.first()?.0, self.intervals.last()?.1);
        // The gap across 180°. Another must be wider to be worth a box that crosses.
        let mut widest = west + 360.0 - east;
        let mut sides = (west, east);
        for (before, after) in self.intervals.iter().zip(self.intervals.iter().skip(1)) {
            let gap = after.0 - before.1;
            if gap > widest {
                widest = gap;
                sides = (after.0, before.1);
            }
        }
        Some([sides.0, south, sides.1, north])
    }

    fn merge(&mut self) {
        self.intervals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        self.intervals.dedup_by(|next, kept| {
            let overlap = next.0 <= kept.1;
            if overlap {
                kept.1 = kept.1.max(next.1);
            }
            overlap
        });
    }

    /// Joins merged intervals across all but the widest gaps.
    fn drop_narrow_gaps(&mut self) {
        let gap = |pair: &[(f64, f64)]| {
            pair.last().map_or(0.0, |b| b.0) - pair.first().map_or(0.0, |a| a.1)
        };
        let mut gaps: Vec<f64> = self.intervals.windows(2).map(gap).collect();
        if gaps.len() <= MAX_GAPS {
            return;
        }
        gaps.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = gaps.get(MAX_GAPS).copied().unwrap_or_default();
        self.intervals.dedup_by(|next, kept| {
            let narrow = next.0 - kept.1 <= least;
            if narrow {
                kept.1 = next.1;
            }
            narrow
        });
    }
}

#[cfg(test)]
mod tests;
