test_that("changes are read to their end, with the watermark to go on from", {
  fake <- local_fake()
  found <- yb_changes("demo", since = strrep("a", 32), to = "data.frame")
  expect_identical(found[["_change_type"]], c("update_preimage", "update_postimage", "delete", "insert"))
  expect_identical(attr(found, "watermark"), "w2")
  expect_identical(yb_credit(found), "First; Second")
  expect_s3_class(found$date, "Date")
  gets <- gets_of(fake, "/v1/datasets/demo/changes")
  expect_identical(gets[[2]]$query$since, "w1")
})

test_that("changes beyond what the month has left are refused before their first request (contract-11-refused-first)", {
  cache <- withr::local_tempdir()
  fake <- local_fake(plan = list(left = 1), cache = cache)
  error <- expect_error(yb_changes("demo"), "at least 2 requests, and the month has 1 left", class = "yb_error_budget")
  expect_identical(c(error$needed, error$left), c(2, 1))
  expect_length(gets_of(fake, "/v1/datasets/demo/changes"), 0)
  # From the first watermark on, one request suffices; then its page is on disk.
  expect_equal(nrow(yb_changes("demo", since = "w1")), 2)
  fake <- local_fake(plan = list(left = 0), cache = cache)
  expect_error(yb_changes("demo"), class = "yb_error_budget")
  fake <- local_fake(plan = list(limit = NA, left = NA))
  expect_equal(nrow(yb_changes("demo")), 4)
  expect_length(Filter(function(one) one$method == "head", fake$log()), 0)
})

test_that("a watermark that is no longer kept is a typed error", {
  fake <- local_fake()
  expect_error(yb_changes("demo", since = "gone"), "Begin again", class = "yb_error_gone")
})

test_that("changes applied to a snapshot make the next one", {
  columns <- yearbook:::read_arrow_stream(fixture("demo.arrows"))$columns
  pages <- lapply(c("changes_1.arrows", "changes_2.arrows"), function(name) yearbook:::read_arrow_stream(fixture(name)))
  changes <- yearbook:::bind_changes(pages)
  about <- list(primary_key = c("date", "region"), date_filter_column = "date")
  found <- yearbook:::apply_changes(columns, changes, about)
  expect_identical(found$columns, yearbook:::read_arrow_stream(fixture("demo_next.arrows"))$columns)
})

test_that("columns that came on the way are NA before, and a message says so", {
  one <- yearbook:::read_arrow_stream(fixture("changes_1.arrows"))
  two <- yearbook:::read_arrow_stream(fixture("changes_2.arrows"))
  one$columns$note <- NULL
  one$about <- one$about[one$about$name != "note", ]
  expect_message(bound <- yearbook:::bind_changes(list(one, two)), "columns changed")
  expect_identical(bound$columns$note[1:2], c(NA_character_, NA_character_))
  expect_identical(utils::tail(names(bound$columns), 3), c("_change_type", "_snapshot_id", "_committed_at"))
})
