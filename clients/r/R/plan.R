# Plans of pulls: size of a page, number of requests and the snapshot, from free requests alone.
#
# Owns the refusal of a pull that the month cannot finish. Reads no rows.

# Rows of a page where the plan has no cap.
PAGE_ROWS <- 100000

# The query of a selection, in the service's words. NULLs are left out.
selection <- function(start = NULL, end = NULL, dimensions = NULL, columns = NULL, geometry = TRUE,
                      snapshot = NULL) {
  check_flag(geometry, "geometry")
  list(
    start = bound_text(start, "start"),
    end = bound_text(end, "end"),
    dimensions = check_text(dimensions, "dimensions"),
    columns = if (!is.null(columns)) paste(check_columns(columns), collapse = ","),
    geometry = if (!geometry) "false",
    snapshot = check_text(snapshot, "snapshot")
  )
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

check_columns <- function(columns) {
  columns <- plain_text(columns)
  if (!is.character(columns) || length(columns) == 0 || anyNA(columns) || any(grepl(",", columns))) {
    abort_usage("`columns` must be names of columns.", "`yb_preview()` shows them at no charge.")
  }
  columns
}

check_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) {
    abort_usage(sprintf("`%s` must be TRUE or FALSE.", name))
  }
}

check_limit <- function(limit) {
  if (is.numeric(limit)) limit <- as.double(limit)
  if (!is.numeric(limit) || length(limit) != 1 || is.na(limit) || limit < 1 || limit != floor(limit)) {
    abort_usage("`limit` must be a whole number of rows, at least 1.", "Leave it out for all rows.")
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
  answer$headers
}

count_in <- function(headers, name) {
  suppressWarnings(as.numeric(or_default(headers[[name]], NA)))
}

# Plans the pull of `limit` rows: the account, rows of a page, rows in all (NA where only reading
# tells), requests that it needs and the snapshot.
plan_pull <- function(budget, name, query, limit) {
  account <- account(budget)
  page <- min(if (is.na(account$row_cap)) PAGE_ROWS else account$row_cap, limit)
  headers <- head_of(budget, data_address(name), page_query(query, page))
  total <- min(count_in(headers, "x-service-total-rows"), limit)
  list(
    account = account, page = page, limit = limit, total = total,
    requests = if (is.na(total)) 1 else max(1, ceiling(total / page)),
    snapshot = headers[["x-service-snapshot-id"]], headers = headers
  )
}

page_query <- function(query, rows, cursor = NULL) {
  c(query, list(limit = sprintf("%.0f", rows), format = "arrow", cursor = cursor))
}

# Pages of the plan that are in the cache already. They are confirmed by 304, which is free.
cached_pages <- function(name, query, plan) {
  cursor <- NULL
  for (count in 0:(plan$requests - 1)) {
    rows <- min(plan$page, plan$limit - count * plan$page)
    if (rows < 1) return(count)
    entry <- cache_find(data_address(name), page_query(query, rows, cursor))
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
