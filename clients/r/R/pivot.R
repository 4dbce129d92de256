# Pivots: long tables to wide ones and back, in base R.

#' Pivot a table
#'
#' `yb_pivot_wider()` makes a column of each series of a long table; `yb_pivot_longer()` makes rows
#' of the columns of a wide one. Both keep the credit.
#'
#' @param x A data frame.
#' @param names_from Names of the columns that tell the series apart. Unless given, the dimension
#'   columns of a result of [yb_get()].
#' @param values_from Name of the column with the values.
#' @param sep Text between the names of a series.
#' @return A data frame. A row of the wider table has `NA` where a series has no value; two values
#'   for one cell are an error.
#' @export
#' @examples
#' long <- data.frame(
#'   date = as.Date(c("2020-01-01", "2020-01-01", "2021-01-01")),
#'   region = c("north", "south", "north"), value = c(1, 2, 3)
#' )
#' wide <- yb_pivot_wider(long, names_from = "region")
#' yb_pivot_longer(wide, columns = c("north", "south"), names_to = "region")
yb_pivot_wider <- function(x, names_from = NULL, values_from = "value", sep = "_") {
  about <- attr(x, "yearbook", exact = TRUE)
  if (is.null(names_from)) names_from <- about$columns$name[about$columns$role %in% "dimension"]
  names_from <- plain_text(names_from)
  check_present(x, names_from, "names_from")
  check_present(x, values_from, "values_from")
  plain <- with_methods(as.data.frame(x))
  rest <- setdiff(names(plain), c(names_from, values_from))
  series <- do.call(paste, c(unname(lapply(plain[names_from], as.character)), list(sep = sep)))
  # Names that sep joins alike belong to different series all the same.
  parts <- unique(plain[names_from])
  if (nrow(parts) != length(unique(series))) {
    abort_usage("Two series get the same name.", "Choose another `sep`.")
  }
  row <- if (length(rest)) row_index(plain[rest]) else rep(1L, nrow(plain))
  if (anyDuplicated(data.frame(row, series))) {
    abort_usage("A cell would have two values.", "Name more columns in `names_from`, or filter before.")
  }
  wide <- plain[!duplicated(row), rest, drop = FALSE]
  taken <- intersect(unique(series), rest)
  if (length(taken)) {
    abort_usage(sprintf("A series is called `%s`, as a column is.", taken[1]), "Rename that column first.")
  }
  for (name in unique(series)) {
    own <- series == name
    wide[[name]] <- plain[[values_from]][own][match(unique(row), row[own])]
  }
  row.names(wide) <- NULL
  keep_credit(wide, x)
}

# A number for each distinct row, in the order of their first appearance.
row_index <- function(frame) {
  parts <- lapply(frame, function(values) match(values, unique(values)))
  key <- do.call(paste, unname(parts))
  match(key, unique(key))
}

#' @rdname yb_pivot_wider
#' @param columns Names of the columns that become rows.
#' @param names_to,values_to Names of the two new columns.
#' @export
yb_pivot_longer <- function(x, columns = NULL, names_to = "series", values_to = "value") {
  about <- attr(x, "yearbook", exact = TRUE)
  if (is.null(columns)) columns <- intersect(about$columns$name[about$columns$role %in% "value"], names(x))
  columns <- plain_text(columns)
  check_present(x, columns, "columns")
  plain <- with_methods(as.data.frame(x))
  rest <- setdiff(names(plain), columns)
  if (any(c(names_to, values_to) %in% rest)) {
    abort_usage("A column has the name of a new one.", "Choose other `names_to` and `values_to`.")
  }
  kinds <- unique(lapply(plain[columns], class))
  # bit64's integers are numeric too, and c() would take the bits of theirs for those of doubles.
  plain_numbers <- vapply(plain[columns], function(values) is.numeric(values) && !is.object(values), NA)
  if (length(kinds) > 1 && !all(plain_numbers)) {
    abort_usage("The columns have different types.", "Pivot columns of one type at a time.")
  }
  rows <- seq_len(nrow(plain))
  long <- plain[rep(rows, each = length(columns)), rest, drop = FALSE]
  long[[names_to]] <- rep(columns, times = length(rows))
  # Row by row; c() keeps the class of dates and of 64-bit integers.
  values <- do.call(c, unname(as.list(plain[columns])))
  long[[values_to]] <- values[as.vector(t(matrix(seq_along(values), ncol = length(columns))))]
  row.names(long) <- NULL
  keep_credit(long, x)
}

# `frame`, with the methods of bit64 loaded where it has integers of that package: without them R takes
# their bits for those of doubles.
with_methods <- function(frame) {
  if (any(vapply(frame, inherits, NA, "integer64"))) require_package("bit64", "Pivoting its integers")
  frame
}

check_present <- function(x, names, what) {
  if (is.data.frame(x) && length(names) > 0 && all(names %in% names(x))) return(invisible())
  missing <- setdiff(names, if (is.data.frame(x)) names(x))
  abort_usage(
    if (!is.data.frame(x)) "`x` must be a data frame."
    else if (length(missing)) sprintf("There is no column `%s` (`%s`).", missing[1], what)
    else sprintf("`%s` is empty.", what),
    sprintf("Name columns of the table in `%s`.", what)
  )
}

# `frame` as the kind of `x`, with its credit. It is no longer what was read, so its columns have no
# description, and no digest can be computed of it.
keep_credit <- function(frame, x) {
  if (inherits(x, "tbl_df")) frame <- as_result_frame(frame)
  about <- attr(x, "yearbook", exact = TRUE)
  if (!is.null(about)) about$columns <- about$columns[0, ]
  attr(frame, "yearbook") <- about
  frame
}
