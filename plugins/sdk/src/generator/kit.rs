//! What most generators need: files of text, pages of rows, what a run costs, and the credits that
//! must be passed on.

use super::{Column, Dataset, File, Plan, Request, Role};

impl File {
    /// A file of text; a line break at its end is added where it lacks one.
    #[must_use]
    pub fn text(path: &str, media_type: &str, content: impl Into<String>) -> Self {
        let mut content = content.into();
        if !content.ends_with('\n') {
            content.push('\n');
        }
        Self { path: path.to_owned(), media_type: media_type.to_owned(), content: content.into_bytes() }
    }
}

impl Plan {
    /// Rows of a page: `wanted`, or what the plan lets a request have.
    #[must_use]
    pub fn page(&self, wanted: u64) -> u64 {
        self.row_cap.map_or(wanted, |cap| cap.min(wanted)).max(1)
    }

    /// A warning about a run of `requests` on a plan with a monthly limit; none without a limit.
    #[must_use]
    pub fn cost(&self, requests: u64) -> Option<String> {
        let monthly = self.monthly_requests?;
        let (name, plural) = (&self.name, if requests == 1 { "" } else { "s" });
        let fits = match monthly.checked_div(requests).unwrap_or(monthly) {
            0 => "more than a month has: choose fewer datasets, or another plan".to_owned(),
            1 => "one such run fits into a month".to_owned(),
            runs => format!("{runs} such runs fit into a month"),
        };
        Some(format!("A full run costs {requests} request{plural}, and the {name} plan has {monthly} a month: {fits}."))
    }
}

impl Dataset {
    /// Requests that read all rows in pages of `page`; at least one.
    #[must_use]
    pub fn requests(&self, page: u64) -> u64 {
        self.rows.div_ceil(page.max(1)).max(1)
    }

    /// The geometry column of a spatial dataset.
    #[must_use]
    pub fn geometry(&self) -> Option<&Column> {
        self.columns.iter().find(|column| column.role == Role::Geometry)
    }

    /// Title, or name where there is none, on one line.
    #[must_use]
    pub fn label(&self) -> String {
        one_line(self.title.as_deref().unwrap_or(&self.name))
    }
}

impl Request {
    /// A Markdown list with what must be passed on with each dataset.
    #[must_use]
    pub fn credits(&self) -> String {
        let line = |dataset: &Dataset| {
            let source = dataset.source_url.as_ref().map_or_else(String::new, |url| format!(", <{}>", one_line(url)));
            format!(
                "- `{}` ({}): {}  \n  Source: {}{source}. Licence: {}.\n",
                dataset.name,
                dataset.label(),
                one_line(&dataset.attribution),
                one_line(&dataset.source),
                one_line(&dataset.licence)
            )
        };
        self.datasets.iter().map(line).collect()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_plan_hears_what_a_run_costs() {
        let plan = |monthly_requests| Plan { name: "free".to_owned(), monthly_requests, row_cap: Some(50_000) };
        let end = |monthly, requests| plan(Some(monthly)).cost(requests).map(|text| text.rsplit(": ").next().map(str::to_owned));
        assert_eq!(plan(None).cost(4), None);
        assert_eq!(end(10, 3).flatten().as_deref(), Some("3 such runs fit into a month."));
        assert_eq!(end(10, 10).flatten().as_deref(), Some("one such run fits into a month."));
        assert!(plan(Some(10)).cost(11).is_some_and(|text| text.contains("more than a month has")));
        assert_eq!((plan(None).page(7), plan(None).page(80_000)), (7, 50_000));
    }
}
