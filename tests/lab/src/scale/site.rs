//! A data folder, a database and servers on them. Owns what is published there and how the database
//! is observed from outside.

use std::path::{Path, PathBuf};

use anyhow::Result;
use yearbook_xtask::checks::postgres::Postgres;
use yearbook_xtask::demo;
use yearbook_xtask::repository::Repository;

use crate::load::LoadGenerator;
use crate::machine;
use crate::process;
use crate::product::{Product, ProductServer};

/// Rows of each of many datasets: ten years of months.
const ROWS: u64 = 120;

pub(super) struct ScaleSite<'a> {
    repository: &'a Repository,
    pub(super) product: Product,
    folder: PathBuf,
    /// Its name, as figures have it.
    pub(super) database: &'static str,
    server: Option<&'a Postgres>,
    pub(super) generator: LoadGenerator,
}

impl<'a> ScaleSite<'a> {
    /// An empty folder, and in PostgreSQL a schema of its own.
    pub(super) fn new(
        repository: &'a Repository,
        binary: &Path,
        folder: PathBuf,
        database: &'static str,
        server: Option<&'a Postgres>,
    ) -> Result<Self> {
        let mut product = Product::new(binary, folder.join("data"))?;
        if let Some(server) = server {
            let url = format!("{}&options[search_path]=scale", server.url());
            product = product.with("YEARBOOK_DATABASE_URL", url);
        }
        let generator = LoadGenerator::new(repository, machine::shared().generator);
        Ok(Self { repository, product, folder, database, server, generator })
    }

    /// A table for requests to read.
    pub(super) fn publish_million_rows(&self) -> Result<()> {
        self.product.publish(&[demo::million_rows(self.repository)?])
    }

    /// The package of a dataset; another edition has other values.
    pub(super) fn package(&self, number: u64, edition: u64) -> Result<PathBuf> {
        yearbook_generate::numbered_package(number, ROWS, edition, &self.folder.join("packages"))
    }

    /// Serves without a cache of responses.
    pub(super) fn serve(&self) -> Result<ProductServer> {
        self.product.serve(&machine::all(), false)
    }

    /// Seconds of processor time that the database's processes have used; 0 where it is part of the
    /// server.
    pub(super) fn database_cpu(&self) -> Result<f64> {
        self.server.map_or(Ok(0.0), |server| process::tree_cpu_time(server.id()))
    }
}
