test_that("dates are taken as people have them, a period as all its days (contract-11-arguments)", {
  bounds <- function(value) c(yearbook:::bound_text(value, "start"), yearbook:::bound_text(value, "end"))
  day <- "2020-03-01"
  # A moment is the day in its own time zone, wherever the session is.
  for (zone in c("UTC", "Pacific/Auckland", "America/Los_Angeles")) {
    withr::local_timezone(zone)
    for (value in list(day, factor(day), as.Date(day), as.Date(day) + 0.5, as.POSIXct(day), as.POSIXlt(day),
                       as.POSIXct("2020-03-01 23:59", tz = "Pacific/Auckland"),
                       as.POSIXct("2020-03-01 00:01", tz = "America/Los_Angeles"))) {
      expect_identical(bounds(value), c(day, day))
    }
  }
  # Months and quarters of zoo, which need not be installed to be read.
  month <- function(year, part, of, class) structure(year + (part - 1) / of, class = class)
  for (part in 1:12) {
    last <- as.character(seq(as.Date(sprintf("2020-%02d-01", part)), by = "month", length.out = 2)[2] - 1)
    expect_identical(bounds(month(2020, part, 12, "yearmon")), c(sprintf("2020-%02d-01", part), last))
  }
  expect_identical(bounds(month(2020, 1, 4, "yearqtr")), c("2020-01-01", "2020-03-31"))
  expect_identical(bounds(month(2019, 4, 4, "yearqtr")), c("2019-10-01", "2019-12-31"))
})

test_that("lists and whole numbers are taken as people have them (contract-11-arguments)", {
  fake <- local_fake(plan = list(row_cap = 50000))
  frame <- data.frame(column = c("date", "value"), stringsAsFactors = TRUE)
  for (columns in list(frame$column, list("date", "value"), c(a = "date", b = "value"))) {
    withr::local_envvar(SERVICE_CACHE_DIR = "")
    yb_get(factor("demo"), columns = columns, dimensions = factor("north"), limit = 12L)
    query <- utils::tail(gets_of(fake), 1)[[1]]$query
    expect_identical(query[c("columns", "dimensions", "limit")],
                     list(columns = "date,value", dimensions = "north", limit = "12"))
  }
  expect_identical(lapply(list(2, 2L, Inf), yearbook:::check_limit), list(2, 2, Inf))
  wide <- data.frame(region = "a", x = 1, y = 2)
  long <- yb_pivot_longer(wide, factor(c("x", "y")))
  expect_identical(long$series, c("x", "y"))
  # A factor would choose by the numbers of its levels.
  expect_identical(yb_pivot_wider(long[c("region", "series", "value")], factor("series")), wide)
  skip_if_not_installed("bit64")
  expect_identical(yearbook:::check_limit(bit64::as.integer64(3)), 3)
})

test_that("arguments that are none are refused by their name (contract-11-arguments)", {
  local_service("http://127.0.0.1:9")
  refused <- function(what, ...) {
    error <- expect_error(yb_get("demo", ...), paste0("^`", what), class = "yb_error_usage")
    expect_true(nzchar(error$advice))
  }
  for (value in list(2020, 2020L, TRUE, NA, as.Date(NA), as.Date(Inf), as.Date("12020-01-01", optional = TRUE),
                     list(as.Date("2020-01-01")), character(), "2020-03", data.frame(a = 1), identity,
                     as.Date(c("2020-01-01", "2020-01-02")))) {
    refused("start", start = value)
    refused("end", end = value)
  }
  for (value in list(0, -1, 2.5, "2", NA, NaN, c(1, 2), list(2), factor(3), TRUE)) refused("limit", limit = value)
  for (value in list(5, character(), NA_character_, "a,b", list(1), identity)) refused("columns", columns = value)
  for (value in list(5, "", c("a", "b"), NA, list(1))) refused("dimensions", dimensions = value)
  for (name in list(5, NULL, NA, c("a", "b"), identity, list("a", 1))) {
    expect_error(yb_get(name), class = "yb_error_usage")
  }
})

test_that("a base address may end in /v1 (contract-11-base)", {
  fake <- local_fake(plan = list(row_cap = 50000))
  for (end in c("/v1", "/v1/", "//v1//")) {
    withr::local_envvar(SERVICE_BASE_URL = paste0(fake$url, end))
    expect_identical(yearbook:::base_url(), fake$url)
    expect_identical(plain(yb_get("demo")), demo())
  }
  for (address in c("http://v1", "https://a.example/v10", "https://a.example/v1/x", "https://a.example/x")) {
    withr::local_envvar(SERVICE_BASE_URL = paste0(address, "/"))
    expect_identical(yearbook:::base_url(), address)
  }
  withr::local_envvar(SERVICE_BASE_URL = "https://a.example/x/v1/")
  expect_identical(yearbook:::base_url(), "https://a.example/x")
})

test_that("integers with nulls are never rounded (contract-11-exact)", {
  big <- yearbook:::int64_from_text(c("9007199254740993", NA))
  expect_error(yearbook:::int64_as(big, "double", "x"), "`x`.*2\\^53", class = "yb_error_integer")
  edge <- yearbook:::int64_from_text(c("9007199254740992", NA, "-9007199254740992"))
  expect_identical(yearbook:::int64_as(edge, "auto", "x"), c(2^53, NA, -2^53))
  skip_if_not_installed("bit64")
  found <- yearbook:::int64_as(big, "auto", "x")
  expect_identical(is.na(found), c(FALSE, TRUE))
  expect_identical(bit64::as.character.integer64(found), c("9007199254740993", NA))
})
