# yb_changes(): rows that came, went and were revised between snapshots.

# Changed rows of a page where the plan has no cap.
CHANGE_ROWS <- 100000

#' Read changes
#'
#' Rows that were inserted, deleted or revised since a snapshot, up to the current one.
#'
#' @inheritParams yb_get
#' @param since Id of the snapshot that you have, or the watermark of an earlier result. Unless
#'   given, the oldest retained snapshot.
#' @return A data frame with the columns of the dataset and `_change_type` (`insert`, `delete`,
#'   `update_preimage`, `update_postimage`), `_snapshot_id` and `_committed_at`. The attribute
#'   `watermark` is the `since` of the next call. Where the columns changed on the way, rows have
#'   `NA` in the columns that their snapshot lacks, and a message says so.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) try(yb_changes("us_macro_quarterly"))
yb_changes <- function(name, since = NULL, geometry = TRUE, to = NULL, integers = "auto") {
  check_name(name)
  check_choice(to, c("tibble", "data.frame"), "to")
  check_choice(integers, INTEGER_CHOICES, "integers")
  check_flag(geometry, "geometry")
  check_text(since, "since")
  budget <- retry_budget()
  account <- account(budget)
  query <- list(since = since, geometry = if (!geometry) "false")
  check_budget(account, function() changes_needed(budget, name, query, account), "at least ")
  pulled <- pull_changes(budget, name, query, account)
  frame <- as_table(pulled, name, query, to, integers)
  attr(frame, "watermark") <- pulled$watermark
  frame
}

changes_address <- function(name) sprintf("/v1/datasets/%s/changes", name)

changes_query <- function(query, account) {
  rows <- if (is.na(account$row_cap)) CHANGE_ROWS else account$row_cap
  c(query, list(limit = sprintf("%.0f", rows), format = "arrow"))
}

# Requests that all pages take, by the watermarks of HEAD, which is free. It stops at the first one
# that the month no longer has. A page in the cache is confirmed at no charge.
changes_needed <- function(budget, name, query, account) {
  needed <- 0
  repeat {
    page <- changes_query(query, account)
    headers <- head_of(budget, changes_address(name), page)
    cached <- cache_find(changes_address(name), page)
    if (is.null(cached) || !identical(cached$etag, headers[["etag"]])) needed <- needed + 1
    watermark <- headers[["x-service-watermark"]]
    if (needed > account$requests$left || is.null(watermark) || identical(watermark, query$since) ||
        !identical(headers[["x-service-has-more"]], "true")) {
      return(needed)
    }
    query$since <- watermark
  }
}

# All pages of the changes, with the `watermark` that they end at.
pull_changes <- function(budget, name, query, account) {
  pages <- list()
  repeat {
    page <- read_page(budget, changes_address(name), changes_query(query, account))
    pages[[length(pages) + 1L]] <- page
    watermark <- page$headers[["x-service-watermark"]]
    if (!identical(page$headers[["x-service-has-more"]], "true")) break
    if (is.null(watermark) || identical(watermark, query$since)) {
      abort_unreadable("a page of changes does not lead on to the next")
    }
    query$since <- watermark
  }
  bound <- bind_changes(pages)
  c(bound, list(headers = join_credit(pages), watermark = watermark))
}

# Pages of changes, whose columns may differ, one below the other.
bind_changes <- function(pages) {
  about <- unique(do.call(rbind, lapply(pages, `[[`, "about")))
  about <- about[!duplicated(about$name), ]
  # The three columns about the change stay last.
  about <- about[order(startsWith(about$name, "_")), ]
  row.names(about) <- NULL
  if (any(vapply(pages, function(page) nrow(page$about) != nrow(about), NA))) {
    message("The columns changed between these snapshots: rows have NA in columns that theirs lacks.")
  }
  columns <- Map(function(name, type) {
    parts <- lapply(pages, function(page) {
      at <- match(name, page$about$name)
      if (is.na(at)) return(null_column(type, page$rows))
      if (page$about$type[at] != type) abort_unreadable("a column changed its type; read the table again")
      page$columns[[at]]
    })
    uncoded(bind_parts(parts))
  }, about$name, about$type)
  list(columns = columns, about = about, rows = sum(vapply(pages, `[[`, 0, "rows")),
       metadata = pages[[1]]$metadata)
}

null_column <- function(type, rows) {
  switch(
    type,
    integer = int64(rep(NA_real_, rows), rep(NA_real_, rows)),
    number = rep(NA_real_, rows),
    boolean = rep(NA, rows),
    rep(NA_character_, rows)
  )
}

# Headers of the last page, with the credits and licences of all.
join_credit <- function(pages) {
  headers <- pages[[length(pages)]]$headers
  for (key in c("x-service-attribution", "x-service-licence")) {
    by <- if (key == "x-service-licence") " AND " else "; "
    texts <- unique(unlist(lapply(pages, function(page) page$headers[[key]])))
    if (length(texts) > 1) headers[[key]] <- paste(texts, collapse = by)
  }
  headers
}
