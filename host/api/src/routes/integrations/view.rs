//! Body of a project's files as JSON.

use std::collections::HashSet;
use std::sync::Arc;

use yearbook_domain::Dataset;
use yearbook_http::body_schema::TextsByPath;
use yearbook_http::{json_body, media_types};
use yearbook_sandbox::{GeneratedProject, ProjectFile};

/// Media types of a project's files: JSON, and an archive.
pub(crate) const MEDIA_TYPES: [&str; 2] = [media_types::JSON, media_types::ZIP];

json_body! {
    pub(crate) struct ProjectView<'a> named "Project": "Files for a tool." {
        tool: &'a str,
        files: TextsByPath<'a> => {"description": "What stands in each file, by path."},
        media_types: TextsByPath<'a> => {"description": "Media type of each file, by path."},
        attribution: Vec<&'a str> => {"description": "Credits to be passed on with the data."},
        warnings: &'a [String],
    }
}

impl<'a> ProjectView<'a> {
    /// Shows files and their media types by path, which no two files share. Credits stand once
    /// each, in the order of the datasets.
    pub(super) fn new(
        tool: &'a str,
        datasets: &'a [Arc<Dataset>],
        project: &'a GeneratedProject,
    ) -> Self {
        let by_path = |text: fn(&ProjectFile) -> &String| {
            let texts = project.files.iter().map(|file| (file.path.as_str(), text(file).as_str()));
            TextsByPath(texts.collect())
        };
        let mut seen = HashSet::new();
        let credits = datasets.iter().map(|dataset| dataset.current.credit.attribution.as_str());
        Self {
            tool,
            files: by_path(|file| &file.content),
            media_types: by_path(|file| &file.media_type),
            attribution: credits.filter(|credit| seen.insert(*credit)).collect(),
            warnings: &project.warnings,
        }
    }
}
