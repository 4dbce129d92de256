FIRST <- "2026-08-20T22:45:00Z"
SECOND <- "2026-11-19T21:45:00Z"
THIRD <- "2026-11-19T23:00:00Z"
FOURTH <- "2027-02-18T21:45:00Z"

moment <- function(text) as.POSIXct(text, tz = "UTC", format = "%Y-%m-%dT%H:%M:%SZ")

texts <- function(fake) vapply(fake$log(), function(one) one$text, "")

test_that("moments are taken as people have them (contract-21-clients-as-of)", {
  sent <- function(value) yearbook:::selection(as_of = value)$as_of
  cases <- list(
    list("2026-10-01", "2026-10-01"), list(as.Date("2026-10-01"), "2026-10-01"),
    list("2026-10-01T09:00:00+13:00", "2026-10-01T09:00:00+13:00"), list("2026-10-01t09:00:00.125z", "2026-10-01t09:00:00.125z"),
    list(as.POSIXct("2026-10-01 09:00", tz = "Pacific/Auckland"), "2026-09-30T20:00:00Z"),
    list(as.POSIXlt("2026-10-01 09:00:30", tz = "Pacific/Auckland"), "2026-09-30T20:00:30Z")
  )
  for (case in cases) expect_identical(sent(case[[1]]), case[[2]])
  expect_null(sent(NULL))
  wrong <- list(
    "2026-10-01T09:00:00", "2026-10", "now", "", "2026-02-30", "2026-02-30T00:00:00Z", "2026-10-01T25:00:00Z", 2026, TRUE, NA,
    c("2026-10-01", "2026-10-02"), as.Date(NA), as.POSIXct(NA), as.Date(Inf), factor("2026-10-01"), list("2026-10-01")
  )
  for (value in wrong) {
    error <- expect_error(sent(value), "^`as_of` must be one day or one moment", class = "yb_error_usage")
    expect_match(error$advice, "POSIXct")
  }
  expect_identical(yearbook:::text_of_seconds(yearbook:::seconds_of(c(FIRST, "0001-01-01"))), c(FIRST, "0001-01-01T23:59:59Z"))
})

test_that("rows are those that were known then (contract-21-clients-as-of)", {
  fake <- local_fake(bulk = list(status = NULL, spatial = TRUE))
  found <- yb_get("demo", as_of = "2026-09-01")
  expect_identical(plain(found), demo())
  gets <- gets_of(fake)
  expect_length(gets, 3)
  # Every page has the time, and the citation has the snapshot instead.
  for (get in gets) expect_match(get$text, "^as_of=2026-09-01&limit=5&format=arrow")
  expect_match(attr(yb_cite(found, online = FALSE), "address"), "/cite/demo/a{32}$")
  yb_link("demo", as_of = moment(SECOND))
  yb_values("demo", as_of = as.Date("2026-09-01"))
  yb_download("demo", tempfile(), format = "arrow", as_of = "2026-09-01")
  expect_identical(sum(grepl("as_of=2026-11-19T21%3A45%3A00Z", texts(fake), fixed = TRUE)), 1L)
  asked <- Filter(function(one) grepl("(data|link|values)$", one$path), fake$log())
  for (one in asked) expect_match(one$text, "as_of=2026-")
})

test_that("labels are those of the version of that time (contract-21-clients-as-of)", {
  fake <- local_fake(labels = list(flag = list(values = list(FALSE, TRUE), labels = c(true = "Final"), snapshot = strrep("a", 32))))
  found <- yb_get("demo", labels = TRUE, as_of = "2026-09-01")
  expect_identical(levels(found$flag), c("false", "Final"))
  asked <- Filter(function(one) endsWith(one$path, "/values"), fake$log())
  expect_identical(asked[[1]]$text, "columns=flag&limit=10000&as_of=2026-09-01")
})

test_that("times that cannot be read are errors of their own (contract-21-clients-errors)", {
  told <- list(
    "not yet" = c("yb_error_not_published", "yb_error_not_found"), forgotten = "yb_error_history", versions = c("yb_error_versions", "yb_error_too_large")
  )
  for (fault in names(told)) {
    fake <- local_fake(faults = list(head = fault, "1" = fault))
    error <- expect_error(yb_get("demo", as_of = "2026-09-01"), class = told[[fault]][1])
    expect_s3_class(error, c(told[[fault]], "yb_refusal", "yb_error"), exact = FALSE)
    expect_true(nzchar(error$advice))
    # Asked once, and once more for the sentence: such a refusal starts no pull again.
    expect_length(Filter(function(one) endsWith(one$path, "/data"), fake$log()), 2)
  }
  fake <- local_fake(faults = list("1" = "rebuilding"))
  expect_identical(plain(yb_get("demo", as_of = "2026-09-01")), demo())
  expect_length(slept$seconds, 1)
  expect_true(slept$seconds >= 7)
  fake <- local_fake(faults = list("1" = "rebuilding long"))
  error <- expect_error(yb_get("demo", as_of = "2026-09-01"), class = "yb_error_rebuilding")
  expect_s3_class(error, "yb_error_unavailable")
})

test_that("revisions are rows with the moments between which they stood (contract-21-clients-revisions)", {
  fake <- local_fake()
  found <- yb_revisions("demo", where = list(value.ge = 0), sort = "date", since = moment(SECOND))
  gets <- gets_of(fake, "/v1/datasets/demo/revisions")
  expect_identical(
    vapply(gets, `[[`, "", "text"),
    paste0("sort=date&where.value.ge=0&since=2026-11-19T21%3A45%3A00Z&limit=5&format=arrow",
           "&arrow.dictionaries=true", c("", "&cursor=second"))
  )
  expect_identical(names(found), c("date", "region", "value", "count", "flag", "note", "_valid_from", "_valid_to"))
  expect_s3_class(found, "tbl_df")
  expect_identical(found$date[6], as.Date("2025-10-01"))
  expect_identical(found[["_valid_from"]], moment(c(FIRST, SECOND, FIRST, FIRST, THIRD, FOURTH)))
  expect_identical(found[["_valid_to"]], moment(c(SECOND, THIRD, NA, SECOND, NA, NA)))
  expect_identical(attr(found[["_valid_to"]], "tzone"), "UTC")
  expect_identical(yb_credit(found), "Stats \u014ctautahi, CC BY 4.0")
  expect_match(attr(yb_cite(found, online = FALSE), "address"), "/cite/demo/b{32}$")
  expect_error(yb_digest(found), "Revisions have no digest", class = "yb_error_usage")
  # It was kept, and the same again is confirmed at no charge.
  yb_revisions("demo", where = list(value.ge = 0), sort = "date", since = moment(SECOND))
  expect_length(Filter(function(get) is.null(get$tag), gets_of(fake, "/v1/datasets/demo/revisions")), 2)
  # The moments come whatever was chosen.
  fake <- local_fake(plan = list(row_cap = 6))
  short <- yb_revisions("demo", columns = c("date", "value"), to = "data.frame")
  expect_identical(names(short), c("date", "value", "_valid_from", "_valid_to"))
  fake <- local_fake(revisions = "revisions_wrong")
  expect_error(yb_revisions("demo"), "a time that is none", class = "yb_error_unreadable")
})

test_that("a vintage is what was known then (contract-21-clients-revisions)", {
  fake <- local_fake(plan = list(row_cap = 6))
  found <- yb_revisions("demo", shape = "wide", value = "value", to = "data.frame")
  expected <- data.frame(
    date = as.Date(c("2025-04-01", "2025-04-01", "2025-07-01", "2025-10-01")), region = c("north", "south", "north", "north")
  )
  # Carried forward, empty before a row was known and after it went, also where nothing came then.
  expected[[FIRST]] <- c(1.5, 7, 2, NA)
  expected[[SECOND]] <- c(NA, 7, NA, NA)
  expected[[THIRD]] <- c(NA, 7, 2.5, NA)
  expected[[FOURTH]] <- c(NA, 7, 2.5, 9)
  expect_identical(plain(found), expected)
  expect_identical(yb_credit(found), "Stats \u014ctautahi, CC BY 4.0")
  expect_match(utils::tail(texts(fake), 1), "columns=date%2Cregion%2Cvalue%2C_valid_from%2C_valid_to", fixed = TRUE)
  wide <- yb_revisions("demo", shape = "wide", value = "flag")
  expect_s3_class(wide, "tbl_df")
  expect_identical(wide[[SECOND]], c(TRUE, TRUE, NA, NA))
  # Integers of 64 bits keep every digit.
  skip_if_not_installed("bit64")
  wide <- yb_revisions("demo", shape = "wide", value = "count")
  expect_identical(as.character(wide[[FIRST]]), c("9007199254740993", "3", "4", NA))
  expect_identical(as.character(wide[[FOURTH]]), c(NA, "3", "4", NA))
  fake <- local_fake(revisions = "vintages_none")
  none <- yb_revisions("demo", shape = "wide", value = "value", since = "2026-09-01")
  expect_identical(dim(none), c(0L, 2L))
})

test_that("vintages since a time begin with what stood then (contract-21-clients-revisions)", {
  fake <- local_fake(plan = list(row_cap = 6))
  found <- yb_revisions("demo", shape = "wide", value = "value", since = "2026-11-19T22:30:00Z")
  expect_identical(names(found), c("date", "region", "2026-11-19T22:30:00Z", THIRD, FOURTH))
  expect_identical(found[[3]], c(NA, 7, NA, NA))
  since <- function(since) names(yb_revisions("demo", shape = "wide", value = "value", since = since))[-(1:2)]
  expect_identical(since("2026-11-19"), c("2026-11-19T23:59:59Z", FOURTH))
  # Before anything was known there is no vintage.
  expect_identical(since("2020-01-01"), c(FIRST, SECOND, THIRD, FOURTH))
})

test_that("arguments of revisions that are none are refused (contract-21-clients-revisions)", {
  fake <- local_fake(plan = list(row_cap = 6))
  refused <- function(sentence, ...) expect_error(yb_revisions("demo", ...), sentence, class = "yb_error_usage")
  refused("`shape`", shape = "triangle")
  refused("`value` is the column of vintages", value = "value")
  refused("`limit` would cut vintages", shape = "wide", limit = 5)
  refused("^`since`", since = "2026-11-19T22:30:00")
  refused("^`columns`", columns = 5)
  refused("^`to`", to = "sf")
  expect_length(fake$log(), 0)
  expect_match(refused("there are several", shape = "wide")$advice, "value, count", fixed = TRUE)
  expect_match(refused("there is no `nothing`", shape = "wide", value = "nothing")$advice, "value, count", fixed = TRUE)
  expect_match(refused("two rows had the same keys", shape = "wide", columns = c("date", "value"))$advice, "`columns`", fixed = TRUE)
  # The only chosen column of values is the one.
  expect_identical(names(yb_revisions("demo", shape = "wide", columns = c("date", "region", "value")))[1:3], c("date", "region", FIRST))
})
