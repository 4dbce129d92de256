# Everything that R can print of a value, deeply.
printed <- function(value) {
  paste(c(
    utils::capture.output(print(value)), utils::capture.output(utils::str(value)),
    rawToChar(serialize(value, NULL, ascii = TRUE))
  ), collapse = "\n")
}

test_that("the key is sent to the service alone, not to another origin (contract-11-key)", {
  other <- local_fake()
  for (fault in c("away", "file away")) {
    fake <- local_fake(other = paste0(other$url, "/stolen"), faults = list("1" = fault))
    expect_error(yb_get("demo"), class = "yb_error")
    keys <- vapply(fake$log(), function(one) one$key, "")
    expect_identical(unique(keys), TEST_KEY)
  }
  stolen <- vapply(other$log(), function(one) one$key, "")
  expect_false(any(nzchar(stolen)))
})

test_that("a redirect on the same origin is followed with the key", {
  fake <- local_fake(other = "/v1/datasets/demo/data?limit=12", faults = list("1" = "away"),
                     plan = list(row_cap = 50000))
  expect_identical(plain(yb_get("demo")), demo())
})

test_that("previews and citations are asked for without a key (contract-11-key)", {
  fake <- local_fake(cite = list(title = "T", digest = paste0("yb1:", strrep("0", 64))))
  yb_preview("demo")
  found <- yb_get("demo")
  yb_cite(found)
  open <- Filter(function(one) grepl("preview|cite", one$path), fake$log())
  expect_gte(length(open), 3)
  expect_false(any(nzchar(vapply(open, function(one) one$key, ""))))
})

test_that("nothing that is printed or kept holds the key (contract-11-key)", {
  cache <- withr::local_tempdir()
  fake <- local_fake(faults = list("7" = "401", "8" = "echo"), cache = cache)
  said <- utils::capture.output(type = "message", {
    out <- utils::capture.output(httr2::with_verbosity(found <- yb_get("demo"), verbosity = 3))
  })
  expect_false(any(grepl(TEST_KEY, c(said, out), fixed = TRUE)))
  for (value in list(found, attr(found, "yearbook"), yb_me(), yb_datasets(), yb_describe("demo"),
                     httr2::last_request(), httr2::last_response())) {
    expect_false(grepl(TEST_KEY, printed(value), fixed = TRUE))
  }
  yb_get("demo")
  for (turn in 1:2) {
    error <- tryCatch(yb_get("demo"), yb_error_key = function(error) error)
    expect_s3_class(error, "yb_error_key")
    expect_false(grepl(TEST_KEY, printed(error), fixed = TRUE))
  }
  for (file in list.files(cache, full.names = TRUE)) {
    bytes <- readBin(file, "raw", file.size(file))
    expect_length(grepRaw(TEST_KEY, bytes, fixed = TRUE), 0)
  }
  local_service("http://127.0.0.1:9")
  error <- tryCatch(yb_get("demo"), error = function(error) error)
  expect_false(grepl(TEST_KEY, printed(error), fixed = TRUE))
  expect_false(grepl(TEST_KEY, printed(httr2::last_request()), fixed = TRUE))
})

test_that("a key that cannot stand in a header is refused", {
  local_service("http://127.0.0.1:9", key = "yb_a\r\nX-Other: 1")
  error <- expect_error(yb_me(), class = "yb_error_key")
  expect_false(grepl("yb_a", conditionMessage(error), fixed = TRUE))
})

test_that("a link is not printed, logged or kept (contract-15-clients-links)", {
  cache <- withr::local_tempdir()
  fake <- local_fake(cache = cache)
  said <- utils::capture.output(type = "message", {
    out <- utils::capture.output(httr2::with_verbosity(link <- yb_link("demo"), verbosity = 3))
  })
  expect_identical(link$url, paste0("https://stats.example/l/", TEST_TOKEN, ".csv"))
  shown <- utils::capture.output(print(link), utils::str(link), utils::str(list(link)), print(list(link)))
  expect_true(any(grepl("2026-12-03", shown, fixed = TRUE)))
  errors <- vapply(c(366, 365), function(days) {
    error <- expect_error(yb_link("demo", days = days), class = "yb_error_unreadable")
    printed(error)
  }, "")
  for (value in list(httr2::last_request(), httr2::last_response())) shown <- c(shown, printed(value))
  expect_false(any(grepl(TEST_TOKEN, c(said, out, shown, errors), fixed = TRUE)))
  for (file in list.files(cache, full.names = TRUE)) {
    expect_length(grepRaw(TEST_TOKEN, readBin(file, "raw", file.size(file)), fixed = TRUE), 0)
  }
})
