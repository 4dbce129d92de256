//! The credit of a snapshot as pages show it. Addresses come from publishers: only those of the web
//! become links.

use yearbook_domain::Credit;

/// Credit, licence and source, ready to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditView<'a>(pub(crate) &'a Credit);

impl<'a> CreditView<'a> {
    /// The credit line.
    pub(crate) fn attribution(self) -> &'a str {
        &self.0.attribution
    }

    /// The name of the agency.
    pub(crate) fn agency(self) -> &'a str {
        &self.0.source
    }

    /// The licence by its title, else by its id.
    pub(crate) fn licence_name(self) -> &'a str {
        self.0.licence_title.as_deref().unwrap_or(&self.0.licence)
    }

    /// The address of the licence's text.
    pub(crate) fn licence_url(self) -> Option<&'a str> {
        self.0.licence_url.as_deref().filter(|url| is_web_address(url))
    }

    /// The address of the source.
    pub(crate) fn source_url(self) -> Option<&'a str> {
        self.0.source_url.as_deref().filter(|url| is_web_address(url))
    }

    /// Titles of all sources, with their addresses.
    pub(crate) fn sources(self) -> Vec<SourceLink<'a>> {
        let link = |source: &'a yearbook_domain::SourceEntry| {
            let url = source.path.as_deref().filter(|url| is_web_address(url));
            Some(SourceLink { title: source.title.as_deref().or(url)?, url })
        };
        self.0.sources.iter().filter_map(link).collect()
    }
}

/// One source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceLink<'a> {
    pub(crate) title: &'a str,
    pub(crate) url: Option<&'a str>,
}

/// Returns whether a link may lead to `url`: a script's address would run as ours.
pub(crate) fn is_web_address(url: &str) -> bool {
    let scheme = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    scheme("https://") || scheme("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_become_links() {
        for (url, expected) in [
            ("https://example.org", true),
            ("HTTP://example.org", true),
            ("javascript:alert(1)", false),
            (" https://example.org", false),
            ("data:text/html,x", false),
            ("//example.org", false),
            ("https", false),
            ("", false),
        ] {
            assert_eq!(is_web_address(url), expected, "{url}");
        }
    }
}
