//! Joins of documents that were found for one word and for another. Both lists ascend by number,
//! and so does what comes out.

use std::cmp::Ordering;

use super::collector::ScoredDocument;

/// A choice of documents that stay. One that is in both lists has the sum of its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Documents that both lists have.
    Both,
    /// Documents that the left list has.
    Left,
    /// Documents that either list has.
    Either,
}

impl Join {
    /// Joins `left` with `right`.
    pub(crate) fn apply(
        self,
        left: Vec<ScoredDocument>,
        right: &[ScoredDocument],
    ) -> Vec<ScoredDocument> {
        let mut joined = Vec::with_capacity(left.len());
        let mut rest = right.iter().copied().peekable();
        for mut hit in left {
            while let Some(other) = rest.next_if(|other| other.number < hit.number) {
                if self == Self::Either {
                    joined.push(other);
                }
            }
            let other = rest.next_if(|other| other.number.cmp(&hit.number) == Ordering::Equal);
            if other.is_none() && self == Self::Both {
                continue;
            }
            hit.score += other.map_or(0.0, |other| other.score);
            joined.push(hit);
        }
        if self == Self::Either {
            joined.extend(rest);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(hits: &[(u32, f32)]) -> Vec<ScoredDocument> {
        hits.iter()
            .map(|(number, score)| ScoredDocument { number: *number, score: *score })
            .collect()
    }

    #[test]
    fn scores_add_up_and_each_join_keeps_its_documents() {
        let left = [(1, 1.0), (4, 2.0), (7, 3.0)];
        let right = [(0, 8.0), (4, 16.0), (5, 32.0), (7, 64.0), (9, 128.0)];
        let check = |join: Join, expected: &[(u32, f32)]| {
            assert_eq!(join.apply(list(&left), &list(&right)), list(expected), "{join:?}");
        };
        check(Join::Both, &[(4, 18.0), (7, 67.0)]);
        check(Join::Left, &[(1, 1.0), (4, 18.0), (7, 67.0)]);
        check(Join::Either, &[(0, 8.0), (1, 1.0), (4, 18.0), (5, 32.0), (7, 67.0), (9, 128.0)]);
        assert_eq!(Join::Both.apply(list(&left), &[]), []);
        assert_eq!(Join::Either.apply(Vec::new(), &list(&right)), list(&right));
    }
}
