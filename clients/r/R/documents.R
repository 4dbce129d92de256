# Documents: JSON answers about datasets and the account.
#
# The list and the metadata of a dataset cost a request when they changed, and nothing otherwise;
# previews and the account are free.

# The document at an address, as nested lists (`simplify = FALSE`) or data frames.
document <- function(budget, address, query = list(), keyed = TRUE, simplify = TRUE) {
  answer <- fetch(budget, address, query, list(Accept = "application/json"), keyed,
                  verify = function(path, headers) check_json(path))
  on.exit(release(answer))
  warn_ignored(answer$headers)
  parse_json(answer$path, simplify)
}

parse_json <- function(path, simplify) {
  text <- readBin(path, "raw", file.size(path))
  text <- utf8(rawToChar(text))
  jsonlite::fromJSON(text, simplifyVector = simplify, bigint_as_char = TRUE)
}

check_json <- function(path) {
  if (file.size(path) > MAX_DOCUMENT_BYTES) abort_unreadable("a document is too large")
  tryCatch(parse_json(path, FALSE), error = function(error) abort_cut("A JSON document is not whole"))
  invisible()
}

# The document in an answer that was kept in memory, as nested lists.
answer_document <- function(answer) {
  tryCatch(
    jsonlite::fromJSON(utf8(rawToChar(answer$body)), simplifyVector = FALSE),
    error = function(error) abort_unreadable("a document is not JSON")
  )
}

# NULL as the NA of a text.
text_or_na <- function(value) if (is.null(value)) NA_character_ else as.character(value)

# A data frame, or a tibble where that package is installed and `to` leaves the choice.
as_result_frame <- function(frame, to = NULL) {
  tibbles <- requireNamespace("tibble", quietly = TRUE)
  if (identical(to, "tibble")) require_package("tibble", "to = \"tibble\"")
  if (identical(to, "data.frame") || (is.null(to) && !tibbles)) return(frame)
  tibble::as_tibble(frame, .name_repair = "minimal")
}

#' List the datasets
#'
#' Costs one request when the list changed since the last call, else none.
#'
#' @return A data frame (a tibble where that package is installed) with a row for each dataset:
#'   `name`, `namespace`, `source`, `title` and `description`.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) try(yb_datasets())
yb_datasets <- function() {
  found <- document(retry_budget(), "/v1/datasets", simplify = FALSE)
  column <- function(name) vapply(found, function(one) text_or_na(one[[name]]), "")
  as_result_frame(data.frame(
    name = column("name"), namespace = column("namespace"), source = column("source"),
    title = column("title"), description = column("description")
  ))
}

#' Describe a dataset
#'
#' Columns, dates, licence, source and retained snapshots. Costs one request when the metadata
#' changed since the last call, else none.
#'
#' @param name Name of the dataset.
#' @return A list of class `yb_dataset` with the fields of the service; `columns` and `snapshots`
#'   are data frames, of which `columns$labelled` says whether values have labels; `date_range` holds
#'   dates. `column` has the names of the columns for completion: type `about$column$` and press Tab.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) try(yb_describe("us_macro_quarterly"))
yb_describe <- function(name) {
  check_name(name)
  found <- document(retry_budget(), paste0("/v1/datasets/", name), simplify = FALSE)
  names <- vapply(found$columns, `[[`, "", "name")
  found$column <- as.list(stats::setNames(names, names))
  fields <- c("name", "type", "nullable", "role", "unit", "description")
  labelled <- vapply(found$columns, function(one) isTRUE(one$labelled), NA)
  found$columns <- as_result_frame(cbind(frame_of(found$columns, fields), labelled = labelled))
  found$snapshots <- as_result_frame(frame_of(found$snapshots, c("id", "created_at", "rows")))
  found$primary_key <- as.character(unlist(found$primary_key))
  found$dimensions <- as.character(unlist(found$dimensions))
  found$bbox <- as.numeric(unlist(found$bbox))
  found$date_range <- lapply(found$date_range, function(date) {
    if (is.null(date)) as.Date(NA) else dates_from_text(date)
  })
  structure(found, class = "yb_dataset")
}

# A data frame of a list of objects, with the columns `names`.
frame_of <- function(objects, names) {
  columns <- lapply(names, function(name) {
    values <- lapply(objects, function(object) {
      if (is.null(object[[name]])) NA else object[[name]]
    })
    if (length(values)) unlist(values) else character()
  })
  names(columns) <- names
  as.data.frame(columns)
}

#' @export
print.yb_dataset <- function(x, ...) {
  cat(x$name, ": ", or_default(x$title, ""), "\n", sep = "")
  cat(format(x$row_count_at_last_refresh, big.mark = ","), "rows,", nrow(x$columns), "columns")
  first <- x$date_range$first
  if (!is.null(first) && !is.na(first)) cat(",", format(first), "to", format(x$date_range$last))
  cat("\n")
  cat("Source: ", x$source, "\nLicence: ", or_default(x$licence, ""), "\n", sep = "")
  cat("Snapshot: ", x$current_snapshot_id, "\n\n", sep = "")
  print(as.data.frame(x$columns)[c("name", "type", "role", "unit")], row.names = FALSE)
  invisible(x)
}

#' Preview a dataset
#'
#' The newest rows, at most ten, without geometry. Needs no key and costs nothing.
#'
#' @inheritParams yb_describe
#' @return A data frame of the rows. The attribute `preview` holds `snapshot_id`, `row_count`,
#'   `columns` (a data frame of names, types and roles) and `hidden_columns`.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_BASE_URL"))) try(yb_preview("us_macro_quarterly"))
yb_preview <- function(name) {
  check_name(name)
  found <- preview_document(retry_budget(), name)
  types <- found$columns
  shown <- types$name[!types$name %in% found$hidden_columns]
  columns <- lapply(shown, function(column) {
    values <- lapply(found$rows, `[[`, column)
    preview_column(values, types$type[types$name == column])
  })
  names(columns) <- shown
  rows <- structure(columns, row.names = .set_row_names(length(found$rows)), class = "data.frame")
  rows <- as_result_frame(rows)
  attr(rows, "preview") <- found[c("snapshot_id", "row_count", "columns", "hidden_columns")]
  rows
}

#' Values of columns
#'
#' The values that columns have, with how many rows have each: what there is to ask for. Without a
#' selection they are stored and cost nothing; counted over one they cost a request.
#'
#' @inheritParams yb_get
#' @param columns Names of columns; all dimensions unless given.
#' @param limit Number of values of a column at most.
#' @param after Values behind this one, of one column.
#' @param lang Language of labels, such as `"mi"`, where the dataset has it; else its first.
#' @return A data frame with a row for each value: `column`, `value` (text), `label`, `rows` and the
#'   `first` and `last` date of its rows. The attribute `columns` has a row for each column:
#'   `column`, `role`, `distinct` (`NA` where there are too many to count), `nulls`, and `after`, to
#'   be given for more values; `NA` at the end.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   try(yb_values("us_unemployment_by_industry", columns = "industry"))
#' }
yb_values <- function(name, columns = NULL, where = NULL, start = NULL, end = NULL,
                      dimensions = NULL, bbox = NULL, snapshot = NULL, limit = NULL, after = NULL,
                      lang = NULL, as_of = NULL) {
  check_name(name)
  query <- c(
    selection(start, end, dimensions, columns, TRUE, snapshot, where, bbox = bbox, as_of = as_of),
    list(
      limit = if (!is.null(limit)) sprintf("%.0f", check_limit(limit)),
      after = if (!is.null(after)) value_texts(after, "after"),
      lang = check_text(lang, "lang")
    )
  )
  found <- values_document(retry_budget(), name, query)
  text <- function(value) if (is.null(value)) NA_character_ else value_texts(value, "value")
  number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
  rows <- lapply(found$columns, function(column) {
    field <- function(name, of, type) vapply(column$values, function(one) of(one[[name]]), type)
    data.frame(
      column = rep(column$name, length(column$values)), value = field("value", text, ""),
      label = field("label", text, ""), rows = field("rows", number, 0),
      first = as.Date(field("first", text, "")), last = as.Date(field("last", text, ""))
    )
  })
  field <- function(name, of, type) vapply(found$columns, function(one) of(one[[name]]), type)
  values <- as_result_frame(do.call(rbind, rows))
  attr(values, "columns") <- as_result_frame(data.frame(
    column = field("name", text, ""), role = field("role", text, ""),
    distinct = field("distinct", number, 0), nulls = field("nulls", number, 0),
    after = field("next", text, "")
  ))
  values
}

values_document <- function(budget, name, query) {
  document(budget, sprintf("/v1/datasets/%s/values", name), query, simplify = FALSE)
}

preview_document <- function(budget, name) {
  found <- document(budget, sprintf("/v1/datasets/%s/preview", name), keyed = FALSE, simplify = FALSE)
  found$columns <- frame_of(found$columns, c("name", "type", "role"))
  found$hidden_columns <- as.character(unlist(found$hidden_columns))
  found
}

preview_column <- function(values, type) {
  values[vapply(values, is.null, NA)] <- NA
  if (type == "number") return(vapply(values, as.double, 0))
  text <- vapply(values, function(value) {
    if (is.double(value)) sprintf("%.0f", value) else as.character(value)
  }, "")
  switch(
    type,
    date = or_default(dates_from_text(text), text),
    integer = int64_as(int64_from_text(text), "auto", "preview"),
    boolean = as.logical(text),
    text
  )
}

#' Show your account
#'
#' Plan, row cap and what is left of the month. Costs nothing.
#'
#' @return A list of class `yb_account`: `plan`, `row_cap` and `requests` with `limit`, `used`,
#'   `left` and `resets_at`. `NA` means unlimited.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) try(yb_me())
yb_me <- function() account(retry_budget())

account <- function(budget) {
  answer <- ask(budget, "/v1/me", headers = list(Accept = "application/json"))
  found <- answer_document(answer)
  number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
  resets <- text_or_na(found$requests$resets_at)
  structure(class = "yb_account", list(
    plan = text_or_na(found$plan),
    row_cap = number(found$row_cap),
    requests = list(
      limit = number(found$requests$limit),
      used = number(found$requests$used),
      left = number(found$requests$left),
      resets_at = as.POSIXct(substr(resets, 1, 19), tz = "UTC", format = "%Y-%m-%dT%H:%M:%S")
    )
  ))
}

#' @export
print.yb_account <- function(x, ...) {
  cat("Plan: ", x$plan, "\n", sep = "")
  cat("Rows per request:", if (is.na(x$row_cap)) "unlimited" else format(x$row_cap, big.mark = ","), "\n")
  if (is.na(x$requests$limit)) {
    cat("Requests: unlimited\n")
  } else {
    cat("Requests: ", x$requests$left, " of ", x$requests$limit, " left until ",
        format(x$requests$resets_at, "%Y-%m-%d", "UTC"), "\n", sep = "")
  }
  invisible(x)
}
