# yb_cite(): citations of results, for papers.
#
# Asks the service, whose citation of a query is the same text for everyone, and makes one of the
# result's headers where the service has none. Needs no key and costs nothing.

#' Cite a result
#'
#' The author is the publishing agency, the year that of the snapshot, and the version the
#' snapshot's id, so that the citation leads to exactly these rows.
#'
#' @param x A result of [yb_get()], [yb_changes()] or [yb_sync()].
#' @param online `FALSE` makes the citation from what the result carries, without a request.
#' @return A `citation` (and [utils::bibentry()]): print it, or pass it to [utils::toBibtex()]. The
#'   attribute `address` leads to the citation's page.
#' @export
#' @examples
#' citation <- yb_cite(yb_example(), online = FALSE)
#' citation
#' toBibtex(citation)
yb_cite <- function(x, online = TRUE) {
  from <- provenance(x)
  check_flag(online, "online")
  served <- if (online) served_citation(from)
  date <- snapshot_date(from)
  title <- or_default(served$title, from$name)
  address <- citation_address(from)
  text <- or_default(served$text, citation_text(from, title, date, address))
  entry <- utils::bibentry(
    bibtype = "Misc",
    key = citation_key(from),
    title = latex(title),
    author = utils::person(family = latex(from$source)),
    year = if (is.na(date)) "n.d." else format(date, "%Y"),
    version = from$snapshot,
    note = latex(paste0("Data set. Version ", from$snapshot, ". ", from$attribution)),
    url = address,
    textVersion = text
  )
  class(entry) <- c("citation", "bibentry")
  attr(entry, "address") <- address
  entry
}

# The citation of the service: `text` and `title`. NULL where it has none or cannot be reached.
served_citation <- function(from) {
  budget <- retry_budget()
  read <- function(format) {
    answer <- ask(budget, cite_path(from), c(cite_query(from), list(format = format)), keyed = FALSE)
    utf8(rawToChar(answer$body))
  }
  tryCatch({
    same_service(from)
    item <- jsonlite::fromJSON(read("csl-json"), simplifyVector = FALSE)
    # One item, or a list of them.
    if (is.null(names(item))) item <- item[[1]]
    list(text = trimws(read("text")), title = item$title)
  }, error = function(error) NULL)
}

same_service <- function(from) {
  if (identical(origin_of(base_url()), origin_of(from$base_url))) return(invisible())
  abort_usage(
    sprintf("The result comes from %s, and SERVICE_BASE_URL is another.", from$base_url),
    "Set SERVICE_BASE_URL to the service that the result comes from."
  )
}

cite_path <- function(from) sprintf("/cite/%s/%s", from$name, from$snapshot)

# Parameters that decide rows and columns, without defaults, sorted by name.
cite_query <- function(from) {
  query <- Filter(Negate(is.null), from$query)
  query <- query[!names(query) %in% c("snapshot", "as_of", "since")]
  # A limit that held nothing back decides nothing.
  if (!is.null(query$limit)) {
    whole <- if (is.na(from$total)) from$rows < query$limit else from$total <= query$limit
    query$limit <- if (!whole) sprintf("%.0f", query$limit)
  }
  query[order(names(query), method = "radix")]
}

# Address of the citation. Of the service's own link only the beginning is taken: it cites the page
# that it came with, and a result may have several.
citation_address <- function(from) {
  base <- if (is.na(from$cite_as)) from$base_url else sub("/cite/.*", "", from$cite_as)
  paste0(base, cite_path(from), query_text(cite_query(from)))
}

# Date of the snapshot: `Last-Modified` of its rows.
snapshot_date <- function(from) as.Date(http_date(from$last_modified) / 86400, origin = "1970-01-01")

citation_text <- function(from, title, date, address) {
  sprintf(
    "%s (%s). %s [data set]. Version %s (snapshot %s). %s. Rows: %.0f. Licence: %s.",
    from$source, if (is.na(date)) "n.d." else format(date, "%Y"), title,
    if (is.na(date)) "n.d." else format(date, "%Y-%m-%d"), from$snapshot, address, from$rows,
    from$licence
  )
}

citation_key <- function(from) paste(from$name, substr(from$snapshot, 1, 8), sep = "_")

# Text with the characters escaped that mean something in LaTeX.
latex <- function(text) {
  text <- gsub("\\", "\001", text, fixed = TRUE)
  text <- gsub("([&%$#_{}])", "\\\\\\1", text)
  text <- gsub("~", "\\textasciitilde{}", text, fixed = TRUE)
  text <- gsub("^", "\\textasciicircum{}", text, fixed = TRUE)
  gsub("\001", "\\textbackslash{}", text, fixed = TRUE)
}
