pro <- list(plan = "pro", row_cap = NA, limit = NA, left = NA)
bulk_path <- "/v1/bulk/tests/demo"

test_that("a bulk download is resumed by range, and its digest is checked (contract-11-resume)", {
  fake <- local_fake(plan = pro, bulk = list(cuts = 2))
  path <- withr::local_tempfile(fileext = ".parquet")
  yb_download("demo", path)
  expect_identical(readBin(path, "raw", 1e6), fixture_bytes("demo.parquet"))
  gets <- gets_of(fake, bulk_path)
  expect_length(gets, 3)
  expect_null(gets[[1]]$range)
  expect_match(gets[[2]]$range, "^bytes=[1-9][0-9]*-$")
  # Each goes on where the one before ended.
  starts <- as.numeric(sub("bytes=([0-9]+)-", "\\1", c(gets[[2]]$range, gets[[3]]$range)))
  expect_lt(starts[1], starts[2])
  yb_download("demo", path)
  expect_length(gets_of(fake, bulk_path), 3)
})

test_that("a file that differs from its digest is an error and leaves nothing (contract-11-resume)", {
  fake <- local_fake(plan = pro, bulk = list(wrong = TRUE))
  folder <- withr::local_tempdir()
  expect_error(yb_download("demo", file.path(folder, "x.parquet")), class = "yb_error_digest")
  expect_length(list.files(folder, all.files = TRUE, no.. = TRUE), 0)
  expect_length(list.files(Sys.getenv("SERVICE_CACHE_DIR")), 0)
})

test_that("402 and 403 fall back to pages once, and are remembered (contract-11-fallback)", {
  for (status in c(402L, 403L)) {
    fake <- local_fake(plan = pro, bulk = list(status = status))
    plan <- yearbook:::plan_pull(yearbook:::retry_budget(), "demo", list(), Inf)
    expect_true(yearbook:::may_use_bulk("demo", plan$account))
    expect_null(yearbook:::bulk_headers(yearbook:::retry_budget(), "tests", "demo", plan$account))
    expect_false(yearbook:::may_use_bulk("demo", plan$account))
    expect_identical(plain(yb_get("demo")), demo())
  }
})

test_that("the file is taken only where it is of the current snapshot and worth it (contract-11-bulk)", {
  taken <- function(bulk, reader = "nanoparquet") {
    fake <- local_fake(plan = pro, bulk = bulk)
    budget <- yearbook:::retry_budget()
    plan <- yearbook:::plan_pull(budget, "demo", list(), Inf)
    found <- yearbook:::pull_bulk(budget, "demo", plan, reader, read = function(path, about, reader) {
      expect_identical(readBin(path, "raw", 1e6), fixture_bytes("demo.parquet"))
      yearbook:::read_arrow_stream(fixture("demo.arrows"))
    })
    if (!is.null(found)) expect_identical(found$rows, 12)
    !is.null(found)
  }
  # Spatial tables are worth it whatever their size; this one has 12 rows.
  expect_true(taken(list(spatial = TRUE)))
  expect_false(taken(list(spatial = FALSE)))
  expect_false(taken(list(spatial = TRUE, older = TRUE)))
  expect_false(taken(list(spatial = TRUE, status = 402L)))
  expect_false(taken(list(spatial = TRUE), reader = NULL))
})

test_that("a plan with a row cap never asks for the file (contract-11-bulk)", {
  fake <- local_fake()
  yb_get("demo")
  expect_false(any(grepl("bulk", vapply(fake$log(), function(one) one$path, ""))))
})

test_that("nanoparquet reads the file as the stream has it", {
  skip_if(!requireNamespace("nanoparquet", quietly = TRUE), "nanoparquet is not here")
  stream <- yearbook:::read_arrow_stream(fixture("demo.arrows"))
  found <- yearbook:::read_parquet(fixture("demo.parquet"), stream$about, "nanoparquet")
  expect_identical(found$columns, stream$columns)
})
