test_that("pages of Arrow are joined into one stream", {
  fake <- local_fake()
  path <- withr::local_tempfile()
  yb_download("demo", path, format = "arrow")
  expect_identical(yearbook:::read_arrow_stream(path)$columns, yearbook:::read_arrow_stream(fixture("demo.arrows"))$columns)
  expect_length(gets_of(fake), 3)
})

test_that("a download that fails leaves the file that was there", {
  fake <- local_fake(faults = list("2" = "500"))
  folder <- withr::local_tempdir()
  path <- file.path(folder, "demo.arrows")
  writeLines("before", path)
  expect_error(yb_download("demo", path, format = "arrow"), class = "yb_error_service")
  expect_identical(readLines(path), "before")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "demo.arrows")
})

test_that("a format of one answer is refused before a request where the cap is smaller", {
  fake <- local_fake()
  expect_error(yb_download("demo", format = "xlsx"), "one answer", class = "yb_error_usage")
  expect_length(gets_of(fake), 0)
})

test_that("a download beyond the month is refused before its first request (contract-11-refused-first)", {
  fake <- local_fake(plan = list(left = 2))
  expect_error(yb_download("demo", format = "arrow"), class = "yb_error_budget")
  expect_length(gets_of(fake), 0)
})

test_that("records of CSV are counted outside of quotes, and joined without their header", {
  folder <- withr::local_tempdir()
  one <- file.path(folder, "1.csv")
  two <- file.path(folder, "2.csv")
  write <- function(text, path) writeBin(charToRaw(text), path)
  write("a,b\n1,\"x\ny\"\n2,\"q\"\"\n\"\n", one)
  write("a,b\n3,\n", two)
  expect_equal(yearbook:::count_records(one), 3)
  yearbook:::join_csv(one, two)
  expect_identical(readChar(one, 100), "a,b\n1,\"x\ny\"\n2,\"q\"\"\n\"\n3,\n")
  headers <- list("x-service-rows" = "3")
  expect_silent(yearbook:::check_body(one, headers, "csv"))
  for (text in c("a,b\n1,2\n", "a,b\n1,2\n2,3\n3,4", "a,b\n1,\"2\n2\n3\n", "")) {
    write(text, two)
    expect_error(yearbook:::check_body(two, headers, "csv"), class = "yb_error_cut")
  }
})

test_that("each format has an end that is checked (contract-11-cut)", {
  path <- withr::local_tempfile()
  cut <- function(bytes, format) {
    writeBin(bytes, path)
    expect_error(yearbook:::check_body(path, list(), format), class = "yb_error_cut")
  }
  parquet <- fixture_bytes("demo.parquet")
  cut(parquet[-length(parquet)], "parquet")
  cut(charToRaw("[{\"a\":1"), "json")
  writeBin(parquet, path)
  expect_silent(yearbook:::check_body(path, list(), "parquet"))
  writeBin(charToRaw("[{\"a\":1}]"), path)
  expect_silent(yearbook:::check_body(path, list(), "json"))
})
