//! The whole of a log: proofs of every entry and every prefix, from tiles alone, against a tree
//! that is made by the definition of RFC 6962.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    Checkpoint, Hash, HashTiles, InclusionProof, LogError, SigningKey, TileAddress, TileKind,
    TreeHasher, VerifierKey, check_consistency, check_inclusion, consistency_ranges,
    inclusion_ranges,
};

/// A log in memory, with the tree head by definition.
struct Log(Vec<Hash>);

impl Log {
    fn new(size: u64) -> Self {
        Self((0..size).map(|index| Hash::leaf(&index.to_le_bytes())).collect())
    }

    /// `MTH` of RFC 6962, section 2.1.
    fn head(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => Hash::empty(),
            [leaf] => *leaf,
            leaves => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                Hash::parent(Self::head(left), Self::head(right))
            }
        }
    }

    fn root(&self, size: usize) -> Hash {
        Self::head(&self.0[..size])
    }

    /// The bytes of a tile by the definition of `tlog-tiles`.
    fn tile(&self, address: TileAddress) -> Vec<u8> {
        let TileKind::Hashes(level) = address.kind else { panic!("{address}") };
        let span = 256_usize.pow(level.into());
        let first = usize::try_from(address.first()).unwrap();
        let hashes = (first..first + usize::from(address.width))
            .map(|place| Self::head(&self.0[place * span..(place + 1) * span]).0);
        hashes.collect::<Vec<_>>().concat()
    }

    /// Hashes of ranges from the tiles of the tree of `size` entries.
    fn hashes(&self, size: u64, ranges: &[std::ops::Range<u64>]) -> (HashTiles, Vec<Hash>) {
        let mut tiles = HashTiles::new(size);
        for address in tiles.missing(ranges) {
            assert!(address.is_within(size), "{address} of {size}");
            tiles.insert(address, &self.tile(address)).unwrap();
        }
        let hashes = tiles.hashes(ranges).unwrap();
        (tiles, hashes)
    }
}

#[test]
fn every_entry_of_every_prefix_is_proved_and_no_other_contract_21() {
    let log = Log::new(70);
    for size in 0..=70_u64 {
        let root = log.root(usize::try_from(size).unwrap());
        for (index, leaf) in (0..size).zip(&log.0) {
            let (_, proof) = log.hashes(size, &inclusion_ranges(index, size));
            check_inclusion(*leaf, index, size, &proof, root).unwrap();
            let refused = Err(LogError::NotIncluded);
            assert_eq!(check_inclusion(Hash([0; 32]), index, size, &proof, root), refused);
            for other in 0..=size {
                let outcome = check_inclusion(*leaf, other, size, &proof, root);
                assert_eq!(outcome.is_ok(), other == index, "{index} as {other} of {size}");
            }
            let more: Vec<Hash> = proof.iter().copied().chain([*leaf]).collect();
            assert_eq!(check_inclusion(*leaf, index, size, &more, root), refused);
            if let Some((_, fewer)) = proof.split_last() {
                assert_eq!(check_inclusion(*leaf, index, size, fewer, root), refused);
            }
        }
    }
}

#[test]
fn every_prefix_is_consistent_with_every_later_one_contract_21() {
    let log = Log::new(70);
    for new in 0..=70_u64 {
        let new_head = (new, log.root(usize::try_from(new).unwrap()));
        for old in 0..=new {
            let old_head = (old, log.root(usize::try_from(old).unwrap()));
            let (_, proof) = log.hashes(new, &consistency_ranges(old, new));
            check_consistency(old_head, new_head, &proof).unwrap();
            let refused = Err(LogError::Inconsistent);
            let changed = Hash([9; 32]);
            assert_eq!(check_consistency((old, changed), new_head, &proof), refused);
            if old > 0 {
                assert_eq!(check_consistency(old_head, (new, changed), &proof), refused);
            }
            for place in 0..proof.len() {
                let mut altered = proof.clone();
                altered[place] = changed;
                assert_eq!(check_consistency(old_head, new_head, &altered), refused);
            }
            if old < new {
                assert_eq!(check_consistency(new_head, old_head, &proof), refused, "it shrank");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Sizes at which tiles of three levels are whole and partial.
    #[test]
    fn tiles_give_roots_and_proofs_of_any_size_contract_21(
        sizes in (0_u64..140_000, 1_u64..140_000),
        place in 0.0..1.0_f64,
    ) {
        let (old, new) = (sizes.0.min(sizes.1), sizes.0.max(sizes.1));
        let log = Log::new(new);
        let head = log.root(usize::try_from(new).unwrap());
        let (tiles, _) = log.hashes(new, std::slice::from_ref(&(0..new)));
        prop_assert_eq!(tiles.root(), Some(head));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in the log")]
        let index = ((new as f64 * place) as u64).min(new - 1);
        let (_, proof) = log.hashes(new, &inclusion_ranges(index, new));
        let leaf = log.0[usize::try_from(index).unwrap()];
        prop_assert_eq!(check_inclusion(leaf, index, new, &proof, head), Ok(()));
        let (_, proof) = log.hashes(new, &consistency_ranges(old, new));
        let old_head = (old, log.root(usize::try_from(old).unwrap()));
        prop_assert_eq!(check_consistency(old_head, (new, head), &proof), Ok(()));
    }
}

#[test]
fn a_request_for_a_proof_needs_few_tiles_however_long_the_log_is_contract_21() {
    for size in [1_u64, 255, 256, 257, 65_536, 10_000_000, 1 << 40, u64::MAX] {
        let tiles = HashTiles::new(size);
        for index in [0, size / 3, size - 1] {
            let mut ranges = inclusion_ranges(index, size);
            ranges.push(0..size);
            assert!(tiles.missing(&ranges).len() <= 24, "{index} of {size}");
            let ranges = consistency_ranges(index, size);
            assert!(tiles.missing(&ranges).len() <= 24, "{index} of {size}");
        }
    }
}

#[test]
fn a_proof_is_one_text_and_whoever_alters_it_is_found_contract_21() {
    let log = Log::new(300);
    let key = SigningKey::new("data.example.org/log", [7; 32]);
    let (index, size) = (41_u64, 300);
    let (_, hashes) = log.hashes(size, &inclusion_ranges(index, size));
    let checkpoint = Checkpoint::sign(size, log.root(300), &key);
    let entry = index.to_le_bytes().to_vec();
    let proof = InclusionProof { entry, index, hashes, checkpoint };
    let text = proof.to_text();
    assert!(text.starts_with("c2sp.org/tlog-proof@v1\nextra KQAAAAAAAAA=\nindex 41\n"), "{text}");
    assert_eq!(InclusionProof::parse(&text).unwrap(), proof);
    assert_eq!(proof.check(key.verifier()).unwrap().size, size);
    // Any change of one byte of it is found.
    let mut outcomes = BTreeMap::<&str, usize>::new();
    for place in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 1;
        let Ok(altered) = String::from_utf8(bytes) else { continue };
        let checked = InclusionProof::parse(&altered).and_then(|proof| proof.check(key.verifier()));
        let failure = checked.expect_err(&altered);
        *outcomes
            .entry(if failure == LogError::NoProof { "parse" } else { "check" })
            .or_default() += 1;
    }
    assert!(outcomes["parse"] > 20 && outcomes["check"] > 100, "{outcomes:?}");
}

#[test]
fn proofs_of_another_implementation_hold_or_not_as_it_says_contract_21() {
    let fixture = include_str!("../../../tests/fixtures/log_proofs.json");
    let fixture: serde_json::Value = serde_json::from_str(fixture).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    for case in cases {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        let key = VerifierKey::parse(text("key")).unwrap();
        let checked = InclusionProof::parse(text("proof"))
            .and_then(|proof| proof.check(&key).map(|head| (proof, head.size)));
        let title = text("title");
        assert_eq!(checked.is_ok(), case["entry"].is_string(), "{title}: {checked:?}");
        if let Ok((proof, size)) = checked {
            assert_eq!(
                (Some(proof.index), Some(size)),
                (case["index"].as_u64(), case["size"].as_u64())
            );
            assert_eq!(proof.entry, text("entry").as_bytes(), "{title}");
        }
    }
    assert!(cases.len() >= 30);
}

#[test]
fn leaves_one_by_one_give_the_root_of_every_prefix_contract_21() {
    let log = Log::new(300);
    let mut hasher = TreeHasher::default();
    assert_eq!(hasher.root(), Hash::empty());
    for (index, leaf) in log.0.iter().enumerate() {
        hasher.push(*leaf);
        assert_eq!(hasher.root(), log.root(index + 1));
    }
    assert_eq!(hasher.size(), 300);
}

#[test]
fn a_tile_of_the_wrong_size_is_not_taken() {
    let mut tiles = HashTiles::new(300);
    let address = TileAddress::parse("0/001.p/44").unwrap();
    for length in [0, 31, 43 * 32, 44 * 32 + 1, 45 * 32] {
        assert_eq!(tiles.insert(address, &vec![0; length]), Err(LogError::WrongTile));
    }
    let bundle = TileAddress::parse("entries/001.p/44").unwrap();
    assert_eq!(tiles.insert(bundle, &[0; 44 * 32]), Err(LogError::WrongTile));
    tiles.insert(address, &[0; 44 * 32]).unwrap();
    assert_eq!(tiles.root(), None, "another tile is missing");
}
