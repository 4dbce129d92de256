"""The tables of the benchmark, as its scripts and the page of Python know them."""

# Primary keys. Their order is the order in which the service sends rows.
KEYS = {
    "long": ["date", "series_code"],
    "long_10m": ["date", "series_code"],
    "areas": ["area_code"],
    "many_areas": ["area_code"],
    "places": ["area_code"],
    "boundaries": ["area_code"],
    "datasets": ["name"],
}
# Columns that a search looks at.
DIMENSIONS = {"long": ["series_code", "region", "industry", "measure"]}
