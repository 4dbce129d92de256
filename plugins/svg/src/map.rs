//! Dot maps: geometries in, a dot for each out.

use std::fmt::Write as _;

use yearbook_sdk::{Batch, Error, Schema};

use crate::credit::DataCredit;
use crate::line::{counted, grouped, push_count};
use crate::number::{exact, whole};
use crate::options::PictureOptions;
use crate::picture::{Area, Picture, Words, coordinate};
use crate::typography::text_width;

use dots::DotStore;
use view::MapView;

mod coast;
pub mod dots;
mod graticule;
pub mod view;

/// Font size of the labels of the graticule, pixels.
const LABEL_SIZE: f64 = 10.5;

/// Pixels of a degree beyond which the coast, drawn for whole countries, would be wrong by more
/// than a dot.
const COARSEST_COAST: f64 = 150.0;

/// A map in the making.
#[derive(Debug)]
pub struct DotMap {
    geometry: usize,
    credit: DataCredit,
    dots: DotStore,
    rows: u64,
    /// Rows without a geometry, or with an empty one.
    unplaced: u64,
    /// Rows whose centroid is beyond the poles.
    misplaced: u64,
}

impl DotMap {
    /// A map without rows, of the geometries of a column.
    #[must_use]
    pub fn new(schema: &Schema, geometry: usize) -> Self {
        Self {
            geometry,
            credit: DataCredit::new(schema),
            dots: DotStore::default(),
            rows: 0,
            unplaced: 0,
            misplaced: 0,
        }
    }

    /// Takes in rows.
    ///
    /// # Errors
    /// [`Error::Internal`] for text that is not WKT: the interface promises it.
    pub fn push(&mut self, batch: &Batch) -> Result<(), Error> {
        let column = batch.column(self.geometry);
        for row in 0..batch.rows() {
            self.rows += 1;
            let centroid = column.text(row).map(yearbook_wkt::centroid).transpose();
            match centroid.map_err(|error| Error::Internal(error.to_string()))?.flatten() {
                None => self.unplaced += 1,
                Some([_, latitude]) if !(-90.0..=90.0).contains(&latitude) => self.misplaced += 1,
                Some(position) => self.dots.push(position),
            }
        }
        Ok(())
    }

    /// The finished picture.
    #[must_use]
    pub fn draw(&self, options: PictureOptions) -> String {
        let mut picture = Picture::begin(options, &self.words());
        let Some(bounds) = self.dots.bounds() else {
            let why =
                if self.rows == 0 { "There are no rows." } else { "No row has a place to draw." };
            let Area { left, top, right, bottom } = picture.area;
            let middle = " text-anchor=\"middle\" font-size=\"13\"";
            picture.text("m", (left + right) / 2.0, (top + bottom) / 2.0, middle, why);
            return picture.end();
        };
        let mut area = picture.area;
        area.left += text_width("45.5° N", LABEL_SIZE) + 4.0;
        area.bottom -= LABEL_SIZE + 8.0;
        let view = MapView::fit(&bounds, &area);
        self.draw_sheet(&mut picture, &view);
        self.draw_dots(&mut picture, &view);
        frame(&mut picture, &view.frame);
        graticule::label(&mut picture, &view, LABEL_SIZE);
        picture.end()
    }

    fn words(&self) -> Words {
        Words {
            source: self.credit.source.clone(),
            title: self.credit.title.clone(),
            subtitle: self.subtitle(),
            notes: self.notes(),
            credit: self.credit.line.clone(),
            description: self.description(),
        }
    }

    fn subtitle(&self) -> String {
        let features = self.rows - self.unplaced - self.misplaced;
        match self.credit.sampled_rows.filter(|all| *all > self.rows) {
            Some(all) => format!("{} of {} features", grouped(features), grouped(all)),
            None => counted(features, "feature", "features"),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        push_count(
            &mut notes,
            self.unplaced,
            "row has no geometry and is",
            "rows have no geometry and are",
        );
        push_count(
            &mut notes,
            self.misplaced,
            "row lies beyond the poles and is",
            "rows lie beyond the poles and are",
        );
        notes
    }

    fn description(&self) -> String {
        let mut words = format!("Map with a dot at the centre of each of {}.", self.subtitle());
        let _ = write!(words, " Drawn from {}.", counted(self.rows, "row", "rows"));
        if let Some(bounds) = self.dots.bounds() {
            let _ = write!(
                words,
                " They lie between {} and {}, and between {} and {} (EPSG:4326).",
                graticule::latitude(bounds.south, hundredths),
                graticule::latitude(bounds.north, hundredths),
                graticule::longitude(bounds.west, hundredths),
                graticule::longitude(bounds.east, hundredths),
            );
        }
        for note in self.notes() {
            words.push(' ');
            words.push_str(&note);
        }
        if !self.credit.line.is_empty() {
            let _ = write!(words, " Credit: {}", self.credit.line);
        }
        words
    }

    /// Land, coast and graticule.
    fn draw_sheet(&self, picture: &mut Picture, view: &MapView) {
        let palette = picture.options.theme.palette();
        let Area { left, top, .. } = view.frame;
        let (width, height) = (view.frame.width(), view.frame.height());
        let [left, top, width, height] = [left, top, width, height].map(coordinate);
        let _ = write!(
            picture.svg,
            "<clipPath id=\"map\"><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/></clipPath><g clip-path=\"url(#map)\">"
        );
        if view.pixels_per_degree <= COARSEST_COAST {
            let land = coast::path(view);
            if !land.is_empty() {
                let _ = write!(
                    picture.svg,
                    "<path class=\"l c\" fill=\"{}\" stroke=\"{}\" stroke-width=\".6\" stroke-linejoin=\"round\" fill-rule=\"evenodd\" d=\"{land}\"/>",
                    palette.land, palette.coast
                );
            }
        }
        graticule::draw(picture, view);
        picture.svg.push_str("</g>");
    }

    fn draw_dots(&self, picture: &mut Picture, view: &MapView) {
        let palette = picture.options.theme.palette();
        let pixels = self.dots.pixels(view);
        let (diameter, opacity) = match pixels.len() {
            0..=120 => (7.0, 1.0),
            121..=600 => (5.0, 0.9),
            601..=3_000 => (3.6, 0.8),
            _ => (2.4, 0.7),
        };
        let count = pixels.len();
        let mut path = String::new();
        for [x, y] in pixels {
            let _ = write!(path, "M{} {}h0", coordinate(x), coordinate(y));
        }
        let cap = "stroke-linecap=\"round\" fill=\"none\"";
        // Rims keep few dots apart; many would only hide each other.
        if count <= 600 {
            let rim = diameter + 2.0;
            let _ = write!(
                picture.svg,
                "<path class=\"h\" stroke=\"{}\" stroke-opacity=\".7\" stroke-width=\"{rim}\" {cap} d=\"{path}\"/>",
                palette.paper
            );
        }
        let _ = write!(
            picture.svg,
            "<path class=\"s s0\" stroke=\"{}\" stroke-opacity=\"{opacity}\" stroke-width=\"{diameter}\" {cap} d=\"{path}\"/>",
            palette.series[0]
        );
    }
}

/// The line around a map.
fn frame(picture: &mut Picture, area: &Area) {
    let ink = picture.options.theme.palette().ink;
    let [left, top, width, height] =
        [area.left, area.top, area.width(), area.height()].map(coordinate);
    let _ = write!(
        picture.svg,
        "<rect class=\"r\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\".75\"/>"
    );
}

/// Degrees rounded to hundredths.
#[expect(clippy::cast_precision_loss, reason = "hundredths of degrees are small numbers")]
fn hundredths(degrees: f64) -> String {
    exact(whole(degrees * 100.0) as f64 / 100.0)
}
