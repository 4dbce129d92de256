test_that("datasets are listed and searched, and an unchanged list costs nothing (contract-11-verbs)", {
  fake <- local_fake()
  expect_identical(yb_datasets()$name, c("demo", "other"))
  expect_identical(yb_search("maori")$name, "demo")
  expect_identical(yb_search("population")$name, c("demo", "other"))
  expect_identical(yb_search("popul OTAUTAHI")$name, "demo")
  expect_identical(nrow(yb_search("nothing of it")), 0L)
  expect_error(yb_search(" - "), class = "yb_error_usage")
  tags <- vapply(fake$log(), function(one) if (is.null(one$tag)) "" else one$tag, "")
  expect_identical(tags[1:2], c("", "\"list\""))
})

test_that("previews, metadata and the account are typed (contract-11-verbs)", {
  fake <- local_fake()
  preview <- yb_preview("demo")
  expect_identical(preview$date, as.Date(c("9999-12-31", "2021-01-01")))
  expect_identical(preview$value, c(0.125, NA))
  expect_identical(preview$count, c(12L, NA))
  expect_identical(preview$note, c(NA, ""))
  expect_identical(attr(preview, "preview")$row_count, 12L)
  about <- yb_describe("demo")
  expect_identical(about$primary_key, c("date", "region"))
  expect_identical(about$date_range$first, as.Date("0001-01-01"))
  expect_output(print(about), "12 rows")
  expect_identical(about$column, list(date = "date"))
  me <- yb_me()
  expect_identical(me$requests$left, 10)
  expect_output(print(me), "10 of 10 left until 2026-12-01")
})

test_that("notebooks complete the columns of a dataset (contract-15-clients-completion)", {
  fake <- local_fake()
  about <- yb_describe("demo")
  # R's own completer looks in the global environment.
  name <- paste0("about", Sys.getpid())
  assign(name, about, globalenv())
  withr::defer(rm(list = name, envir = globalenv()))
  line <- paste0("yb_get(\"demo\", columns = c(", name, "$column$da")
  internal <- asNamespace("utils")
  internal$.assignLinebuffer(line)
  internal$.assignEnd(nchar(line))
  internal$.guessTokenFromLine()
  internal$.completeToken()
  expect_identical(internal$.retrieveCompletions(), paste0(name, "$column$date"))
})

test_that("projects are fetched, and written only below their folder (contract-11-verbs)", {
  fake <- local_fake()
  folder <- file.path(withr::local_tempdir(), "project")
  project <- yb_integration("meltano", "demo", folder)
  expect_identical(project$attribution, "Stats")
  expect_identical(readLines(file.path(folder, "meltano.yml")), "a: 1")
  expect_error(yb_integration("meltano", "demo", folder), "is there already", class = "yb_error_usage")
  expect_error(yb_integration("bad", "demo", folder), "leaves its folder", class = "yb_error_unreadable")
  expect_error(yb_integration("../x", "demo"), class = "yb_error_usage")
})

test_that("every verb of the contract is there (contract-11-verbs)", {
  verbs <- c("yb_search", "yb_datasets", "yb_describe", "yb_preview", "yb_get", "yb_changes", "yb_download", "yb_cite",
             "yb_me", "yb_sync")
  expect_true(all(verbs %in% getNamespaceExports("yearbook")))
})

test_that("only the wire interface is spoken (contract-11-wire)", {
  # Every address in the sources is one of the service's routes.
  sources <- list.files(file.path(Sys.getenv("YEARBOOK_SOURCES", "../.."), "R"), "[.]R$", full.names = TRUE)
  skip_if(length(sources) == 0, "the sources are not here")
  code <- unlist(lapply(sources, function(path) grep("^ *#", readLines(path), value = TRUE, invert = TRUE)))
  routes <- unique(unlist(regmatches(code, gregexpr("\"/(v1|cite)[^\"]*", code))))
  known <- c("\"/v1/me", "\"/v1/datasets", "\"/v1/datasets/", "\"/v1/datasets/%s/data", "\"/v1/datasets/%s/changes", "\"/v1/datasets/%s/revisions",
             "\"/v1/datasets/%s/preview", "\"/v1/datasets/%s/link", "\"/v1/datasets/%s/values", "\"/cite/.*", "\"/v1/bulk/%s/%s", "\"/v1/integrations/", "\"/cite/%s/%s")
  expect_setequal(routes, known)
})

test_that("the package is called yearbook and runs on R 4.2 (contract-11-names)", {
  about <- utils::packageDescription("yearbook")
  expect_identical(about$Package, "yearbook")
  expect_match(about$Depends, "R (>= 4.2)", fixed = TRUE)
  expect_match(about$Imports, "httr2 (>= 0.2.2)", fixed = TRUE)
})
