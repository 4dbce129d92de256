//! The frame of every page: title, navigation and foot. Never touches the content of a page.

use yearbook_domain::settings::PageSettings;
use yearbook_http::settings::PublicUrl;

/// Facts of an installation that all its pages show.
#[derive(Debug)]
pub(crate) struct Site {
    /// Name of the service.
    pub(crate) title: String,
    /// A sentence about it.
    pub(crate) summary: String,
    /// Path under which clients find the service, without a slash at the end; empty as a rule.
    pub(crate) root: String,
    /// Address for help.
    pub(crate) contact: Option<String>,
    /// True where keys can be had by sign-up.
    pub(crate) signup: bool,
}

/// The frame of one page. Templates have it as their field `frame`.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// Title of the page, without the name of the service.
    pub(crate) title: &'a str,
    /// Facts of the installation.
    pub(crate) site: &'a Site,
    /// The entry of the navigation that the page belongs to.
    pub(crate) section: Section,
}

/// Entries of the main navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// None of the others: home, errors.
    Other,
    /// Search, and the datasets.
    Datasets,
    /// The release calendar.
    Calendar,
    /// Output formats.
    Formats,
    /// Generators of projects for data tools.
    Integrations,
    /// Sign-up and the account.
    Keys,
}

/// One link of the navigation.
#[derive(Debug)]
pub(crate) struct NavigationLink {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    pub(crate) is_current: bool,
}

impl Site {
    /// The site that `pages` describe below `public_url`, with or without sign-up.
    pub(crate) fn new(pages: &PageSettings, public_url: Option<&PublicUrl>, signup: bool) -> Self {
        Self {
            title: pages.title.clone(),
            summary: pages.summary.clone(),
            root: public_url.map(root_path).unwrap_or_default(),
            contact: pages.contact.as_ref().map(|contact| contact.as_str().to_owned()),
            signup,
        }
    }

    /// The frame of a page of this site.
    pub(crate) fn frame<'a>(&'a self, title: &'a str, section: Section) -> Frame<'a> {
        Frame { title, site: self, section }
    }
}

impl Frame<'_> {
    /// The main navigation.
    pub(crate) fn links(&self) -> impl Iterator<Item = NavigationLink> {
        let (section, signup) = (self.section, self.site.signup);
        [
            ("/datasets", "Datasets", Section::Datasets),
            ("/calendar", "Calendar", Section::Calendar),
            ("/formats", "Formats", Section::Formats),
            ("/integrations", "Integrations", Section::Integrations),
            ("/signup", "Get a key", Section::Keys),
        ]
        .into_iter()
        .filter(move |(.., target)| signup || *target != Section::Keys)
        .map(move |(path, text, target)| NavigationLink {
            path,
            text,
            is_current: target == section,
        })
    }
}

/// The path of an address without slash at its end: `/statistics` of
/// `https://example.org/statistics`.
fn root_path(url: &PublicUrl) -> String {
    let uri: http::Uri = url.as_str().parse().unwrap_or_default();
    uri.path().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn links_keep_the_path_that_a_proxy_serves_under() {
        for (url, expected) in [
            ("https://data.example.org", ""),
            ("https://data.example.org/", ""),
            ("https://example.org/statistics/", "/statistics"),
        ] {
            assert_eq!(root_path(&PublicUrl::try_from(url.to_owned()).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn keys_are_offered_where_sign_up_is_on() {
        let mut site = Site::new(&PageSettings::default(), None, false);
        let paths = |site: &Site| -> Vec<&str> {
            site.frame("", Section::Formats).links().map(|link| link.path).collect()
        };
        assert_eq!(paths(&site), ["/datasets", "/calendar", "/formats", "/integrations"]);
        site.signup = true;
        assert_eq!(paths(&site).last(), Some(&"/signup"));
    }
}
