parameters <- function(...) Filter(Negate(is.null), yearbook:::selection(...))

test_that("conditions are sent as their values are (contract-15-clients-where)", {
  sent <- function(value) unname(parameters(where = list(x = value)))[[1]]
  expect_identical(
    parameters(where = list(industry = c("Retail", "Mining"), value.ge = 0.1, note = NA)),
    list(where.industry = c("Retail", "Mining"), where.value.ge = "0.1", where.note.null = "true")
  )
  cases <- list(
    list("", ""), list("a,b", "a,b"), list(factor(c("b", "a")), c("b", "a")), list(list("a", 1, TRUE), c("a", "1", "true")),
    list(TRUE, "true"), list(c(a = 1L, b = -2L), c("1", "-2")), list(2^53, "9007199254740992"), list(1e5, "100000"),
    list(c(1e15, -1e15), c("1000000000000000", "-1000000000000000")), list(2^60, "1152921504606846976"), list(-2^63, "-9223372036854775808"),
    list(1e300, "1e+300"),
    list(0.1 + 0.2, "0.30000000000000004"), list(0.1, "0.1"), list(1 / 3, "0.3333333333333333"), list(5e-324, "4.94065645841247e-324"),
    list(c(NaN, Inf, -Inf), c("NaN", "INF", "-INF")),
    list(as.Date(c("2020-03-01", "0001-01-01")), c("2020-03-01", "0001-01-01")),
    list(as.POSIXct("2020-03-01 23:59", tz = "Pacific/Auckland"), "2020-03-01"), list(as.POSIXlt("2020-03-01"), "2020-03-01")
  )
  for (case in cases) expect_identical(sent(case[[1]]), case[[2]])
  for (null in list(NA, NA_character_, NA_real_, as.Date(NA), as.POSIXct(NA), factor(NA), list(NA))) {
    expect_identical(parameters(where = list(x = null)), list(where.x.null = "true"))
  }
  expect_identical(parameters(where = list()), parameters())
  numbers <- c(stats::runif(200, -1e3, 1e3), 10^stats::runif(200, -300, 300))
  expect_identical(as.double(sent(numbers)), numbers)
  skip_if_not_installed("bit64")
  expect_identical(sent(bit64::as.integer64("9007199254740993")), "9007199254740993")
  expect_identical(names(parameters(where = list(x = bit64::as.integer64(NA)))), "where.x.null")
})

test_that("order, rows of series and boxes are sent as they are (contract-15-clients-selection)", {
  expect_identical(
    parameters(sort = c("-value", "region"), last = 1L, bbox = c(-80, 35.5, -75, 40)),
    list(sort = "-value,region", last = "1", bbox = "-80,35.5,-75,40")
  )
  expect_identical(parameters(first = 2), list(first = "2"))
  box <- structure(c(xmin = -80, ymin = 35, xmax = -75, ymax = 40), class = "bbox")
  expect_identical(parameters(bbox = box), list(bbox = "-80,35,-75,40"))
})

test_that("conditions that are none are refused and read nothing else (contract-15-clients-refused)", {
  local_service("http://127.0.0.1:9")
  refused <- function(what, ...) {
    error <- expect_error(yb_get("demo", ...), paste0("^`", what), class = "yb_error_usage")
    expect_true(nzchar(error$advice))
  }
  for (value in list(NULL, character(), c("a", NA), c(NA, NA), list(), list(ge = 1:2), identity, data.frame(a = 1),
                     structure(2020, class = "yearmon"), 1i, as.Date(Inf))) {
    refused("where.x`", where = list(x = value))
  }
  for (value in list("x", 5, c(x = "a"), list("a"), list(x = 1, 2), TRUE)) refused("where`", where = value)
  for (value in list("1,2,3,4", 1:3, c(1, 2, 3, NA), list(1, 2, 3, 4))) refused("bbox`", bbox = value)
  for (value in list(5, character(), "a,b")) refused("sort`", sort = value)
  for (value in list(0, 2.5, "1")) {
    refused("last`", last = value)
    refused("first`", first = value)
  }
})

test_that("a pull with a selection goes page by page and takes no bulk file (contract-15-clients-pages)", {
  check <- function(selection, text) {
    fake <- local_fake(bulk = list(status = NULL, spatial = TRUE), totals = FALSE)
    found <- do.call(yb_get, c(list("demo"), selection))
    expect_identical(plain(found), demo())
    gets <- gets_of(fake)
    expect_length(gets, 3)
    for (get in gets) expect_true(grepl(paste0(text, "&limit=5&format=arrow"), get$text, fixed = TRUE))
    expect_false(any(vapply(fake$log(), function(one) startsWith(one$path, "/v1/bulk"), NA)))
    # The citation has all of it, and a kept page is that of its selection alone.
    expect_true(grepl(text, attr(yb_cite(found, online = FALSE), "address"), fixed = TRUE))
    without_tag <- function() length(Filter(function(get) is.null(get$tag), gets_of(fake)))
    do.call(yb_get, c(list("demo"), selection))
    expect_identical(without_tag(), 3L)
    yb_get("demo", where = list(region = "a,b"))
    expect_identical(without_tag(), 6L)
  }
  check(list(where = list(region = c("a,b", "c"), value = NA)), "where.region=a%2Cb&where.region=c&where.value.null=true")
  check(list(last = 1), "last=1")
  check(list(first = 2), "first=2")
  check(list(bbox = c(0, 0, 1, 1)), "bbox=0%2C0%2C1%2C1")
  check(list(sort = "-date"), "sort=-date")
  expect_identical(
    yearbook:::query_text(list(a = c("", "\u014d"), b = NULL, c = "&")), "?a=&a=%C5%8D&c=%26"
  )
})

test_that("sorted rows are asked for in pages that the service sorts (contract-15-clients-pages)", {
  local_fake(plan = list(plan = "pro", row_cap = NA, limit = NA, left = NA))
  rows <- function(...) yearbook:::plan_pull(yearbook:::retry_budget(), "demo", ...)$page
  expect_identical(rows(list(sort = "-date"), Inf), 10000)
  expect_identical(rows(list(sort = "-date"), 12000), 10000)
  expect_identical(rows(list(sort = "-date"), 7), 7)
  expect_identical(rows(list(), Inf), 100000)
})

test_that("parameters that the service ignores are a warning (contract-15-clients-ignored)", {
  fake <- local_fake()
  expect_silent(yb_get("demo"))
  fake <- local_fake(ignored = "last,where.region")
  warned <- expect_warning(yb_get("demo", last = 1), "ignored.*last,where[.]region", class = "yb_warning_ignored")
  expect_null(conditionCall(warned))
})

test_that("values are read with a selection (contract-15-clients-values)", {
  fake <- local_fake()
  found <- yb_values("demo", c("region", "flag"), where = list(value.ge = 1), bbox = c(0, 0, 1, 1), limit = 2, after = 3)
  asked <- utils::tail(fake$log(), 1)[[1]]
  expect_identical(asked$path, "/v1/datasets/demo/values")
  expect_identical(
    asked$query[order(names(asked$query))],
    list(after = "3", bbox = "0,0,1,1", columns = "region,flag", limit = "2", where.value.ge = "1")
  )
  expect_identical(found$column, c("region", "region", "flag"))
  expect_identical(found$value, c("north", "south", "true"))
  expect_identical(found$rows, c(5, 6, 1))
  expect_identical(found$first, as.Date(rep("2020-01-01", 3)))
  expect_identical(found$label, rep(NA_character_, 3))
  about <- attr(found, "columns")
  expect_identical(about$after, c("south", NA))
  expect_identical(about$distinct, c(3, NA))
  expect_identical(about$nulls, c(1, 11))
})

test_that("a link has the selection and all its rows (contract-15-clients-links)", {
  fake <- local_fake()
  link <- yb_link("demo", format = "csv", days = 7, where = list(region = c("a", "b"), value = NA), last = 1)
  expect_identical(unclass(link)[-1], list(expires_at = "2026-12-03T09:00:00Z", format = "csv", selection = "last=1"))
  yb_link("demo", limit = 5)
  asked <- fake$log()
  expect_identical(asked[[1]]$path, "/v1/datasets/demo/link")
  expect_identical(
    vapply(asked, `[[`, "", "text"),
    c("last=1&where.region=a&where.region=b&where.value.null=true&limit=0&format=csv&days=7", "limit=5&days=30")
  )
  for (days in list(0, 1.5, "7", NA)) expect_error(yb_link("demo", days = days), "^`days`", class = "yb_error_usage")
  expect_error(yb_link("demo", format = ""), "^`format`", class = "yb_error_usage")
  expect_length(fake$log(), 2)
})
