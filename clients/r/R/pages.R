# Pages of a pull: all rows of one snapshot, or an error.
#
# Owns the checks that no table is short: the end marker of each page, its number of rows, one
# snapshot for all pages, and the number of rows in all. A snapshot that is no longer kept starts
# the pull again once.

# Reads the planned rows. Returns `columns`, `about`, `rows`, `metadata` and the `headers` of the
# first page.
pull_pages <- function(budget, name, query, plan) {
  tryCatch(
    read_pages(budget, query, plan),
    yb_error_gone = function(gone) {
      if (!is.null(query$snapshot)) stop(gone)
      again <- plan_pull(budget, name, query, plan$limit, plan$address)
      check_budget(again$account, function() again$requests - cached_pages(query, again))
      read_pages(budget, query, again)
    }
  )
}

read_pages <- function(budget, query, plan) {
  bar <- progress_bar(plan$total, plan$requests > 1)
  on.exit(bar$close())
  pages <- list()
  rows <- 0
  cursor <- NULL
  first <- NULL
  repeat {
    size <- min(plan$page, plan$limit - rows)
    page <- read_page(budget, plan$address, page_query(query, size, cursor))
    if (is.null(first)) first <- page$headers
    check_snapshot(first, page$headers)
    pages[[length(pages) + 1L]] <- page
    rows <- rows + page$rows
    bar$update(rows)
    following <- page$headers[["x-next-page"]]
    if (rows >= plan$limit || is.null(following)) break
    if (page$rows == 0 || identical(following, cursor)) {
      abort_unreadable("a page does not lead on to the next")
    }
    cursor <- following
  }
  expected <- min(count_in(first, "x-service-total-rows"), plan$limit)
  if (!is.na(expected) && rows != expected) abort_short(rows, expected)
  # The cap of the plan held rows back, and no page is left that has them.
  if (is.null(following) && rows < plan$limit && identical(page$headers[["x-service-truncated"]], "true")) {
    abort_short(rows, plan$limit)
  }
  c(bind_pages(pages), list(rows = rows, headers = first))
}

# One page, whole: its rows are as many as its header says, and no more than were asked for. What is
# not is never stored.
read_page <- function(budget, address, query) {
  page <- NULL
  check <- function(found, headers) {
    expected <- count_in(headers, "x-service-rows")
    if (!is.na(expected) && found$rows != expected) abort_short(found$rows, expected)
    most <- as.numeric(query$limit)
    if (found$rows > most) abort_short(found$rows, most)
    page <<- found
  }
  answer <- fetch(budget, address, query, list(Accept = "application/vnd.apache.arrow.stream"),
                  verify = function(path, headers) check(read_whole_stream(path), headers))
  on.exit(release(answer))
  if (is.null(page)) check(read_coded_stream(answer$path), answer$headers)
  c(page, list(headers = answer$headers))
}

# A stream as it arrived, checked by reading it. One without its end is cut, whatever else it has.
read_whole_stream <- function(path) {
  tryCatch(read_coded_stream(path), yb_error_unreadable = function(error) {
    check_arrow_stream(path)
    stop(error)
  })
}

check_snapshot <- function(first, headers) {
  if (identical(first[["x-service-snapshot-id"]], headers[["x-service-snapshot-id"]])) return()
  abort("yb_error_snapshot", "Two pages come from different snapshots.",
        "Nothing was kept. Try again.")
}

abort_short <- function(rows, expected) {
  abort(
    "yb_error_short",
    sprintf("The service sent %.0f rows where it announced %.0f.", rows, expected),
    "Nothing was returned. Try again; if it stays so, report it to the operator.",
    rows = rows, expected = expected
  )
}

# Columns of all pages, one below the other; all pages have the same.
bind_pages <- function(pages) {
  about <- pages[[1]]$about
  for (page in pages) {
    if (!identical(page$about, about)) abort_unreadable("the columns change between two pages")
  }
  columns <- lapply(seq_along(about$name), function(i) {
    uncoded(bind_parts(lapply(pages, function(page) page$columns[[i]])), dates = about$type[i] == "date")
  })
  names(columns) <- about$name
  list(columns = columns, about = about, metadata = pages[[1]]$metadata)
}

# A bar on standard error, where the session wants one and there is something to wait for.
progress_bar <- function(total, long) {
  if (!long || !isTRUE(shows_progress()) || is.na(total) || total <= 0) {
    return(list(update = function(done) NULL, close = function() NULL))
  }
  bar <- utils::txtProgressBar(max = total, style = 3, file = stderr())
  list(
    update = function(done) utils::setTxtProgressBar(bar, min(done, total)),
    close = function() close(bar)
  )
}
