test_that("a pull reads every page of one snapshot (contract-11-pages)", {
  fake <- local_fake()
  found <- yb_get("demo", to = "data.frame")
  expect_identical(plain(found), demo())
  gets <- gets_of(fake)
  expect_length(gets, 3)
  expect_true(all(vapply(gets, function(get) get$query$limit == "5", NA)))
  expect_false(any(vapply(fake$log(), function(one) identical(one$query$limit, "0"), NA)))
  about <- attr(found, "yearbook")
  expect_identical(about$snapshot, strrep("a", 32))
  expect_identical(about$rows, 12)
})

test_that("a pull is planned from free requests (contract-11-plan)", {
  fake <- local_fake()
  yb_get("demo")
  before <- fake$log()[1:2]
  expect_identical(vapply(before, function(one) paste(one$method, one$path), ""),
                   c("get /v1/me", "head /v1/datasets/demo/data"))
})

test_that("without a row cap a page has 100,000 rows (contract-11-pages)", {
  fake <- local_fake(plan = list(plan = "pro", row_cap = NA, limit = NA, left = NA))
  expect_identical(plain(yb_get("demo")), demo())
  expect_identical(gets_of(fake)[[1]]$query$limit, "100000")
})

test_that("the same pull again sends no charged request and returns an equal table (contract-11-cache)", {
  fake <- local_fake()
  first <- yb_get("demo")
  second <- yb_get("demo")
  expect_identical(second, first)
  again <- gets_of(fake)[4:6]
  expect_true(all(nzchar(vapply(again, function(get) get$tag, ""))))
})

test_that("the cache is shared by processes, and bounded", {
  cache <- withr::local_tempdir()
  fake <- local_fake(cache = cache)
  yb_get("demo")
  expect_length(list.files(cache, "[.]body$"), 3)
  expect_length(list.files(cache, "[.]json$"), 4 - 1)
  withr::local_options(yearbook.cache_bytes = 3000)
  yearbook:::cache_evict(cache)
  expect_lt(sum(file.size(list.files(cache, "[.]body$", full.names = TRUE))), 3001)
  expect_identical(plain(yb_get("demo")), demo())
  expect_gt(yb_cache_clear(), 0)
  expect_length(list.files(cache), 0)
})

test_that("files of others stay in the folder of the cache (contract-11-cache)", {
  cache <- withr::local_tempdir()
  foreign <- c("thesis.json", "text.json", "notes.body", "film.part", "new-film.part")
  for (name in foreign) writeLines(if (name == "text.json") "\"a text\"" else "{\"body\": \"notes\"}", file.path(cache, name))
  left <- file.path(cache, "new-1f2e.part-piece")
  writeLines("x", left)
  Sys.setFileTime(c(file.path(cache, foreign), left), Sys.time() - 7 * 86400)
  withr::local_options(yearbook.cache_bytes = 3000)
  fake <- local_fake(cache = cache)
  expect_identical(plain(yb_get("demo")), demo())
  expect_true(all(file.exists(file.path(cache, foreign))))
  expect_false(file.exists(left))
  # An entry that is a text is damaged.
  for (entry in list.files(cache, "^[0-9a-f]{64}[.]json$", full.names = TRUE)) writeLines("\"a text\"", entry)
  expect_identical(plain(yb_get("demo")), demo())
  yb_cache_clear()
  expect_setequal(list.files(cache), foreign)
})

test_that("a damaged entry of the cache is not used", {
  cache <- withr::local_tempdir()
  fake <- local_fake(cache = cache)
  yb_get("demo")
  for (body in list.files(cache, "[.]body$", full.names = TRUE)) writeBin(as.raw(1:9), body)
  expect_identical(plain(yb_get("demo")), demo())
  expect_true(all(vapply(gets_of(fake)[4:6], function(get) is.null(get$tag), NA)))
})

test_that("an empty SERVICE_CACHE_DIR switches the cache off (contract-11-cache-off)", {
  folder <- withr::local_tempdir()
  fake <- local_fake(cache = "")
  withr::local_dir(folder)
  withr::local_envvar(R_USER_CACHE_DIR = folder)
  expect_identical(plain(yb_get("demo")), demo())
  yb_get("demo")
  expect_length(list.files(folder, recursive = TRUE), 0)
  expect_true(all(vapply(gets_of(fake), function(get) is.null(get$tag), NA)))
})

test_that("a pull beyond what the month has left is refused before its first request (contract-11-refused-first)", {
  fake <- local_fake(plan = list(left = 2))
  error <- expect_error(yb_get("demo"), class = "yb_error_budget")
  expect_identical(c(error$needed, error$left), c(3, 2))
  expect_match(conditionMessage(error), "2026-12-01")
  expect_length(gets_of(fake), 0)
})

test_that("pages on disk do not count against the month", {
  cache <- withr::local_tempdir()
  fake <- local_fake(faults = list("3" = "month"), cache = cache)
  error <- expect_error(yb_get("demo"), class = "yb_error_month")
  expect_identical(format(error$resets_at, "%Y-%m-%d", "UTC"), "2026-12-01")
  # Two of three pages are there; one request is left, which suffices.
  plan <- list(address = yearbook:::data_address("demo"), requests = 3, page = 5, limit = Inf, snapshot = strrep("a", 32))
  expect_equal(yearbook:::cached_pages(yearbook:::selection(), plan), 2)
  expect_identical(plain(yb_get("demo")), demo())
})

test_that("a limit reads so many rows and no more", {
  fake <- local_fake(plan = list(row_cap = 50000))
  expect_equal(nrow(yb_get("demo", limit = 12)), 12)
  expect_identical(gets_of(fake)[[1]]$query$limit, "12")
})

test_that("filters are sent as the service names them", {
  fake <- local_fake(plan = list(row_cap = 50000))
  yb_get("demo", start = as.Date("2020-01-01"), end = "2021-01-01", dimensions = "M\u0101ori & co",
         columns = c("date", "value"), geometry = FALSE, snapshot = strrep("a", 32))
  query <- gets_of(fake)[[1]]$query
  expect_identical(
    query[c("start", "end", "dimensions", "columns", "geometry", "snapshot", "format",
            "arrow.dictionaries")],
    list(start = "2020-01-01", end = "2021-01-01", dimensions = "M\u0101ori & co",
         columns = "date,value", geometry = "false", snapshot = strrep("a", 32), format = "arrow",
         arrow.dictionaries = "true")
  )
})

test_that("a result is a tibble, a data frame or sf (contract-11-to)", {
  fake <- local_fake()
  expect_identical(class(yb_get("demo", to = "data.frame")), "data.frame")
  expect_error(yb_get("demo", to = "list"), "`to`", class = "yb_error_usage")
  skip_if_not_installed("tibble")
  expect_s3_class(yb_get("demo"), "tbl_df")
  skip_if_not_installed("sf")
  expect_error(yb_get("demo", to = "sf"), "no geometry", class = "yb_error_usage")
  frame <- data.frame(name = c("a", "b"), geometry_wkt = c("MULTIPOINT ((174 -41))", NA))
  found <- yearbook:::as_sf(frame)
  expect_s3_class(found, "sf")
  expect_identical(sf::st_crs(found), sf::st_crs(4326))
  expect_identical(sf::st_is_empty(found), c(FALSE, TRUE))
})

test_that("without suggested packages everything is base R (contract-11-r-core)", {
  fake <- local_fake()
  expect_identical(class(yearbook:::as_result_frame(data.frame(a = 1), "data.frame")), "data.frame")
  big <- yearbook:::int64_from_text(c("9007199254740993", NA))
  expect_identical(yearbook:::int64_as(big, "character", "x"), c("9007199254740993", NA))
  expect_error(yearbook:::require_package("no.such.package", "This"), class = "yb_error_package")
  # The core needs httr2, jsonlite and what these need.
  needed <- utils::packageDescription("yearbook")$Imports
  names <- sub(" .*", "", trimws(strsplit(gsub("\n", " ", needed), ",")[[1]]))
  expect_setequal(names, c("httr2", "jsonlite", "openssl", "stats", "tools", "utils"))
})

test_that("progress bars are shown where the session wants them (contract-11-progress)", {
  fake <- local_fake()
  withr::local_options(yearbook.progress = TRUE)
  shown <- utils::capture.output(found <- yb_get("demo"), type = "message")
  expect_match(paste(shown, collapse = ""), "100%", fixed = TRUE)
  withr::local_options(yearbook.progress = FALSE)
  expect_length(utils::capture.output(found <- yb_get("demo"), type = "message"), 0)
})

test_that("addresses and keys are read at each call (contract-11-environment)", {
  fake <- local_fake()
  withr::with_envvar(c(SERVICE_API_KEY = "yb_another"), yb_me())
  expect_identical(fake$log()[[1]]$key, "yb_another")
  withr::with_envvar(c(SERVICE_BASE_URL = paste0(fake$url, "/")), yb_me())
  expect_identical(fake$log()[[2]]$path, "/v1/me")
  withr::local_envvar(SERVICE_BASE_URL = "")
  expect_error(yb_me(), "SERVICE_BASE_URL is not set", class = "yb_error_usage")
  withr::local_envvar(SERVICE_BASE_URL = "ftp://x")
  expect_error(yb_me(), "no address", class = "yb_error_usage")
  withr::local_envvar(SERVICE_BASE_URL = fake$url, SERVICE_API_KEY = "")
  expect_error(yb_get("demo"), "SERVICE_API_KEY is not set", class = "yb_error_key")
})
