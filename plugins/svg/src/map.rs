//! Maps: geometries in, areas, lines and dots out. Areas and lines have the shade of their value's
//! class, where each has one.

use std::fmt::Write as _;

use yearbook_sdk::{Batch, Error, Field, Schema};

use crate::cells;
use crate::credit::DataCredit;
use crate::options::{MapColumns, PictureOptions};
use crate::picture::{Area, Picture, coordinate};
use crate::typography::text_width;
use crate::xml::{one_line, push_text};

use dots::DotStore;
use outlines::{Drawn, Ink};
use shading::Shading;
use shapes::{Placed, RowFigures, ShapeStore};
use view::MapView;

mod classes;
mod coast;
pub mod dots;
mod graticule;
mod legend;
mod outlines;
mod shading;
mod shapes;
pub mod view;
mod words;

/// Font size of the labels of the graticule, pixels.
const LABEL_SIZE: f64 = 10.5;

/// Pixels of a degree beyond which the coast, drawn for whole countries, would be wrong by more
/// than a dot.
const COARSEST_COAST: f64 = 150.0;

/// Letters of a name at most.
const NAME_LENGTH: usize = 60;

/// A map in the making.
#[derive(Debug)]
pub struct MapPicture {
    columns: MapColumns,
    value: Option<Field>,
    credit: DataCredit,
    dots: DotStore,
    shapes: ShapeStore,
    rows: u64,
    /// Rows without a geometry, or with an empty one.
    unplaced: u64,
    /// Rows with a place beyond the poles.
    misplaced: u64,
    /// Rows whose value is not finite.
    not_finite: u64,
}

impl MapPicture {
    /// A map without rows.
    #[must_use]
    pub fn new(schema: &Schema, columns: MapColumns) -> Self {
        Self {
            value: columns.value.map(|column| schema.fields[column].clone()),
            columns,
            credit: DataCredit::new(schema),
            dots: DotStore::default(),
            shapes: ShapeStore::default(),
            rows: 0,
            unplaced: 0,
            misplaced: 0,
            not_finite: 0,
        }
    }

    /// Takes in rows.
    ///
    /// # Errors
    /// [`Error::Internal`] for text that is not WKT: the interface promises it.
    pub fn push(&mut self, batch: &Batch) -> Result<(), Error> {
        let malformed = |error: yearbook_wkt::MalformedWkt| Error::Internal(error.to_string());
        let geometry = batch.column(self.columns.geometry);
        let [value, date, name] = [self.columns.value, self.columns.date, self.columns.name]
            .map(|column| column.map(|column| batch.column(column)));
        for row in 0..batch.rows() {
            self.rows += 1;
            let Some(text) = geometry.text(row) else {
                self.unplaced += 1;
                continue;
            };
            if self.columns.has_shapes && !is_point(text) {
                let value = value.as_ref().and_then(|column| cells::value(column, row));
                self.not_finite += u64::from(value.is_some_and(|value| !value.is_finite()));
                let name = name.as_ref().and_then(|column| cells::name(column, row));
                let short = |name: String| -> String {
                    one_line(&name).chars().take(NAME_LENGTH).collect()
                };
                let figures = RowFigures {
                    value: value.filter(|value| value.is_finite()),
                    date: date.as_ref().and_then(|column| cells::place(column, row)),
                    name: name.map(|name| short(name).into()),
                };
                match self.shapes.push(text, figures).map_err(malformed)? {
                    Placed::Taken => {}
                    Placed::Empty => self.unplaced += 1,
                    Placed::Beyond => self.misplaced += 1,
                }
                continue;
            }
            match yearbook_wkt::centroid(text).map_err(malformed)? {
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
        let shading = Shading::new(&self.shapes, self.value.as_ref());
        // The number of parts that have room is known when they are drawn, and stands above them.
        match self.attempt(options, &shading, None) {
            Ok(picture) => picture,
            Err(cut) => self.attempt(options, &shading, Some(cut)).unwrap_or_default(),
        }
    }

    /// Draws all parts of shapes, or as many as are given.
    ///
    /// # Errors
    /// The number of parts that have room, and of all, where it is not given.
    fn attempt(
        &self,
        options: PictureOptions,
        shading: &Shading,
        cut: Option<(usize, usize)>,
    ) -> Result<String, (usize, usize)> {
        let mut picture = Picture::begin(options, &self.words(shading, cut));
        let Some(bounds) = self.dots.bounds_with(self.shapes.bounds.clone()) else {
            let why =
                if self.rows == 0 { "There are no rows." } else { "No row has a place to draw." };
            let Area { left, top, right, bottom } = picture.area;
            let middle = " text-anchor=\"middle\" font-size=\"13\"";
            picture.text("m", (left + right) / 2.0, (top + bottom) / 2.0, middle, why);
            return Ok(picture.end());
        };
        if shading.is_shown() {
            legend::define(&mut picture);
            let has_areas = self.shapes.has_areas();
            legend::draw(&mut picture, &shading.classes, shading.without, has_areas);
        }
        let mut area = picture.area;
        area.left += text_width("45.5° N", LABEL_SIZE) + 4.0;
        area.bottom -= LABEL_SIZE + 8.0;
        let view = MapView::fit(&bounds, &area, self.shapes.best_cut());
        self.draw_sheet(&mut picture, &view);
        let most = cut.map_or(usize::MAX, |(parts, _)| parts);
        let drawn = outlines::draw(&self.shapes, &view, &shading.shades, most);
        if cut.is_none() && drawn.parts < drawn.of {
            return Err((drawn.parts, drawn.of));
        }
        self.draw_shapes(&mut picture, shading, &drawn);
        self.draw_dots(&mut picture, &view);
        frame(&mut picture, &view.frame);
        graticule::label(&mut picture, &view, LABEL_SIZE);
        Ok(picture.end())
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

    fn draw_shapes(&self, picture: &mut Picture, shading: &Shading, drawn: &Drawn) {
        let palette = picture.options.theme.palette();
        // Borders of many small areas would hide them.
        let border = (drawn.grain * 0.7).clamp(0.0, 8.0).round();
        let group = if shading.is_shown() {
            format!("class=\"b\" stroke=\"{}\" stroke-width=\"{border}\"", palette.paper)
        } else {
            let colour = palette.series[0];
            let width = border / 2.0 + 3.0;
            format!(
                "class=\"s s0 t0\" fill=\"{colour}\" fill-opacity=\".22\" stroke=\"{colour}\" stroke-width=\"{width}\""
            )
        };
        let _ = write!(
            picture.svg,
            "<g clip-path=\"url(#map)\"><g transform=\"scale(.1)\" stroke-linejoin=\"round\" stroke-linecap=\"round\" {group}>"
        );
        for ink in &drawn.inks {
            self.push_ink(ink, shading, picture);
        }
        picture.svg.push_str("</g></g>");
    }

    /// Writes the paths of a feature with its figures, which readers show who point at it; or those
    /// of a class.
    fn push_ink(&self, ink: &Ink, shading: &Shading, picture: &mut Picture) {
        let palette = picture.options.theme.palette();
        let svg = &mut picture.svg;
        let title = ink.feature.and_then(|feature| self.figures_in_words(feature, shading));
        if let Some(title) = &title {
            svg.push_str("<g><title>");
            push_text(title, svg);
            svg.push_str("</title>");
        }
        let (fill, line) = if shading.is_shown() {
            let name = ink.shade.map_or_else(|| "n".to_owned(), |shade| shade.to_string());
            let (class, colour, width) = legend::line_style(palette, ink.shade);
            let width = width * 10.0;
            (
                format!(" fill=\"url(#k{name})\""),
                format!(" class=\"{class}\" stroke=\"{colour}\" stroke-width=\"{width}\""),
            )
        } else {
            (String::new(), " stroke-width=\"12\"".to_owned())
        };
        for (attributes, path) in [
            (fill.clone(), &ink.areas),
            (format!("{fill} stroke=\"none\" style=\"stroke:none\""), &ink.halves),
            (" fill=\"none\" style=\"fill:none\"".to_owned(), &ink.borders),
            (format!(" fill=\"none\" style=\"fill:none\"{line}"), &ink.lines),
        ] {
            if !path.is_empty() {
                let _ = write!(svg, "<path{attributes} d=\"{path}\"/>");
            }
        }
        if title.is_some() {
            svg.push_str("</g>");
        }
    }

    fn draw_dots(&self, picture: &mut Picture, view: &MapView) {
        let palette = picture.options.theme.palette();
        let pixels = self.dots.pixels(view);
        if pixels.is_empty() {
            return;
        }
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

/// Returns whether a text is of points alone, which are drawn as dots.
fn is_point(text: &str) -> bool {
    let kind = yearbook_wkt::WktReader::new(text).kind();
    matches!(kind, Ok(yearbook_wkt::GeometryKind::Point | yearbook_wkt::GeometryKind::MultiPoint))
}
