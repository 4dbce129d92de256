# yb_link(): addresses of rows that need no key. Owns that nothing prints one.

#' Make a link to rows
#'
#' A link is an address that gives rows to whoever has it, without a key: for spreadsheets and
#' programs that cannot send one. What it reads counts for the key that made it. It is as secret as
#' that key, so it is not printed; `$url` has it. Making one costs nothing.
#'
#' @inheritParams yb_get
#' @param format Format of the rows, such as `"csv"`; JSON unless given.
#' @param days Number of days until the link ends, 366 at most.
#' @param limit Number of rows at most; all unless given, as far as one answer of your plan goes.
#' @return A list of class `yb_link`: `url`, `expires_at`, `format` and `selection`.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   try(yb_link("us_unemployment_by_industry", where = list(measure = "rate"), last = 1))
#' }
yb_link <- function(name, format = NULL, days = 30, start = NULL, end = NULL, dimensions = NULL,
                    columns = NULL, geometry = TRUE, snapshot = NULL, limit = Inf, where = NULL,
                    sort = NULL, last = NULL, first = NULL, bbox = NULL, as_of = NULL) {
  check_name(name)
  limit <- check_limit(limit)
  # The service's own default is a hundred rows.
  own <- list(
    limit = sprintf("%.0f", if (is.finite(limit)) limit else 0),
    format = check_text(format, "format"), days = sprintf("%.0f", check_limit(days, "days"))
  )
  query <- selection(start, end, dimensions, columns, geometry, snapshot, where, sort, last, first, bbox, as_of)
  answer <- ask(
    retry_budget(), sprintf("/v1/datasets/%s/link", name), c(query, own),
    headers = list(Accept = "application/json")
  )
  warn_ignored(answer$headers)
  link <- answer_document(answer)[c("url", "expires_at", "format", "selection")]
  if (!all(vapply(link, is.character, NA))) abort_unreadable("a link has no address or no end")
  structure(link, class = "yb_link")
}

#' @export
print.yb_link <- function(x, ...) {
  cat("A link to rows as ", x$format, ", until ", x$expires_at, "; `$url` has it\n", sep = "")
  invisible(x)
}

#' @importFrom utils str
#' @export
str.yb_link <- function(object, ...) print(object)
