//! Requests to paste into a terminal, one for each thing worth seeing.

use std::path::Path;

/// The text, with address and key filled in; `rows` is the size of the generated table, `on_path` a
/// line that finds the program and `data_dir` where it keeps the demo.
pub(super) fn to_try(base: &str, key: &str, rows: u64, on_path: &str, data_dir: &Path) -> String {
    let data_dir = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    let data_dir = data_dir.display();
    format!(
        r#"
The catalogue is at {base}/ : open it in a browser (Ctrl-C ends the service).

For requests, paste this into another terminal first:

  export YEARBOOK={base} KEY={key}

No key needed: is it well, and what does a dataset look like?
  curl -s $YEARBOOK/health/full
  curl -s $YEARBOOK/v1/datasets/co2_concentration_monthly/preview

What there is, and what one dataset is:
  curl -s -H "X-API-Key: $KEY" $YEARBOOK/v1/datasets
  curl -s -H "X-API-Key: $KEY" $YEARBOOK/v1/datasets/us_macro_quarterly

Rows as JSON, with a date range; the headers carry the credit, the snapshot and the next page:
  curl -si -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/us_macro_quarterly/data?start=2008-01-01&end=2009-12-31"

The four formats, whole:
  curl -s -H "X-API-Key: $KEY" -o macro.json    "$YEARBOOK/v1/datasets/us_macro_quarterly/data?limit=0"
  curl -s -H "X-API-Key: $KEY" -o macro.csv     "$YEARBOOK/v1/datasets/us_macro_quarterly/data?limit=0&format=csv"
  curl -s -H "X-API-Key: $KEY" -o macro.arrow   "$YEARBOOK/v1/datasets/us_macro_quarterly/data?limit=0&format=arrow"
  curl -s -H "X-API-Key: $KEY" -o macro.parquet "$YEARBOOK/v1/datasets/us_macro_quarterly/data?limit=0&format=parquet"

Formats that were installed:
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/us_macro_quarterly/data?limit=3&format=ndjson"
  curl -s -H "X-API-Key: $KEY" -o macro.xlsx    "$YEARBOOK/v1/datasets/us_macro_quarterly/data?limit=0&format=xlsx"
  curl -s -H "X-API-Key: $KEY" -o regions.geojson "$YEARBOOK/v1/datasets/nz_regional_councils_2018/data?limit=1000&format=geojson"

Rows where a text column contains a word, and two columns of them:
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/us_unemployment_by_industry/data?dimensions=manufact&limit=5"
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/gapminder_indicators/data?dimensions=zealand&columns=period,life_expect"

Page by page: Link and X-Next-Page lead to the next one, on the same snapshot:
  NEXT=$(curl -sD - -o /dev/null -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/weather_daily_two_cities/data?limit=3" | tr -d '\r' | sed -n 's/^x-next-page: //Ip')
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/weather_daily_two_cities/data?limit=3&cursor=$NEXT"

Boundaries, with and without their geometry:
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/nz_regions_indicators/data?limit=1" | head -c 300
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/nz_regional_councils_2018/data?limit=0&geometry=false"

Points with dates, and what changed between two versions (of made-up data):
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/noaa_atlantic_storms/data?start=2005-08-23&end=2005-08-31&dimensions=katrina"
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/synthetic_nz_retail_quarterly/changes?limit=4"

{rows} rows, streamed:
  curl -H "X-API-Key: $KEY" -o long.parquet "$YEARBOOK/v1/datasets/synthetic_long_{rows}/data?start=1900-01-01&limit=0&format=parquet"

What is refused, and how: no key, three wrong parameters at once, an unbounded pull:
  curl -si $YEARBOOK/v1/datasets
  curl -s -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/us_macro_quarterly/data?start=2020-13-01&limit=-1&format=xml"
  curl -si -H "X-API-Key: $KEY" "$YEARBOOK/v1/datasets/penn_world_table_9_1_long/data?limit=0"

What the key may do and has used:
  curl -s -H "X-API-Key: $KEY" $YEARBOOK/v1/me

What an operator sees, while it serves:
  {on_path}
  export YEARBOOK_DATA_DIR={data_dir}
  yearbook datasets list
  yearbook plugin list

A key by sign-up: send an address at {base}/signup, then open the link of the mail that waits:
  yearbook signup outbox --json
"#
    )
}
