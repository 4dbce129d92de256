# yb_download(): a file in any format that the service has loaded.

#' Download a file
#'
#' Writes all rows of a selection to a file, whole or not at all: the file appears when its last
#' byte has arrived and its end was checked. It is as the service sends it: with codes, not labels.
#'
#' A whole dataset as Parquet is the stored bulk file where plan and licence allow it: an
#' interrupted transfer is resumed, and the digest is checked. Where the plan's row cap is smaller
#' than the table, `"csv"`, `"ndjson"` and `"arrow"` are joined from pages; other formats are one
#' answer each, and an error says so.
#'
#' @inheritParams yb_get
#' @param path File to write; replaced if it is there. Unless given, the dataset's name and the
#'   format in the working directory's temporary folder ([tempdir()]).
#' @param format `"parquet"`, `"csv"`, `"arrow"`, `"json"` or another that the service has loaded.
#' @param options Named list of options of the format, such as `list(csv.delimiter = ";")`.
#' @return The path, invisibly. The attribute `yearbook` holds credit and snapshot.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   try(yb_download("us_macro_quarterly", tempfile(fileext = ".csv"), format = "csv"))
#' }
yb_download <- function(name, path = NULL, format = "parquet", start = NULL, end = NULL,
                        dimensions = NULL, columns = NULL, geometry = TRUE, snapshot = NULL,
                        limit = Inf, options = list(), where = NULL, sort = NULL, last = NULL,
                        first = NULL, bbox = NULL, as_of = NULL) {
  check_name(name)
  check_text(format, "format")
  if (is.null(path)) path <- file.path(tempdir(), paste0(name, ".", format))
  folder <- dirname(path)
  if (!dir.exists(folder)) abort_usage(sprintf("There is no folder %s.", folder), "Make it first.")
  if (file.exists(path) && !is_file(path)) {
    abort_usage(sprintf("%s is there and no file.", path), "Name a file that may be replaced.")
  }
  query <- selection(start, end, dimensions, columns, geometry, snapshot, where, sort, last, first, bbox, as_of)
  limit <- check_limit(limit)
  budget <- retry_budget()
  plan <- plan_pull(budget, name, query, limit)
  filtered <- length(Filter(Negate(is.null), query)) > 0 || is.finite(limit) || length(options) > 0
  scratch <- tempfile("new-", folder, ".part")
  on.exit(unlink(scratch))
  headers <- if (format == "parquet" && !filtered) bulk_download(budget, name, plan, scratch)
  if (is.null(headers)) {
    headers <- download_rows(budget, name, c(query, options), plan, format, scratch)
  }
  if (!move_file(scratch, path)) abort_disk(path)
  rows <- or_default(attr(headers, "rows"), plan$total)
  if (is.finite(limit)) query$limit <- limit
  about <- data.frame(name = character(), type = character())
  attr(path, "yearbook") <- provenance_of(
    list(headers = headers, rows = rows, about = about, metadata = list()), name, query
  )
  invisible(path)
}

# The bulk file of the planned snapshot in `scratch`; its headers, or NULL where there is none.
bulk_download <- function(budget, name, plan, scratch) {
  if (!may_use_bulk(name, plan$account)) return(NULL)
  namespace <- plan$headers[["x-service-namespace"]]
  headers <- bulk_headers(budget, namespace, name, plan$account)
  if (is.null(headers) || !identical(headers[["x-service-snapshot-id"]], plan$snapshot)) return(NULL)
  file <- bulk_file(budget, namespace, name, headers)
  on.exit(release(file))
  copy_file(file$path, scratch)
  headers
}

# Formats whose pages can be joined, each with its function (`R/joining.R`).
joiners <- function() list(csv = join_csv, ndjson = join_lines, arrow = join_arrow)

# Rows in one answer, or joined from pages, in `scratch`; the headers of the first.
download_rows <- function(budget, name, query, plan, format, scratch) {
  capped <- !is.na(plan$account$row_cap)
  page <- if (capped) plan$page else if (is.na(plan$total)) PAGE_ROWS else max(1, plan$total)
  if (!is.null(query$sort)) page <- min(page, SORTED_ROWS)
  join <- joiners()[[format]]
  if (is.null(join) && isTRUE(plan$total > page)) abort_one_answer(format, plan)
  query_of <- function(rows, cursor = NULL) {
    c(query, list(limit = sprintf("%.0f", min(page, plan$limit - rows)), format = format, cursor = cursor))
  }
  check_budget(plan$account, function() {
    pages <- if (is.na(plan$total)) 1 else max(1, ceiling(plan$total / page))
    # A first page of this snapshot on disk is confirmed at no charge.
    entry <- cache_find(data_address(name), query_of(0))
    pages - identical(entry$headers[["x-service-snapshot-id"]], plan$snapshot)
  })
  first <- NULL
  cursor <- NULL
  rows <- 0
  repeat {
    answer <- fetch(budget, data_address(name), query_of(rows, cursor), verify = function(path, headers) {
      check_body(path, headers, format)
    })
    if (is.null(first)) {
      first <- answer$headers
      copy_file(answer$path, scratch)
    } else {
      check_snapshot(first, answer$headers)
      join(scratch, answer$path)
    }
    release(answer)
    found <- count_in(answer$headers, "x-service-rows")
    rows <- rows + if (is.na(found)) page else found
    following <- answer$headers[["x-next-page"]]
    if (is.null(following) || rows >= plan$limit) break
    if (is.null(join)) abort_one_answer(format, plan)
    if (identical(following, cursor) || isTRUE(found == 0)) {
      abort_unreadable("a page does not lead on to the next")
    }
    cursor <- following
  }
  total <- min(count_in(first, "x-service-total-rows"), plan$limit)
  if (!is.na(total) && rows != total) abort_short(rows, total)
  attr(first, "rows") <- if (!is.na(total)) total
  first
}

abort_one_answer <- function(format, plan) {
  abort_usage(
    sprintf("The format %s is one answer, and the plan allows %.0f rows in one.", format, plan$page),
    "Choose \"csv\" or \"arrow\", which are joined from pages, or bounds: `start`, `end`, `limit`."
  )
}
