//! The speed of pages of the catalogue among so many datasets. Owns which pages are asked for, and
//! by how many connections.

use anyhow::Result;

use super::deployment::ScaleDeployment;
use crate::http::HttpRequest;
use crate::{http, machine, wrk};

/// Connections that stand for a crowd, and for a few.
pub(super) const CROWD: u32 = 32;
pub(super) const FEW: u32 = 4;

/// A page that is asked for again and again, or one of a family each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    Home,
    Search,
    Dataset,
    EachBroadSearch,
    EachNarrowSearch,
    EachDataset,
    EachChart,
}

impl PageKind {
    pub(super) const ALL: [Self; 7] = [
        Self::Home,
        Self::Search,
        Self::Dataset,
        Self::EachBroadSearch,
        Self::EachNarrowSearch,
        Self::EachDataset,
        Self::EachChart,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Search => "a search",
            Self::Dataset => "a dataset",
            Self::EachBroadSearch => "another search that finds every dataset each time",
            Self::EachNarrowSearch => "another search that finds one dataset each time",
            Self::EachDataset => "another dataset each time",
            Self::EachChart => "another dataset's chart each time",
        }
    }

    /// Path, with a place for a number where each request asks for another.
    fn path(self) -> &'static str {
        match self {
            Self::Home => "/",
            Self::Search => "/datasets?q=prices",
            Self::Dataset => "/datasets/synthetic_000001",
            Self::EachBroadSearch => "/datasets?q=synthetic+%d",
            Self::EachNarrowSearch => "/datasets?q=%06d",
            Self::EachDataset => "/datasets/synthetic_%06d",
            Self::EachChart => "/datasets/synthetic_%06d/chart.svg",
        }
    }
}

/// Speed of one page.
pub(super) struct PageCost {
    pub(super) kind: PageKind,
    /// Bytes of the body, not compressed.
    pub(super) bytes: u64,
    pub(super) crowd: wrk::LoadResult,
    pub(super) few: wrk::LoadResult,
}

/// Measures every page on a host of its own, among `datasets` that are published.
pub(super) fn measure(
    site: &ScaleDeployment<'_>,
    datasets: u64,
    seconds: u32,
) -> Result<Vec<PageCost>> {
    let host = site.serve(false)?;
    let cores = machine::shared().generator;
    let mut costs = Vec::new();
    for kind in PageKind::ALL {
        let path = kind.path();
        let first = path.replace("%d", "1").replace("%06d", "000001");
        let ask = |path: &str| {
            HttpRequest::get(format!("{}{path}", host.process.base)).with("Accept", "text/html")
        };
        let bytes = http::get(&ask(&first))?.bytes;
        let run = |seconds, connections| {
            let load = wrk::Load { seconds, connections, cores: &cores };
            if first == path {
                load.same(&ask(&first), &site.scripts())
            } else {
                load.numbered(&ask(""), path, datasets, &site.scripts())
            }
        };
        run(1, CROWD)?;
        let cost = PageCost { kind, bytes, crowd: run(seconds, CROWD)?, few: run(seconds, FEW)? };
        println!(
            "   {}: {:.0}/s, p99 {:.1} ms; p99 of {FEW} connections {:.1} ms",
            kind.name(),
            cost.crowd.rate,
            cost.crowd.p99,
            cost.few.p99
        );
        costs.push(cost);
    }
    Ok(costs)
}
