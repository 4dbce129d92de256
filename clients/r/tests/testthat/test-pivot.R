long <- function() {
  data.frame(date = as.Date(c("2020-01-01", "2020-01-01", "2021-01-01")), region = c("north", "south", "north"),
             value = c(1, 2, 3))
}

test_that("a long table becomes a wide one and a long one again", {
  wide <- yb_pivot_wider(long(), names_from = "region")
  expect_identical(wide, data.frame(date = as.Date(c("2020-01-01", "2021-01-01")), north = c(1, 3), south = c(2, NA)))
  back <- yb_pivot_longer(wide, c("north", "south"), names_to = "region")
  back <- back[!is.na(back$value), ]
  row.names(back) <- NULL
  expect_identical(back, long())
})

test_that("columns are found by their roles, and the credit stays", {
  found <- demo()
  attr(found, "yearbook") <- attr(yb_example(), "yearbook")
  attr(found, "yearbook")$columns <- yearbook:::read_arrow_stream(fixture("demo.arrows"))$about
  wide <- yb_pivot_wider(found[c("date", "region", "value")] |> structure(yearbook = attr(found, "yearbook")))
  expect_identical(names(wide), c("date", "north", "south"))
  expect_match(yb_credit(wide), "Federal Reserve")
  longer <- yb_pivot_longer(yb_example(to = "data.frame"))
  expect_identical(nrow(longer), 19L * 12L)
})

test_that("integers of bit64 are never taken for doubles (contract-11-exact)", {
  skip_if_not_installed("bit64")
  bits <- structure(c(2, 3), class = "integer64")
  for (others in list(c(2.5, 3.5), 1:2)) {
    for (columns in list(list(a = others, b = bits), list(a = bits, b = others))) {
      frame <- structure(columns, class = "data.frame", row.names = 1:2)
      expect_error(yb_pivot_longer(frame, c("a", "b")), "different types", class = "yb_error_usage")
    }
  }
  expect_identical(yb_pivot_longer(data.frame(a = 1:2, b = c(2.5, 3.5)), c("a", "b"))$value, c(1, 2.5, 2, 3.5))
})

test_that("integers of bit64 keep their values in a session that has not loaded it (contract-11-exact)", {
  skip_if_not_installed("bit64")
  counts <- yearbook:::int64_from_text(c("9007199254740993", NA, "-1"))
  about <- data.frame(name = c("region", "count"), type = c("string", "integer"), role = "value", unit = NA_character_)
  pulled <- list(columns = list(region = c("a", "b", "c"), count = counts), about = about, rows = 3,
                 metadata = list(), headers = list())
  frame <- yearbook:::as_table(pulled, "demo", list(), "data.frame", "integer64", base = "")
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(frame, path)
  program <- paste(
    sprintf("library(yearbook); frame <- readRDS(%s); cat(yb_digest(frame), ''); loaded <- isNamespaceLoaded('bit64')", deparse(path)),
    "wide <- yb_pivot_wider(frame, 'region', 'count'); long <- yb_pivot_longer(wide, c('a', 'b', 'c'))",
    "cat(loaded, bit64::as.character.integer64(long$value))", sep = "; "
  )
  script <- withr::local_tempfile(fileext = ".R")
  writeLines(program, script)
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", script), stdout = TRUE, stderr = TRUE))
  expect_identical(said, paste(yb_digest(frame), "FALSE 9007199254740993 NA -1"))
})

test_that("what cannot be pivoted is an error, not a silent choice", {
  twice <- rbind(long(), long()[1, ])
  expect_error(yb_pivot_wider(twice, "region"), "two values", class = "yb_error_usage")
  expect_error(yb_pivot_wider(long(), "place"), "`place`", class = "yb_error_usage")
  expect_error(yb_pivot_wider(transform(long(), region = "date"), "region"), class = "yb_error_usage")
  alike <- data.frame(id = 1:2, x = c("a_b", "a"), y = c("c", "b_c"), value = c(1, 2))
  expect_error(yb_pivot_wider(alike, c("x", "y")), "same name", class = "yb_error_usage")
  expect_error(yb_pivot_longer(long(), c("date", "value")), "types", class = "yb_error_usage")
  expect_error(yb_pivot_longer(1, "a"), "data frame", class = "yb_error_usage")
})
