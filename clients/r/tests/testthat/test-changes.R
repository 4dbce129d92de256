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
