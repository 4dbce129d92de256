# Results: columns of a pull to the data frame that the caller asked for, with its credit.

TABLE_CHOICES <- c("tibble", "data.frame", "sf")

# A data frame of `pulled`, with the attribute `yearbook`: what was read, from which snapshot, whom
# to credit.
as_table <- function(pulled, name, query, to, integers, base = base_url()) {
  about <- pulled$about
  columns <- Map(function(values, column, type) {
    if (is_int64(values)) return(int64_as(values, integers, column))
    # A text that is no date of the calendar stays text, rather than become NA.
    if (type == "time") return(.POSIXct(seconds_of(values), tz = "UTC"))
    if (type == "date" && is.character(values)) return(or_default(dates_from_text(values), values))
    values
  }, pulled$columns, about$name, about$type)
  names(columns) <- about$name
  frame <- structure(columns, class = "data.frame", row.names = .set_row_names(pulled$rows))
  provenance <- provenance_of(pulled, name, query, base)
  if (identical(to, "sf")) {
    frame <- as_sf(frame)
  } else {
    frame <- as_result_frame(frame, to)
  }
  attr(frame, "yearbook") <- provenance
  frame
}

provenance_of <- function(pulled, name, query, base = base_url()) {
  headers <- pulled$headers
  header <- function(key) or_default(headers[[key]], NA_character_)
  known <- function(key) or_default(pulled$metadata[[key]], NA_character_)
  structure(class = "yb_provenance", list(
    name = name,
    namespace = header("x-service-namespace"),
    snapshot = header("x-service-snapshot-id"),
    query = query,
    rows = pulled$rows,
    total = count_in(headers, "x-service-total-rows"),
    columns = pulled$about,
    attribution = header("x-service-attribution"),
    source = header("x-service-source"),
    source_url = header("x-service-source-url"),
    licence = header("x-service-licence"),
    licence_title = known("yearbook.licence_title"),
    licence_url = known("yearbook.licence_url"),
    last_modified = header("last-modified"),
    base_url = base,
    cite_as = cite_link(headers)
  ))
}

# The address of `rel="cite-as"` (RFC 8574), NA without one.
cite_link <- function(headers) {
  link <- or_default(headers[["link"]], "")
  found <- regmatches(link, regexec("<([^>]*)>; *rel=\"?cite-as\"?", link))[[1]]
  if (length(found) < 2) NA_character_ else found[2]
}

#' @export
print.yb_provenance <- function(x, ...) {
  cat(x$name, ", snapshot ", x$snapshot, "\n", x$attribution, "\nLicence: ", x$licence, "\n", sep = "")
  invisible(x)
}

# The attribute of a result, or an error that says what to pass.
provenance <- function(x) {
  found <- attr(x, "yearbook", exact = TRUE)
  if (inherits(found, "yb_provenance")) return(found)
  abort_usage("This is no result of `yb_get()`.", "Pass the data frame as `yb_get()` returned it.")
}

# An sf data frame: `geometry_wkt` becomes its geometry in EPSG:4326. A null is an empty geometry.
as_sf <- function(frame) {
  require_package("sf", "to = \"sf\"")
  if (!"geometry_wkt" %in% names(frame)) {
    abort_usage("The result has no geometry.", "Leave `to = \"sf\"` out, or ask with `geometry = TRUE`.")
  }
  text <- frame$geometry_wkt
  text[is.na(text)] <- "GEOMETRYCOLLECTION EMPTY"
  frame$geometry_wkt <- NULL
  frame$geometry <- sf::st_as_sfc(text, crs = 4326)
  sf::st_as_sf(frame, sf_column_name = "geometry")
}

#' The credit of a result
#'
#' Pass it on verbatim wherever you show the data.
#'
#' @param x A result of [yb_get()], [yb_changes()] or [yb_sync()].
#' @return One text.
#' @export
#' @examples
#' result <- yb_example()
#' yb_credit(result)
yb_credit <- function(x) provenance(x)$attribution
