//! Facets: the properties by which hits are narrowed, and the choice that a reader made.

pub(crate) mod table;

/// A property of datasets with few values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facet {
    /// Keywords of the data package.
    Topic,
    /// Publishing agency.
    Agency,
    /// Name of the licence.
    Licence,
    /// [`crate::DatasetShape`].
    Shape,
    /// Refresh cadence.
    Cadence,
}

impl Facet {
    /// Every facet, in the order in which pages show them.
    pub const ALL: [Self; 5] =
        [Self::Topic, Self::Agency, Self::Licence, Self::Shape, Self::Cadence];

    /// Returns its parameter in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Agency => "agency",
            Self::Licence => "licence",
            Self::Shape => "shape",
            Self::Cadence => "cadence",
        }
    }
}

/// Chosen values, at most one a facet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FacetChoices([Option<String>; Facet::ALL.len()]);

impl FacetChoices {
    /// Returns the chosen value of `facet`.
    #[must_use]
    pub fn get(&self, facet: Facet) -> Option<&str> {
        self.0[facet as usize].as_deref()
    }

    /// Returns the choices with `value` for `facet`.
    #[must_use]
    pub fn with(mut self, facet: Facet, value: impl Into<String>) -> Self {
        self.0[facet as usize] = Some(value.into());
        self
    }

    /// Returns the choices without one for `facet`.
    #[must_use]
    pub fn without(mut self, facet: Facet) -> Self {
        self.0[facet as usize] = None;
        self
    }

    /// Returns every choice in the order of [`Facet::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Facet, &str)> {
        Facet::ALL.into_iter().filter_map(|facet| Some((facet, self.get(facet)?)))
    }

    /// Returns true when nothing is chosen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}
