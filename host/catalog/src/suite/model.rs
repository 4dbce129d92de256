//! Publishers, an installer, an operator, readers and two `gc` take steps in a random order, and
//! die at random: whatever the catalog names is in the object store at every instant, and so is
//! what a reader has begun to read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;

use yearbook_domain::{Millis, ObjectKey};

use super::TestDatabase;
use super::fixtures::{DAY, KEEP_NEWEST_ONLY, TODAY, digest, publication, snapshot};
use super::releases::release;
use crate::{
    Catalog, CatalogError, DeletionBatch, Publication, ReleaseChange, ReleaseState,
    UploadRegistration,
};

const STEPS: u32 = 1_500;
/// Contents that publishers and the installer choose from: few, so that they meet.
const CONTENTS: u64 = 5;
/// Of a hundred steps so many are an actor's last.
const DEATHS: u64 = 4;

/// A process that stores something and has it named.
struct UploadWriter {
    store: Arc<Catalog>,
    plugins: bool,
    content: u64,
    /// Objects that it found in the object store.
    at: Step,
}

enum Step {
    Idle,
    Declared,
    Looked { there: bool },
    Stored,
}

enum CollectorRun {
    Idle,
    Listed(Vec<ObjectKey>),
    Removing(DeletionBatch, usize),
}

struct CatalogModel {
    /// The operator's, who declares nothing.
    store: Arc<Catalog>,
    /// Set where the writers have others: a store declares for one process.
    apart: bool,
    objects: BTreeSet<ObjectKey>,
    readers: Vec<(ObjectKey, Millis)>,
    random: u64,
    removed: u32,
    named: u32,
    refused: u32,
}

impl CatalogModel {
    /// A number below `bound` (SplitMix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn dies(&mut self) -> bool {
        self.below(100) < DEATHS
    }

    async fn write(&mut self, writer: &mut UploadWriter) {
        if self.dies() {
            writer.at = Step::Idle;
            return;
        }
        let stored = if writer.plugins { component(writer.content) } else { file(writer.content) };
        writer.at = match writer.at {
            Step::Idle => {
                writer.content = self.below(CONTENTS);
                let stored =
                    if writer.plugins { component(writer.content) } else { file(writer.content) };
                match writer.store.register_upload(&stored).await.unwrap() {
                    UploadRegistration::Registered => Step::Declared,
                    UploadRegistration::BeingDeleted => Step::Idle,
                }
            }
            Step::Declared => Step::Looked { there: self.objects.contains(&stored) },
            Step::Looked { there } => {
                if !there {
                    self.objects.insert(stored);
                }
                Step::Stored
            }
            Step::Stored => {
                let outcome = if writer.plugins {
                    self.install(writer).await
                } else {
                    self.publish(writer).await
                };
                match outcome {
                    Ok(()) => self.named += 1,
                    Err(CatalogError::DeletedConcurrently(_)) => self.refused += 1,
                    Err(failure) => panic!("{failure}"),
                }
                Step::Idle
            }
        };
    }

    async fn publish(&mut self, writer: &UploadWriter) -> Result<(), CatalogError> {
        let dataset = ["cpi", "rent"][usize::try_from(self.below(2)).unwrap()];
        // A month ago each, so that `KEEP_NEWEST_ONLY` keeps two of them.
        let publication = publication(dataset, &id(writer.content), TODAY - 40 * DAY);
        let predecessor =
            writer.store.current_snapshot(&publication.name).await?.map(|current| current.id);
        let publication = Publication { predecessor, ..publication };
        writer.store.commit_snapshot(&publication, KEEP_NEWEST_ONLY).await.map(drop)
    }

    async fn install(&mut self, writer: &UploadWriter) -> Result<(), CatalogError> {
        let release = release("csv", &id(writer.content), TODAY);
        if writer.store.register_release(&release).await? {
            return Ok(());
        }
        let to = ReleaseState::Promoted;
        let change = ReleaseChange {
            id: release.id,
            to,
            by: "ann".to_owned(),
            at: Millis(TODAY),
            reason: None,
        };
        writer.store.change_release(&change).await.map(drop)
    }

    /// Takes a release out of service, for good or not, or puts one back, or applies retention.
    async fn operate(&mut self) {
        use ReleaseState::{Promoted, Removed, RolledBack};
        let releases = self.store.releases().await.unwrap();
        let choice = self.below(4);
        if releases.is_empty() || choice == 3 {
            drop(self.store.apply_retention(KEEP_NEWEST_ONLY, false).await.unwrap());
            return;
        }
        let release = &releases[usize::try_from(self.below(releases.len() as u64)).unwrap()];
        let to = [Removed, RolledBack, Promoted][usize::try_from(choice).unwrap()];
        if to == Promoted && release.state == Removed && !self.apart {
            return;
        }
        let change = ReleaseChange {
            id: release.id.clone(),
            to,
            by: "ann".to_owned(),
            at: Millis(TODAY),
            reason: None,
        };
        match self.store.change_release(&change).await {
            // What was removed is promoted by installing it.
            Ok(_) | Err(CatalogError::DeletedConcurrently(_)) => {}
            Err(failure) => panic!("{failure}"),
        }
    }

    async fn read(&mut self) {
        if !self.readers.is_empty() && (self.readers.len() > 2 || self.below(3) > 0) {
            self.readers.remove(0);
            return;
        }
        let begun = self.store.database_time().await.unwrap();
        let named = self.referenced_now().await;
        if !named.is_empty() {
            let index = usize::try_from(self.below(named.len() as u64)).unwrap();
            self.readers.push((named[index].clone(), begun));
        }
    }

    async fn collect(&mut self, gc: &mut CollectorRun) {
        *gc = match std::mem::replace(gc, CollectorRun::Idle) {
            CollectorRun::Idle => CollectorRun::Listed(self.objects.iter().cloned().collect()),
            CollectorRun::Listed(found) => {
                // Longer ago than any response began that has not ended.
                let now = self.store.database_time().await.unwrap();
                let before = self.readers.iter().map(|(_, begun)| *begun).min().unwrap_or(now);
                CollectorRun::Removing(
                    self.store.mark_for_deletion(&found, before, 3, false).await.unwrap(),
                    0,
                )
            }
            CollectorRun::Removing(condemned, done) if done < condemned.due.len() => {
                self.removed += u32::from(self.objects.remove(&condemned.due[done].stored));
                CollectorRun::Removing(condemned, done + 1)
            }
            CollectorRun::Removing(condemned, _) => {
                let removed: Vec<ObjectKey> =
                    condemned.due.into_iter().map(|loose| loose.stored).collect();
                self.store.forget_deleted(&removed, condemned.at).await.unwrap();
                CollectorRun::Idle
            }
        };
    }

    async fn referenced_now(&self) -> Vec<ObjectKey> {
        let files = self
            .store
            .referenced_files()
            .await
            .unwrap()
            .into_iter()
            .map(|file| ObjectKey::snapshot(&file.sha256));
        let releases = self.store.releases().await.unwrap().into_iter();
        let components = releases.filter(|release| release.state != ReleaseState::Removed);
        files.chain(components.map(|release| ObjectKey::component(&release.id.digest))).collect()
    }
}

fn id(content: u64) -> String {
    char::from(b'a' + u8::try_from(content).unwrap()).to_string()
}

fn file(content: u64) -> ObjectKey {
    ObjectKey::snapshot(&snapshot(&id(content), 0).file.sha256)
}

fn component(content: u64) -> ObjectKey {
    ObjectKey::component(&digest(&id(content)))
}

pub(crate) async fn no_order_of_events_loses_a_live_file(place: TestDatabase) {
    let (store, one, two) = (place.host().await, place.host().await, place.host().await);
    let apart = !Arc::ptr_eq(&one, &two);
    let seed = crate::clock::now().0.unsigned_abs();
    println!("seed {seed}");
    let writer = |store: &Arc<Catalog>, plugins| UploadWriter {
        store: Arc::clone(store),
        plugins,
        content: 0,
        at: Step::Idle,
    };
    let mut writers = vec![writer(&one, false), writer(&one, true)];
    if apart {
        writers.extend([writer(&two, false), writer(&two, true)]);
    }
    let mut gcs = [CollectorRun::Idle, CollectorRun::Idle];
    let mut world = CatalogModel {
        store,
        apart,
        objects: BTreeSet::new(),
        readers: Vec::new(),
        random: seed,
        removed: 0,
        named: 0,
        refused: 0,
    };
    for step in 0..STEPS {
        match world.below(10) {
            0..4 => {
                let index = usize::try_from(world.below(writers.len() as u64)).unwrap();
                world.write(&mut writers[index]).await;
            }
            4..8 => {
                let index = usize::try_from(world.below(2)).unwrap();
                world.collect(&mut gcs[index]).await;
            }
            8 => world.operate().await,
            _ => world.read().await,
        }
        for stored in world
            .referenced_now()
            .await
            .iter()
            .chain(world.readers.iter().map(|(stored, _)| stored))
        {
            assert!(
                world.objects.contains(stored),
                "{stored} is gone at step {step} of seed {seed}"
            );
        }
    }
    let CatalogModel { removed, named, refused, .. } = world;
    println!("{named} named, {removed} removed, {refused} refused");
    assert!(
        named > 10 && removed > 0,
        "{named} named, {removed} removed, {refused} refused with seed {seed}"
    );
}
