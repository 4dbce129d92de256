# yb_revisions(): rows as often as they were published differently, and tables of vintages.
#
# Owns the two shapes, the moments as `POSIXct`, and that a vintage is never made of less than what was
# known then: what would leave out a part is refused.

# Columns of the moments between which a row stood.
STOOD <- c("_valid_from", "_valid_to")

# Roles of columns that tell rows apart. Others, such as statuses, change from version to version.
KEY_ROLES <- c("date", "period", "dimension", "key")

#' Read revisions
#'
#' All versions of the selected rows: what was known when. Each answer of the service costs a request.
#'
#' Long, there is a row for each version of a row, with `_valid_from` and `_valid_to`, between which it
#' was what the service said; `NA` is until now. Wide, there is a row for each date and series, and a
#' column for each time at which rows changed, called by it, such as `2026-08-20T22:45:00Z`: values as
#' they were known then, `NA` before a row was known and after it went. With `since` the first of these
#' columns is `since` itself, where rows stood then.
#'
#' @inheritParams yb_get
#' @param columns Names of columns, in the order that you want; `_valid_from` and `_valid_to` come
#'   always.
#' @param since A day or a moment, as `as_of` of [yb_get()]: leaves out what had ended before.
#' @param shape `"long"` or `"wide"`.
#' @param value Name of the column whose vintages are wanted, where there are several with values.
#' @param limit Number of rows at most; all unless given. It would cut vintages, so a wide table has
#'   none.
#' @param to `"tibble"` or `"data.frame"`. Unless given, a tibble where that package is installed, else
#'   a data frame.
#' @return A data frame. A wide one has the columns that tell rows apart, which are those with the roles
#'   date, period, dimension and key, and one for each vintage.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   gisborne <- list(region = "Gisborne")
#'   try(yb_revisions("synthetic_nz_retail_quarterly", where = gisborne, shape = "wide"))
#' }
yb_revisions <- function(name, since = NULL, shape = "long", value = NULL, start = NULL, end = NULL,
                         dimensions = NULL, columns = NULL, geometry = TRUE, where = NULL, sort = NULL,
                         bbox = NULL, limit = Inf, to = NULL, integers = "auto") {
  check_name(name)
  if (is.null(check_choice(shape, c("long", "wide"), "shape"))) shape <- "long"
  check_choice(to, c("tibble", "data.frame"), "to")
  check_choice(integers, INTEGER_CHOICES, "integers")
  check_text(value, "value")
  limit <- check_limit(limit)
  wide <- shape == "wide"
  if (wide && is.finite(limit)) abort_usage("`limit` would cut vintages.", "Bound `start`, `end` or `where`.")
  if (!wide && !is.null(value)) abort_usage("`value` is the column of vintages.", "Add `shape = \"wide\"`.")
  if (!is.null(columns)) columns <- check_columns(columns)
  since <- moment_text(since, "since")
  budget <- retry_budget()
  # Wrong arguments are errors before anything is asked.
  query <- selection(start, end, dimensions, columns, geometry, where = where, sort = sort, bbox = bbox)
  if (wide) {
    triangle <- triangle_columns(preview_document(budget, name)$columns, columns, value)
    columns <- c(triangle$keys, triangle$value)
  }
  if (!is.null(columns)) query$columns <- paste(c(columns, setdiff(STOOD, columns)), collapse = ",")
  query$since <- since
  plan <- plan_pull(budget, name, query, limit, sprintf("/v1/datasets/%s/revisions", name))
  check_budget(plan$account, function() plan$requests - cached_pages(query, plan))
  pulled <- pull_pages(budget, name, query, plan)
  pulled$about$type[pulled$about$name %in% STOOD] <- "time"
  check_moments(pulled$columns[STOOD])
  # Revisions are of all versions, and the newest one is cited.
  query <- list(since = since)
  if (!wide) return(as_table(pulled, name, query, to, integers))
  as_vintages(as_table(pulled, name, query, "data.frame", integers), triangle, since, to)
}

# Columns that tell rows apart, of those that were chosen, and the one with the values.
triangle_columns <- function(about, columns, value) {
  chosen <- if (is.null(columns)) about else about[about$name %in% columns, ]
  values <- chosen$name[chosen$role %in% "value"]
  if (is.null(value) && length(values) == 1) value <- values
  if (is.null(value) || !value %in% about$name) {
    abort_usage(
      if (is.null(value)) "Vintages are of one column, and there are several."
      else sprintf("Vintages are of one column; there is no `%s`.", value),
      sprintf("Give `value`: %s.", if (length(values)) paste(values, collapse = ", ") else "a column of values")
    )
  }
  keys <- setdiff(chosen$name[chosen$role %in% KEY_ROLES], value)
  if (!is.null(columns)) keys <- columns[columns %in% keys]
  list(keys = keys, value = value)
}

check_moments <- function(columns) {
  text <- unlist(columns, use.names = FALSE)
  if (length(columns) != 2 || anyNA(columns[[1]]) || anyNA(seconds_of(text[!is.na(text)]))) {
    abort_unreadable("its revisions have a time that is none")
  }
}

# A row for each combination of the keys, and a column for each time at which rows changed.
as_vintages <- function(long, triangle, since, to) {
  from <- as.double(long[[STOOD[1]]])
  until <- as.double(long[[STOOD[2]]])
  times <- c(from, until[!is.na(until)])
  stood_at <- function(time) which(from <= time & (is.na(until) | until > time))
  if (!is.null(since)) {
    # Before it only a part of the rows is here, at it all that stood.
    since <- seconds_of(since)
    times <- c(if (length(stood_at(since))) since, times[times > since])
  }
  row <- if (length(triangle$keys) && nrow(long)) row_index(long[triangle$keys]) else rep(1L, nrow(long))
  first <- which(!duplicated(row))
  wide <- as.data.frame(long)[first, triangle$keys, drop = FALSE]
  values <- long[[triangle$value]]
  for (time in sort(unique(times))) {
    stands <- stood_at(time)
    if (anyDuplicated(row[stands])) {
      abort_usage(
        "At one time two rows had the same keys.",
        "Add the column that tells them apart to `columns`, or bound `where`."
      )
    }
    known <- values[first]
    # Null of whatever type the values have, 64-bit integers too.
    is.na(known) <- seq_along(known)
    known[match(row[stands], row[first])] <- values[stands]
    wide[[text_of_seconds(time)]] <- known
  }
  row.names(wide) <- NULL
  keep_credit(as_result_frame(wide, to), long)
}
