//! Checks of proofs (RFC 9162, sections 2.1.3.2 and 2.1.4.2), independent of how they are made.

use crate::{Hash, LogError};

/// Checks that the tree of `size` entries with this `root` holds an entry at `index`.
///
/// # Errors
/// [`LogError::NotIncluded`].
pub fn check_inclusion(
    leaf: Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
    root: Hash,
) -> Result<(), LogError> {
    if index >= size {
        return Err(LogError::NotIncluded);
    }
    let mut walk = Walk { place: index, last: size - 1 };
    let mut hash = leaf;
    for step in proof {
        if walk.last == 0 {
            return Err(LogError::NotIncluded);
        }
        if walk.is_right() {
            hash = Hash::parent(*step, hash);
            walk.skip_left();
        } else {
            hash = Hash::parent(hash, *step);
        }
        walk.rise();
    }
    if walk.last == 0 && hash == root { Ok(()) } else { Err(LogError::NotIncluded) }
}

/// Checks that the tree of `new.0` entries with the root `new.1` goes on from `old`.
///
/// # Errors
/// [`LogError::Inconsistent`].
pub fn check_consistency(
    old: (u64, Hash),
    new: (u64, Hash),
    proof: &[Hash],
) -> Result<(), LogError> {
    let holds = |so: bool| if so { Ok(()) } else { Err(LogError::Inconsistent) };
    if old.0 == 0 {
        return holds(old.1 == Hash::empty() && proof.is_empty());
    }
    if old.0 >= new.0 {
        return holds(old == new && proof.is_empty());
    }
    // A tree of a power of two is itself the first step.
    let first = old.0.is_power_of_two().then_some(old.1);
    let mut steps = first.into_iter().chain(proof.iter().copied());
    let Some(first) = steps.next() else { return Err(LogError::Inconsistent) };
    let mut walk = Walk { place: old.0 - 1, last: new.0 - 1 };
    while walk.place & 1 == 1 {
        walk.rise();
    }
    let (mut older, mut newer) = (first, first);
    for step in steps {
        if walk.last == 0 {
            return Err(LogError::Inconsistent);
        }
        if walk.is_right() {
            older = Hash::parent(step, older);
            newer = Hash::parent(step, newer);
            walk.skip_left();
        } else {
            newer = Hash::parent(newer, step);
        }
        walk.rise();
    }
    holds(walk.last == 0 && older == old.1 && newer == new.1)
}

/// A way up from a node: its place on its level, and that of the level's last node.
struct Walk {
    place: u64,
    last: u64,
}

impl Walk {
    /// Returns true where the next step is on the left of the node.
    fn is_right(&self) -> bool {
        self.place & 1 == 1 || self.place == self.last
    }

    /// Rises over the levels on which the last node has no sibling.
    fn skip_left(&mut self) {
        while self.place & 1 == 0 && self.place != 0 {
            self.rise();
        }
    }

    fn rise(&mut self) {
        self.place >>= 1;
        self.last >>= 1;
    }
}
