# Plans of pulls: size of a page, number of requests and the snapshot, from free requests alone.
#
# Owns the refusal of a pull that the month cannot finish. Reads no rows.

# Rows of a page where the plan has no cap.
PAGE_ROWS <- 100000

# Rows of a page in an order of its own: the service sorts no more at once.
SORTED_ROWS <- 10000

# The query of a selection, in the service's words. NULLs are left out.
selection <- function(start = NULL, end = NULL, dimensions = NULL, columns = NULL, geometry = TRUE,
                      snapshot = NULL, where = NULL, sort = NULL, last = NULL, first = NULL,
                      bbox = NULL, as_of = NULL) {
  check_flag(geometry, "geometry")
  c(list(
    start = bound_text(start, "start"),
    end = bound_text(end, "end"),
    dimensions = check_text(dimensions, "dimensions"),
    columns = if (!is.null(columns)) paste(check_columns(columns), collapse = ","),
    geometry = if (!geometry) "false",
    snapshot = check_text(snapshot, "snapshot"),
    as_of = moment_text(as_of, "as_of"),
    sort = if (!is.null(sort)) paste(check_columns(sort, "sort"), collapse = ","),
    last = if (!is.null(last)) sprintf("%.0f", check_limit(last, "last")),
    first = if (!is.null(first)) sprintf("%.0f", check_limit(first, "first")),
    bbox = box_text(bbox)
  ), conditions(where))
}

# Parameters of conditions by column; a text for each value.
conditions <- function(where) {
  if (length(where) == 0) return(NULL)
  if (!is.list(where) || is.null(names(where)) || !all(nzchar(names(where)))) {
    abort_usage("`where` must be a named list.", "Give a value for each column: list(region = \"Otago\").")
  }
  names(where) <- paste0("where.", names(where))
  texts <- Map(value_texts, where, names(where))
  missing <- vapply(texts, anyNA, NA)
  names(texts)[missing] <- paste0(names(texts)[missing], ".null")
  texts[missing] <- "true"
  texts
}

# Texts of the values of a condition; one NA stands for a null.
value_texts <- function(value, name) {
  if (is.list(value) && !is.data.frame(value) && !inherits(value, "POSIXlt")) {
    if (all(vapply(value, function(one) is.atomic(one) && length(one) == 1, NA))) {
      return(check_values(unlist(lapply(value, value_texts, name)), name))
    }
    value <- NULL
  }
  value <- plain_text(value)
  if (inherits(value, "integer64")) {
    require_package("bit64", "a value of integer64")
    return(check_values(as.character(value), name))
  }
  if (inherits(value, c("Date", "POSIXt"))) {
    days <- lapply(seq_along(value), function(i) if (is.na(value[i])) NA else bound_text(value[i], name))
    return(check_values(as.character(unlist(days)), name))
  }
  if (is.object(value)) value <- NULL
  if (is.numeric(value)) value <- vapply(as.double(value), number_text, "")
  if (is.logical(value)) value <- tolower(as.character(value))
  check_values(if (is.character(value)) unname(value), name)
}

check_values <- function(text, name) {
  if (length(text) == 0 || (anyNA(text) && length(text) > 1)) {
    abort_usage(
      sprintf("`%s` must be texts, numbers, dates or TRUE and FALSE.", name),
      "Give one value, several without NA, or NA alone for a null."
    )
  }
  text
}

# The shortest text that is read as the same number; all digits of one that may be an integer.
number_text <- function(number) {
  if (is.nan(number)) return("NaN")
  if (is.na(number)) return(NA_character_)
  if (is.infinite(number)) return(if (number > 0) "INF" else "-INF")
  if (abs(number) <= 2^63 && number == trunc(number)) return(sprintf("%.0f", number))
  for (digits in 15:17) {
    text <- sprintf("%.*g", digits, number)
    if (as.double(text) == number) return(text)
  }
  text
}

box_text <- function(bbox) {
  if (is.null(bbox)) return(NULL)
  if (!is.numeric(bbox) || length(bbox) != 4 || anyNA(bbox)) {
    abort_usage("`bbox` must be four numbers.", "Give west, south, east and north in degrees.")
  }
  paste(vapply(as.double(bbox), number_text, ""), collapse = ",")
}

# Text of a factor, and of a list of texts; else `value`.
plain_text <- function(value) {
  if (is.list(value) && all(vapply(value, is.character, NA))) value <- unlist(value)
  if (is.factor(value)) as.character(value) else value
}

check_text <- function(value, name) {
  if (is.null(value)) return(NULL)
  value <- plain_text(value)
  if (!is.character(value) || length(value) != 1 || is.na(value) || !nzchar(value)) {
    abort_usage(sprintf("`%s` must be one text that is not empty.", name), "Leave it out for everything.")
  }
  value
}

check_columns <- function(columns, name = "columns") {
  columns <- plain_text(columns)
  if (!is.character(columns) || length(columns) == 0 || anyNA(columns) || any(grepl(",", columns))) {
    abort_usage(sprintf("`%s` must be names of columns.", name), "`yb_preview()` shows them at no charge.")
  }
  columns
}

check_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) {
    abort_usage(sprintf("`%s` must be TRUE or FALSE.", name))
  }
}

check_limit <- function(limit, name = "limit") {
  if (is.numeric(limit)) limit <- as.double(limit)
  if (!is.numeric(limit) || length(limit) != 1 || is.na(limit) || limit < 1 || limit != floor(limit)) {
    abort_usage(sprintf("`%s` must be a whole number, at least 1.", name), "Leave it out for the default.")
  }
  limit
}

check_choice <- function(value, choices, name) {
  if (is.null(value) || (is.character(value) && length(value) == 1 && value %in% choices)) return(value)
  abort_usage(sprintf("`%s` must be one of %s.", name, paste0("\"", choices, "\"", collapse = ", ")))
}

data_address <- function(name) sprintf("/v1/datasets/%s/data", name)

# Statuses that a repeated request answers alike, at no charge and with a sentence.
EXPLAINED <- c(404L, 406L, 410L, 413L, 414L, 422L, 431L)

# A HEAD. Its refusals have no body, so that the sentence is fetched by a GET.
head_of <- function(budget, address, query) {
  answer <- with_retries(budget, function() exchange(address, query, "HEAD"))
  if (answer$status %in% EXPLAINED) {
    again <- with_retries(budget, function() exchange(address, query))
    abort_refusal(if (again$status %in% EXPLAINED) again else answer)
  }
  if (!answer$status %in% 200:299) abort_refusal(answer)
  warn_ignored(answer$headers)
}

count_in <- function(headers, name) {
  suppressWarnings(as.numeric(or_default(headers[[name]], NA)))
}

# Plans the pull of `limit` rows: the account, rows of a page, rows in all (NA where only reading
# tells), requests that it needs and the snapshot. `address` is that of the rows.
plan_pull <- function(budget, name, query, limit, address = data_address(name)) {
  account <- account(budget)
  page <- min(if (is.na(account$row_cap)) PAGE_ROWS else account$row_cap, limit)
  if (!is.null(query$sort)) page <- min(page, SORTED_ROWS)
  headers <- head_of(budget, address, page_query(query, page))
  total <- min(count_in(headers, "x-service-total-rows"), limit)
  list(
    account = account, address = address, page = page, limit = limit, total = total,
    requests = if (is.na(total)) 1 else max(1, ceiling(total / page)),
    snapshot = headers[["x-service-snapshot-id"]], headers = headers
  )
}

page_query <- function(query, rows, cursor = NULL) {
  # A text that repeats is decoded once.
  c(query, list(limit = sprintf("%.0f", rows), format = "arrow", arrow.dictionaries = "true", cursor = cursor))
}

# Pages of the plan that are in the cache already. They are confirmed by 304, which is free.
cached_pages <- function(query, plan) {
  cursor <- NULL
  for (count in 0:(plan$requests - 1)) {
    rows <- min(plan$page, plan$limit - count * plan$page)
    if (rows < 1) return(count)
    entry <- cache_find(plan$address, page_query(query, rows, cursor))
    if (is.null(entry) || !identical(entry$headers[["x-service-snapshot-id"]], plan$snapshot)) {
      return(count)
    }
    cursor <- entry$headers[["x-next-page"]]
    if (is.null(cursor)) return(count + 1)
  }
  count + 1
}

# Raises `yb_error_budget` where the month has fewer requests left than `needed()`, which is
# computed only for plans with a limit. `bound` stands before the number where it is a lower bound.
check_budget <- function(account, needed, bound = "") {
  left <- account$requests$left
  if (is.na(left)) return(invisible())
  needed <- needed()
  if (needed <= left) return(invisible())
  abort(
    "yb_error_budget",
    sprintf("This needs %s%.0f %s, and the month has %.0f left.", bound, needed,
            if (needed == 1) "request" else "requests", left),
    sprintf("Nothing was sent. Ask for less (`start`, `end`, `limit`), or wait until %s.",
            format(account$requests$resets_at, "%Y-%m-%d", "UTC")),
    needed = needed, left = left, resets_at = account$requests$resets_at
  )
}
