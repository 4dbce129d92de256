# Reads datasets of a statistics service into data frames with typed columns.
#
# The key comes from SERVICE_API_KEY. The attribute "attribution" of each data frame must be passed on
# with the data, word for word.

library(httr2)
library(jsonlite)

base_url <- Sys.getenv("SERVICE_BASE_URL", "http://localhost:8080")

# Credits, rows of a request, and the columns with their types.
datasets <- list()

# What each type is made of, and how the values of a column become it. R's integers have 32 bits.
types <- list(
  text = list(missing = NA_character_, convert = as.character),
  integer = list(missing = NA_real_, convert = as.numeric),
  number = list(missing = NA_real_, convert = as.numeric),
  boolean = list(missing = NA, convert = as.logical),
  date = list(missing = NA_character_, convert = function(x) as.Date(as.character(x), format = "%Y-%m-%d"))
)

# All rows of a dataset, of one snapshot.
read_dataset <- function(name) {
  dataset <- datasets[[name]]
  query <- list(format = "json", limit = format(dataset$rows, scientific = FALSE))
  pages <- list()
  repeat {
    response <- ask(name, query)
    pages[[length(pages) + 1]] <- page(fromJSON(resp_body_string(response), simplifyVector = FALSE), dataset$columns)
    cursor <- resp_header(response, "X-Next-Page")
    if (is.null(cursor)) break
    query$cursor <- cursor
  }
  columns <- lapply(names(dataset$columns), function(column) do.call(c, lapply(pages, `[[`, column)))
  names(columns) <- names(dataset$columns)
  frame <- structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
  for (credit in c("title", "attribution", "licence", "source", "source_url")) attr(frame, credit) <- dataset[[credit]]
  frame
}

# The columns of some rows. Taken one by one: a guess at types would take a text such as "NA" for nothing.
page <- function(rows, columns) {
  sapply(names(columns), simplify = FALSE, function(column) {
    type <- types[[columns[[column]]]]
    values <- lapply(rows, function(row) if (is.null(row[[column]])) type$missing else row[[column]])
    type$convert(if (length(values) == 0) type$missing[0] else unlist(values))
  })
}

# A successful response. Waits where the service says for how long.
ask <- function(name, query) {
  request(base_url) |>
    req_url_path_append("v1", "datasets", name, "data") |>
    req_url_query(!!!query) |>
    req_headers("X-API-Key" = Sys.getenv("SERVICE_API_KEY")) |>
    req_retry(max_tries = 5) |>
    req_perform()
}

# When run as a script, not when sourced.
if (sys.nframe() == 0) {
  for (name in names(datasets)) {
    str(read_dataset(name))
    message(datasets[[name]]$attribution)
  }
}
