//! The centroids of a preview in words and numbers.

use yearbook_domain::Snapshot;
use yearbook_domain::preview_facts::CentroidSample;

use super::{ChartAddress, PictureUrls};
use crate::figures::{count, counted, degrees};

/// Centroids.
pub(crate) struct MapView {
    /// "100 of 2,155 features".
    pub(crate) sample: String,
    /// West, south, east, north.
    pub(crate) bounds: Option<[String; 4]>,
    pub(crate) points: Vec<[String; 2]>,
    /// None where nothing draws.
    pub(crate) picture: Option<PictureUrls>,
    pub(crate) description: String,
}

impl MapView {
    pub(super) fn new(
        sample: &CentroidSample,
        snapshot: &Snapshot,
        chart: Option<ChartAddress<'_>>,
    ) -> Self {
        let shown = sample.points.len() as u64;
        let bounds = snapshot.bbox.map(|bbox| bbox.0.map(degrees));
        let sample_text =
            format!("{} of {}", count(shown), counted(sample.features, "feature", "features"));
        let description = match &bounds {
            Some([west, south, east, north]) => format!(
                "Map of the centroids of {sample_text}, between {west}° and {east}° of longitude and {south}° and {north}° of latitude."
            ),
            None => format!("Map of the centroids of {sample_text}."),
        };
        Self {
            sample: sample_text,
            picture: chart.map(|chart| chart.picture(None)),
            bounds,
            points: sample.points.iter().map(|point| point.map(degrees)).collect(),
            description,
        }
    }
}
