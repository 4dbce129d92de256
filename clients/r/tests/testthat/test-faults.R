# Every fault leads to the right table or to a typed error, and the waits are bounded.
right_or_typed <- function(fake, ...) {
  result <- tryCatch(yb_get("demo", to = "data.frame", ...), yb_error = function(error) error)
  if (is.data.frame(result)) {
    expect_true(identical(plain(result), demo()) || identical(plain(result), demo("demo_next.arrows")))
  } else {
    expect_s3_class(result, "yb_error")
    expect_false(grepl(TEST_KEY, paste(unlist(lapply(result, format)), collapse = " "), fixed = TRUE))
  }
  expect_lte(sum(slept$seconds), 60)
  result
}

test_that("passing failures are tried again, with a pause (contract-11-retries)", {
  for (fault in c("burst", "busy", "503", "503 after", "502", "504", "cut", "reset", "marker", "empty")) {
    fake <- local_fake(faults = list("2" = fault))
    expect_identical(plain(right_or_typed(fake)), demo())
    expect_length(gets_of(fake), 4)
    expect_length(slept$seconds, 1)
    if (fault == "burst") expect_gte(slept$seconds, 2)
  }
})

test_that("one page costs five requests at most (contract-11-retries)", {
  faults <- stats::setNames(as.list(rep("503", 9)), 1:9)
  fake <- local_fake(faults = faults)
  expect_s3_class(right_or_typed(fake), "yb_error_unavailable")
  expect_length(gets_of(fake), 5)
  expect_length(slept$seconds, 4)
  fake <- local_fake(faults = stats::setNames(as.list(rep("cut", 9)), 1:9))
  expect_s3_class(right_or_typed(fake), "yb_error_cut")
  expect_length(gets_of(fake), 5)
})

test_that("a wait beyond a minute is not begun (contract-11-retries)", {
  fake <- local_fake(faults = list("1" = "long_wait"))
  expect_s3_class(right_or_typed(fake), "yb_error_unavailable")
  expect_length(gets_of(fake), 1)
  expect_length(slept$seconds, 0)
})

test_that("a month that is used up is raised at once, with its end (contract-11-month)", {
  fake <- local_fake(faults = list("1" = "month"))
  error <- right_or_typed(fake)
  expect_s3_class(error, c("yb_error_month", "yb_refusal"))
  expect_match(conditionMessage(error), "2026-12-01")
  expect_length(slept$seconds, 0)
  expect_length(gets_of(fake), 1)
})

test_that("a table is never short (contract-11-cut)", {
  for (fault in c("short", "html")) {
    fake <- local_fake(faults = list("2" = fault))
    expect_s3_class(right_or_typed(fake), "yb_error")
  }
  # The service announces more rows than its pages have, or a page leads nowhere.
  fake <- local_fake(total = 13)
  expect_s3_class(right_or_typed(fake), "yb_error_short")
  fake <- local_fake(faults = list("2" = "no next"))
  expect_s3_class(right_or_typed(fake), "yb_error_short")
  fake <- local_fake(faults = list("2" = "same next"))
  expect_s3_class(right_or_typed(fake), "yb_error_unreadable")
})

test_that("pages of two snapshots are an error (contract-11-one-snapshot)", {
  fake <- local_fake(faults = list("2" = "mixed"))
  expect_s3_class(right_or_typed(fake), "yb_error_snapshot")
})

test_that("a refresh between pages changes nothing of a pull that has begun (contract-11-one-snapshot)", {
  fake <- local_fake(snapshots = c("a", "b"))
  expect_identical(plain(right_or_typed(fake)), demo())
})

test_that("a 410 begins the pull again once (contract-11-one-snapshot)", {
  fake <- local_fake(snapshots = c("a", "a", "b"), faults = list("2" = "410"))
  expect_identical(plain(right_or_typed(fake)), demo("demo_next.arrows"))
  fake <- local_fake(faults = list("2" = "410", "4" = "410"))
  expect_s3_class(right_or_typed(fake), "yb_error_gone")
  expect_length(gets_of(fake), 4)
  # A pinned snapshot that is gone does not become another.
  fake <- local_fake(faults = list("2" = "410"))
  expect_s3_class(right_or_typed(fake, snapshot = strrep("a", 32)), "yb_error_gone")
  expect_length(gets_of(fake), 2)
  # Nor does a pull begin again that the month cannot finish.
  fake <- local_fake(plan = list(left = 3), snapshots = c("a", "a", "b"), faults = list("2" = "410"))
  expect_identical(plain(right_or_typed(fake)), demo("demo_next.arrows"))
  fake <- local_fake(plan = list(left = 2), total = 10, snapshots = c("a", "a", "b"), faults = list("2" = "410"))
  result <- right_or_typed(fake)
  expect_s3_class(result, "yb_error")
})

test_that("a stalled transfer is cut off and tried again", {
  skip_on_cran()
  # The service is silent for three times as long, and five attempts take longer than it is.
  withr::local_options(yearbook.stall_seconds = 2)
  fake <- local_fake(faults = list("1" = "slow"))
  began <- Sys.time()
  expect_identical(plain(right_or_typed(fake)), demo())
  # One for each of the three pages, and at least one more.
  expect_gt(length(gets_of(fake)), 3)
  # A busy machine takes its time; a wait for the whole of a stalled answer, again and again, would have no end.
  expect_lt(as.numeric(Sys.time() - began, "secs"), 300)
})

test_that("errors are never stored (contract-11-cache-errors)", {
  cache <- withr::local_tempdir()
  faults <- list("1" = "500")
  fake <- local_fake(faults = faults, cache = cache)
  error <- right_or_typed(fake)
  expect_s3_class(error, "yb_error_service")
  expect_match(conditionMessage(error), "request r1")
  expect_length(list.files(cache), 0)
  expect_identical(plain(right_or_typed(fake)), demo())
  fake <- local_fake(faults = stats::setNames(as.list(rep("marker", 5)), 1:5), cache = withr::local_tempdir())
  expect_s3_class(right_or_typed(fake), "yb_error_cut")
  expect_length(list.files(Sys.getenv("SERVICE_CACHE_DIR")), 0)
})

test_that("a short page is never stored (contract-11-cache-errors)", {
  fake <- local_fake(faults = list("2" = "short"))
  expect_s3_class(right_or_typed(fake), "yb_error_short")
  expect_identical(plain(right_or_typed(fake)), demo())
  # Nor is one that is longer than what was asked for.
  fake <- local_fake(totals = FALSE)
  budget <- yearbook:::retry_budget()
  query <- yearbook:::page_query(list(), 12)
  query$limit <- "12.0"
  expect_identical(yearbook:::read_page(budget, yearbook:::data_address("demo"), query)$rows, 12)
  query$limit <- "3"
  expect_error(yearbook:::read_page(budget, yearbook:::data_address("demo"), query), class = "yb_error_short")
  expect_length(list.files(Sys.getenv("SERVICE_CACHE_DIR"), "[.]body$"), 1)
})

test_that("each refusal has its class, its sentence and advice", {
  classes <- c("401" = "yb_error_key", "403" = "yb_error_licence", "413" = "yb_error_too_large")
  for (fault in names(classes)) {
    fake <- local_fake(faults = list("1" = fault))
    error <- right_or_typed(fake)
    expect_s3_class(error, c(classes[[fault]], "yb_refusal"))
    expect_identical(error$status, as.integer(fault))
    expect_true(nzchar(error$advice))
    expect_match(conditionMessage(error), error$advice, fixed = TRUE)
  }
  fake <- local_fake(refuse_head = 404L)
  error <- right_or_typed(fake)
  expect_s3_class(error, "yb_error_not_found")
  expect_match(conditionMessage(error), "There is no such dataset.", fixed = TRUE)
  expect_error(yb_get("Not a name"), class = "yb_error_usage")
})

test_that("every run of faults ends in the right table or a typed error", {
  kinds <- c("", "", "", "burst", "busy", "month", "long_wait", "503", "503 after", "502", "504", "500", "410",
             "mixed", "cut", "reset", "marker", "short", "html", "empty", "no next", "same next", "401")
  withr::local_seed(11)
  turns <- if (identical(Sys.getenv("NOT_CRAN"), "true")) 60 else 5
  one_run <- function(turn) {
    # Where the service announces no numbers of rows, as with `dimensions`, a link that it forgets
    # cannot be missed.
    totals <- turn %% 5 > 0
    possible <- if (totals) kinds else setdiff(kinds, c("short", "no next"))
    faults <- stats::setNames(as.list(sample(possible, 8, replace = TRUE)), 1:8)
    fake <- local_fake(faults = faults, snapshots = sample(c("a", "b"), 3, replace = TRUE),
                       totals = totals)
    right_or_typed(fake)
  }
  for (turn in seq_len(turns)) one_run(turn)
})

test_that("a service that cannot be reached is a typed error", {
  local_service("http://127.0.0.1:9")
  error <- expect_error(yb_get("demo"), class = "yb_error_connection")
  expect_match(conditionMessage(error), "SERVICE_BASE_URL")
  expect_error(yb_datasets(), class = "yb_error_connection")
})
