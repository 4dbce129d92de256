//! The plugins that are loaded now. A request pins one immutable set when it begins and uses it to
//! its end, whatever is loaded or removed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use yearbook_domain::PluginKind;
use yearbook_engine::ComponentRejection;

use super::Plugin;
use crate::adapt::PluginAdapter;
use crate::encode::PluginEncoder;
use crate::generate::PluginGenerator;
use crate::transform::PluginTransform;

/// Formats that are listed before all others, in this order (contract-2-formats).
const LISTED_FIRST: [&str; 4] = ["json", "csv", "arrow", "parquet"];

/// An immutable set of loaded plugins.
#[derive(Clone, Default)]
pub struct PluginSet {
    adapters: BTreeMap<String, Arc<PluginAdapter>>,
    encoders: BTreeMap<(usize, String), Arc<PluginEncoder>>,
    generators: BTreeMap<String, Arc<PluginGenerator>>,
    transforms: BTreeMap<String, Arc<PluginTransform>>,
    /// Formats that have releases of which none may serve.
    unavailable: BTreeSet<(usize, String)>,
    /// Adapters and transforms of which the same is true.
    unavailable_adapters: BTreeSet<String>,
    unavailable_transforms: BTreeSet<String>,
}

impl PluginSet {
    /// A set of these plugins, the last of a name. `unavailable`: formats, adapters and transforms
    /// that clients may name and that nothing serves at present.
    pub fn new<'a>(
        plugins: impl IntoIterator<Item = &'a Plugin>,
        unavailable: impl IntoIterator<Item = (PluginKind, String)>,
    ) -> Self {
        let mut set = Self::default();
        for plugin in plugins {
            set.insert(plugin);
        }
        for (kind, name) in unavailable {
            let key = sort_key(&name);
            match kind {
                PluginKind::Encoder if !set.encoders.contains_key(&key) => {
                    set.unavailable.insert(key);
                }
                PluginKind::Adapter if !set.adapters.contains_key(&name) => {
                    set.unavailable_adapters.insert(name);
                }
                PluginKind::Transform if !set.transforms.contains_key(&name) => {
                    set.unavailable_transforms.insert(name);
                }
                _ => {}
            }
        }
        set
    }

    /// Puts a plugin in the place of its name, and returns whether another one had that.
    pub fn insert(&mut self, plugin: &Plugin) -> bool {
        match plugin {
            Plugin::Adapter(adapter) => {
                self.adapters.insert(adapter.name().to_owned(), Arc::clone(adapter)).is_some()
            }
            Plugin::Encoder(encoder) => {
                self.encoders.insert(sort_key(encoder.name()), Arc::clone(encoder)).is_some()
            }
            Plugin::Generator(generator) => {
                let name = generator.name().to_owned();
                self.generators.insert(name, Arc::clone(generator)).is_some()
            }
            Plugin::Transform(transform) => {
                let name = transform.name().to_owned();
                self.transforms.insert(name, Arc::clone(transform)).is_some()
            }
            // Nobody asks a server for one.
            Plugin::Reader(_) => false,
        }
    }

    /// Every data format that clients may name, those included that nothing serves at present; in
    /// the order of [`PluginSet::encoders`]. Media types of the latter are not known, so a picture
    /// format among them is listed too.
    #[must_use]
    pub fn data_formats(&self) -> Vec<&str> {
        let served =
            self.encoders.iter().filter(|(_, encoder)| !encoder.description().is_picture());
        let all: BTreeSet<&(usize, String)> =
            served.map(|(key, _)| key).chain(&self.unavailable).collect();
        all.into_iter().map(|(_, format)| format.as_str()).collect()
    }

    /// Every picture format (media type `image/*`) that is served, by name.
    #[must_use]
    pub fn picture_formats(&self) -> Vec<&str> {
        let served = self.encoders.iter().filter(|(_, encoder)| encoder.description().is_picture());
        served.map(|((_, format), _)| format.as_str()).collect()
    }

    /// Returns whether a format is known but has no release that may serve: it is unavailable, not
    /// unknown.
    #[must_use]
    pub fn is_unavailable(&self, format: &str) -> bool {
        self.unavailable.contains(&sort_key(format))
    }

    /// The encoder of a format.
    #[must_use]
    pub fn encoder(&self, format: &str) -> Option<&Arc<PluginEncoder>> {
        self.encoders.get(&sort_key(format))
    }

    /// Every encoder: json, csv, arrow, parquet, then by name.
    pub fn encoders(&self) -> impl Iterator<Item = &Arc<PluginEncoder>> {
        self.encoders.values()
    }

    /// The generator of an integration.
    #[must_use]
    pub fn generator(&self, tool: &str) -> Option<&Arc<PluginGenerator>> {
        self.generators.get(tool)
    }

    /// Every generator by name.
    pub fn generators(&self) -> impl Iterator<Item = &Arc<PluginGenerator>> {
        self.generators.values()
    }

    /// The adapter of a name.
    #[must_use]
    pub fn adapter(&self, name: &str) -> Option<&Arc<PluginAdapter>> {
        self.adapters.get(name)
    }

    /// Returns whether an adapter is known but has no release that may serve.
    #[must_use]
    pub fn is_unavailable_adapter(&self, name: &str) -> bool {
        self.unavailable_adapters.contains(name)
    }

    /// Every adapter by name.
    pub fn adapters(&self) -> impl Iterator<Item = &Arc<PluginAdapter>> {
        self.adapters.values()
    }

    /// Returns whether a transform is known but has no release that may serve.
    #[must_use]
    pub fn is_unavailable_transform(&self, name: &str) -> bool {
        self.unavailable_transforms.contains(name)
    }

    /// Transforms that are known but have no release that may serve, by name.
    pub fn unavailable_transforms(&self) -> impl Iterator<Item = &str> {
        self.unavailable_transforms.iter().map(String::as_str)
    }

    /// The transform of a name.
    #[must_use]
    pub fn transform(&self, name: &str) -> Option<&Arc<PluginTransform>> {
        self.transforms.get(name)
    }

    /// Every transform by name.
    pub fn transforms(&self) -> impl Iterator<Item = &Arc<PluginTransform>> {
        self.transforms.values()
    }
}

fn sort_key(format: &str) -> (usize, String) {
    (
        LISTED_FIRST.iter().position(|first| *first == format).unwrap_or(LISTED_FIRST.len()),
        format.to_owned(),
    )
}

/// The current set of plugins, swapped in one step.
#[derive(Default)]
pub struct PluginRegistry {
    current: ArcSwap<PluginSet>,
}

impl PluginRegistry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The set that is current; hold on to it for a whole request.
    #[must_use]
    pub fn current(&self) -> Arc<PluginSet> {
        self.current.load_full()
    }

    /// Makes `plugins` the current set, in one step. Requests that have begun keep theirs.
    pub fn replace(&self, plugins: PluginSet) {
        self.current.store(Arc::new(plugins));
    }

    /// Adds a plugin of any kind; of a reader there is nothing to keep, since no request asks for
    /// one.
    ///
    /// # Errors
    /// [`ComponentRejection::NameTaken`] when its name is there already among its kind.
    pub fn add(&self, plugin: &Plugin) -> Result<(), ComponentRejection> {
        let mut taken = false;
        self.current.rcu(|plugins| {
            let mut next = PluginSet::clone(plugins);
            taken = next.insert(plugin);
            if taken { Arc::clone(plugins) } else { Arc::new(next) }
        });
        if taken { Err(ComponentRejection::NameTaken(plugin.name().to_owned())) } else { Ok(()) }
    }
}
