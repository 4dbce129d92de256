//! A catalog to measure by: the datasets of the demo, and 1,500 made-up ones such as statistical
//! offices publish, which share their words.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{ColumnText, DatasetShape, SearchDocument};

/// Name, title, topic and unit of a subject.
const SUBJECTS: [(&str, &str, &str, &str); 30] = [
    ("population_estimates", "Population estimates", "population", "persons"),
    ("unemployment_rate", "Unemployment rate", "employment and earnings", "proportion"),
    ("employed_persons", "Employed persons", "employment and earnings", "persons"),
    ("average_hourly_earnings", "Average hourly earnings", "employment and earnings", "dollars"),
    ("median_household_income", "Median household income", "income", "dollars"),
    ("median_weekly_rent", "Median weekly rent", "housing", "dollars"),
    ("house_price_index", "House price index", "prices", "index"),
    ("consumer_price_index", "Consumer price index", "prices", "index"),
    ("food_prices", "Food prices", "prices", "dollars"),
    ("building_consents", "Building consents issued", "housing", "dwellings"),
    ("greenhouse_gas_emissions", "Greenhouse gas emissions", "environment", "kilotonnes"),
    ("electricity_generation", "Electricity generation", "energy", "gigawatt hours"),
    ("water_abstraction", "Water abstraction", "environment", "cubic metres"),
    ("dairy_cattle_numbers", "Dairy cattle numbers", "agriculture", "head"),
    ("sheep_numbers", "Sheep numbers", "agriculture", "head"),
    ("grain_harvest", "Grain harvest", "agriculture", "tonnes"),
    ("merchandise_exports", "Merchandise exports", "trade", "dollars"),
    ("merchandise_imports", "Merchandise imports", "trade", "dollars"),
    ("retail_sales", "Retail sales", "trade", "dollars"),
    ("international_visitors", "International visitor arrivals", "tourism", "arrivals"),
    ("hotel_guest_nights", "Hotel guest nights", "tourism", "nights"),
    ("hospital_admissions", "Hospital admissions", "health", "admissions"),
    ("adult_obesity", "Adult obesity", "health", "proportion"),
    ("births_registered", "Births registered", "population", "births"),
    ("school_enrolments", "School enrolments", "education", "pupils"),
    ("recorded_burglaries", "Recorded burglaries", "crime", "offences"),
    ("road_traffic_deaths", "Road traffic deaths", "transport", "deaths"),
    ("vehicle_registrations", "Vehicle registrations", "transport", "vehicles"),
    ("speakers_of_te_reo_maori", "Speakers of te reo Māori", "culture", "persons"),
    ("business_births", "Business births and deaths", "business", "enterprises"),
];

const BREAKDOWNS: [(&str, &str); 10] = [
    ("by_region", "by region"),
    ("by_local_authority", "by local authority"),
    ("by_age_group", "by age group"),
    ("by_sex", "by sex"),
    ("by_ethnic_group", "by ethnic group"),
    ("by_industry", "by industry"),
    ("by_household_type", "by household type"),
    ("monthly", "monthly"),
    ("quarterly", "quarterly"),
    ("annual", "annual"),
];

const COUNTRIES: [(&str, &str, &str); 5] = [
    ("nz", "New Zealand", "Stats NZ"),
    ("australia", "Australia", "Australian Bureau of Statistics"),
    ("canada", "Canada", "Statistics Canada"),
    ("ireland", "Ireland", "Central Statistics Office"),
    ("scotland", "Scotland", "National Records of Scotland"),
];

/// The datasets of the demo.
pub(super) fn demo() -> Vec<SearchDocument> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let mut documents = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("datapackage.json");
        if path.is_file() {
            let package: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            documents.push(read(&package));
        }
    }
    assert!(documents.len() >= 30, "the demo has lost its datasets");
    documents
}

fn read(package: &Value) -> SearchDocument {
    let text = |pointer: &str| package.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let list = |pointer: &str| package.pointer(pointer).and_then(Value::as_array).unwrap();
    let field = |field: &Value, key: &str| field[key].as_str().map(str::to_owned);
    SearchDocument {
        name: text("/name").unwrap(),
        title: text("/title"),
        other_titles: Vec::new(),
        other_prose: Vec::new(),
        description: text("/description"),
        columns: list("/resources/0/schema/fields")
            .iter()
            .map(|column| ColumnText {
                name: field(column, "name").unwrap(),
                description: field(column, "description"),
            })
            .collect(),
        agency: text("/yearbook/source").unwrap(),
        keywords: list("/keywords").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        licence: text("/licenses/0/name").unwrap(),
        shapes: vec![DatasetShape::Table],
        cadence: text("/yearbook/refresh_cadence"),
    }
}

/// `count` made-up datasets; beyond 1,500 the same again in further editions.
pub(super) fn synthetic(count: usize) -> Vec<SearchDocument> {
    let kinds = SUBJECTS.len() * BREAKDOWNS.len() * COUNTRIES.len();
    (0..count)
        .map(|number| {
            let (kind, edition) = (number % kinds, number / kinds);
            let (subject, rest) = (kind % SUBJECTS.len(), kind / SUBJECTS.len());
            let (breakdown, country) = (rest % BREAKDOWNS.len(), rest / BREAKDOWNS.len());
            let (slug, title, topic, unit) = SUBJECTS[subject];
            let (by_slug, by) = BREAKDOWNS[breakdown];
            let (place_slug, place, agency) = COUNTRIES[country];
            let suffix = if edition == 0 { String::new() } else { format!("_{edition}") };
            let column = |name: &str, description: &str| ColumnText {
                name: name.to_owned(),
                description: Some(description.to_owned()),
            };
            SearchDocument {
                name: format!("{place_slug}_{slug}_{by_slug}{suffix}"),
                title: Some(format!("{title} {by}, {place}")),
                other_titles: Vec::new(),
                other_prose: Vec::new(),
                description: Some(format!(
                    "{title} in {place} {by}, as {agency} publishes them. Figures are rounded, and revised when late returns come in."
                )),
                columns: vec![
                    column("date", "First day of the period."),
                    column(by_slug.trim_start_matches("by_"), "The class of the breakdown."),
                    column(slug, &format!("{title}, {unit}.")),
                ],
                agency: agency.to_owned(),
                keywords: vec![topic.to_owned()],
                licence: "CC-BY-4.0".to_owned(),
                shapes: vec![DatasetShape::Series],
                cadence: Some("monthly".to_owned()),
            }
        })
        .collect()
}
