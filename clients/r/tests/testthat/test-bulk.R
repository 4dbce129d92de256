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

# What the stored file says: its columns in an order of its own, dates as text, and no role.
stored <- function(geometry = FALSE) {
  columns <- rev(yearbook:::read_arrow_stream(fixture("demo.arrows"))$columns)
  if (geometry) columns$geometry_wkt <- rep(c("MULTIPOINT ((174 -41))", NA), 6)
  list(columns = columns, rows = 12)
}

test_that("a bulk file has types and roles, geometry too, and the digest of its pages (contract-11-bulk)", {
  fake <- local_fake(plan = pro, bulk = list(spatial = TRUE))
  budget <- yearbook:::retry_budget()
  plan <- yearbook:::plan_pull(budget, "demo", list(), Inf)
  found <- yearbook:::pull_bulk(budget, "demo", plan, "arrow", function(path, reader) stored(geometry = TRUE))
  expect_identical(found$about$name, c("note", "flag", "count", "value", "region", "date", "geometry_wkt"))
  expect_identical(found$about$type, c("string", "boolean", "integer", "number", "string", "date", "string"))
  expect_identical(found$about$role, c("attribute", "attribute", "value", "value", "dimension", "date", "geometry"))
  frame <- yearbook:::as_table(found, "demo", list(), "data.frame", "auto")
  expect_s3_class(frame$date, "Date")
  expect_identical(plain(frame)[names(demo())], demo())
  # Pages of the same columns have the same digest.
  columns <- yearbook:::read_arrow_stream(fixture("demo.arrows"))
  preview <- yearbook:::preview_document(budget, "demo")
  preview$hidden_columns <- character()
  about <- yearbook:::stored_columns(preview)
  found <- yearbook:::describe_stored(columns[c("columns", "rows")], about)
  digest <- function(pulled) yearbook:::result_digest(pulled$columns, stats::setNames(pulled$about$type, pulled$about$name), 12)
  expect_identical(digest(found), digest(columns))
  # A column that the preview does not describe is known before the file is charged, or else no guess.
  preview$hidden_columns <- c("geometry_wkt", "secret")
  expect_null(yearbook:::stored_columns(preview))
  expect_null(yearbook:::describe_stored(stored(geometry = TRUE), about))
})

test_that("the file is taken only where it is of the current snapshot and worth it (contract-11-bulk)", {
  taken <- function(bulk, reader = "nanoparquet") {
    fake <- local_fake(plan = pro, bulk = bulk)
    budget <- yearbook:::retry_budget()
    plan <- yearbook:::plan_pull(budget, "demo", list(), Inf)
    found <- yearbook:::pull_bulk(budget, "demo", plan, reader, read = function(path, reader) {
      expect_identical(readBin(path, "raw", 1e6), fixture_bytes("demo.parquet"))
      stored(geometry = TRUE)
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

for (reader in c("arrow", "nanoparquet")) {
  test_that(paste(reader, "reads the file as the stream has it"), {
    skip_if(!requireNamespace(reader, quietly = TRUE), paste(reader, "is not here"))
    stream <- yearbook:::read_arrow_stream(fixture("demo.arrows"))
    found <- yearbook:::read_parquet(fixture("demo.parquet"), reader)
    expect_identical(yearbook:::describe_stored(found, stream$about)[c("columns", "about")], stream[c("columns", "about")])
  })
}
