# yb_get(): the rows of a dataset.

#' Read rows
#'
#' Reads all rows of a selection, from one snapshot, or fails; a table is never short.
#'
#' Three free requests plan the pull. It then takes the bulk file, where plan and licence allow it,
#' nothing is filtered, the table has more than 100,000 rows or geometry, the file is of the
#' current snapshot and a package that reads Parquet is installed (arrow or nanoparquet). Otherwise
#' it takes pages of the plan's row cap, each an Arrow stream that counts as one request. A pull
#' that needs more requests than the month has left is refused before the first of them.
#'
#' Pages are kept on disk ([yb_settings]). The same pull again costs nothing while the snapshot
#' lasts, and one that was interrupted goes on with the page that it lacks.
#'
#' @param name Name of the dataset.
#' @param start,end First and last date, both inclusive: a `Date`, `"YYYY-MM-DD"`, a moment, which is
#'   the day in its own time zone, or a month or quarter of the package zoo, which is all its days.
#' @param dimensions Text: rows in which any dimension column contains it, ignoring case.
#' @param columns Names of columns, in the order that you want.
#' @param geometry `FALSE` leaves `geometry_wkt` out, which is then not sent.
#' @param snapshot Id of a retained snapshot; the current one unless given.
#' @param as_of A day or a moment: the rows that were current then. A `Date` or `"YYYY-MM-DD"` is the
#'   end of that day in UTC; a moment is a `POSIXct`, or a text with its time zone, such as
#'   `"2026-10-01T09:00:00+13:00"`.
#' @param limit Number of rows at most; all unless given.
#' @param where Named list of conditions, all of which a row meets: by column, or by column and
#'   operator, as in `list(region = c("Otago", "Nelson"), value.ge = 0.1, note = NA)`. Several values
#'   are any of them, `NA` is a null. The service knows the operators: `not`, `ge`, `gt`, `le`, `lt`,
#'   `contains`, `starts` and `null`.
#' @param sort Names of columns to order by; `"-value"` has the largest first.
#' @param last,first Number of the newest or the oldest rows of each series, of those that meet
#'   everything else.
#' @param bbox West, south, east and north in degrees, such as `sf::st_bbox()` has them: rows whose
#'   geometry meets this box.
#' @param to `"tibble"`, `"data.frame"` or `"sf"`. Unless given, a tibble where that package is
#'   installed, else a data frame. `"sf"` turns the WKT text into geometry.
#' @param integers The type of integer columns. `"auto"`: `integer` where all values have room in
#'   32 bits, `double` between -2^53 and 2^53, beyond that `integer64` where the package bit64 is
#'   installed, else an error. `"double"`, `"integer64"` and `"character"` are that type always;
#'   what it cannot hold is an error.
#' @param labels `TRUE` puts labels in place of codes, where the publisher has given any: factors
#'   whose levels are the labels of all values of the version, in their order. A value without a
#'   label stays, those that share a label have their code behind it, `NA` stays `NA`, and other
#'   columns do not change. It costs a request when the metadata of the dataset changed, and one for
#'   a labelled column with more than 10,000 values, which keeps its codes with a warning. What has
#'   labels cannot be verified ([yb_verify()]).
#' @param lang Language of labels, such as `"mi"`, where the dataset has it; else its first.
#' @return A data frame. Dates are `Date`, texts are UTF-8, a null is `NA`, which differs from `""`
#'   and from `NaN`. The credit and the snapshot are in the attribute `yearbook`
#'   ([yb_credit()], [yb_cite()]).
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   try(yb_get("us_macro_quarterly", start = "2009-01-01", columns = c("period", "unemp")))
#' }
yb_get <- function(name, start = NULL, end = NULL, dimensions = NULL, columns = NULL,
                   geometry = TRUE, snapshot = NULL, limit = Inf, to = NULL, integers = "auto",
                   where = NULL, sort = NULL, last = NULL, first = NULL, bbox = NULL,
                   labels = FALSE, lang = NULL, as_of = NULL) {
  check_name(name)
  check_flag(labels, "labels")
  if (!is.null(check_text(lang, "lang")) && !labels) {
    abort_usage("`lang` is the language of labels.", "Add `labels = TRUE`.")
  }
  check_choice(to, TABLE_CHOICES, "to")
  check_choice(integers, INTEGER_CHOICES, "integers")
  # A missing package is an error before a request is spent.
  if (identical(to, "sf")) require_package("sf", "to = \"sf\"")
  if (identical(to, "tibble")) require_package("tibble", "to = \"tibble\"")
  if (integers == "integer64") require_package("bit64", "integers = \"integer64\"")
  query <- selection(start, end, dimensions, columns, geometry, snapshot, where, sort, last, first, bbox, as_of)
  limit <- check_limit(limit)
  budget <- retry_budget()
  labelled <- if (labels) labelled_columns(budget, name)
  pulled <- pull(budget, name, query, limit)
  if (length(labelled)) pulled <- label_columns(budget, name, pulled, labelled, plain_text(lang), query$as_of)
  if (is.finite(limit)) query$limit <- limit
  as_table(pulled, name, query, to, integers)
}

# Rows by bulk file or pages, as `pull_pages()` returns them.
pull <- function(budget, name, query, limit) {
  plan <- plan_pull(budget, name, query, limit)
  filtered <- length(Filter(Negate(is.null), query)) > 0 || is.finite(limit)
  found <- if (!filtered) pull_bulk(budget, name, plan)
  if (!is.null(found)) return(found)
  check_budget(plan$account, function() plan$requests - cached_pages(query, plan))
  pull_pages(budget, name, query, plan)
}
