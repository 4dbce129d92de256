digest_of <- function(name) {
  found <- yearbook:::read_arrow_stream(fixture(name))
  yearbook:::result_digest(found$columns, as.list(stats::setNames(found$about$type, found$about$name)), found$rows)
}

test_that("a citation names agency, year, snapshot and address, and prints the credit (contract-11-credit)", {
  fake <- local_fake()
  found <- yb_get("demo")
  expect_identical(yb_credit(found), "Stats \u014ctautahi, CC BY 4.0")
  cited <- yb_cite(found)
  expect_s3_class(cited, c("citation", "bibentry"))
  text <- paste(format(cited, style = "text"), collapse = " ")
  shown <- paste(utils::capture.output(print(cited)), collapse = " ")
  expect_match(shown, strrep("a", 32), fixed = TRUE)
  expect_match(shown, "2026", fixed = TRUE)
  expect_identical(attr(cited, "address"), sprintf("%s/cite/demo/%s", fake$url, strrep("a", 32)))
  bib <- paste(utils::toBibtex(cited), collapse = "\n")
  expect_match(bib, "CC BY 4.0", fixed = TRUE)
  expect_match(bib, "@Misc{demo_aaaaaaaa", fixed = TRUE)
})

test_that("the service's own citation is used where it has one", {
  title <- "Prices & 100 % of {all} _things_"
  fake <- local_fake(cite = list(title = title, digest = paste0("yb1:", strrep("0", 64))))
  cited <- yb_cite(yb_get("demo"))
  expect_match(paste(utils::capture.output(print(cited)), collapse = " "), "Stats (2026).", fixed = TRUE)
  bib <- paste(utils::toBibtex(cited), collapse = "\n")
  expect_match(bib, "title = {Prices \\& 100 \\% of \\{all\\} \\_things\\_}", fixed = TRUE)
})

test_that("the query of a citation is sorted, without defaults, in upper-case hex", {
  from <- attr(yb_example(), "yearbook")
  from$query <- list(start = "2020-01-01", dimensions = "M\u0101ori & co", geometry = NULL, limit = 99, columns = "a,b")
  query <- yearbook:::query_text(yearbook:::cite_query(from))
  expect_identical(query, "?columns=a%2Cb&dimensions=M%C4%81ori%20%26%20co&start=2020-01-01")
  from$query$limit <- from$rows
  from$total <- NA
  expect_match(yearbook:::query_text(yearbook:::cite_query(from)), "&limit=19&", fixed = TRUE)
  # The service announced as many rows: the limit held none back.
  from$total <- from$rows
  expect_false(grepl("limit", yearbook:::query_text(yearbook:::cite_query(from)), fixed = TRUE))
  from$cite_as <- "https://public.example/cite/us_macro_quarterly/x?limit=5"
  expect_match(yearbook:::citation_address(from), "^https://public.example/cite/us_macro_quarterly/[0-9a-f]{32}\\?columns")
})

test_that("the digest is that of the published vectors (contract-13-clients)", {
  path <- Sys.getenv("YEARBOOK_DIGEST_VECTORS")
  skip_if(!nzchar(path) || !file.exists(path), "YEARBOOK_DIGEST_VECTORS names no file")
  vectors <- jsonlite::fromJSON(path, simplifyVector = FALSE, bigint_as_char = TRUE)
  for (vector in digest_vectors(vectors)) {
    expect_identical(
      yearbook:::result_digest(vector$columns, vector$types, vector$rows), vector$digest, info = vector$title
    )
  }
})

test_that("proofs of other programs hold or not as they say (contract-21-clients-proof)", {
  path <- file.path(dirname(Sys.getenv("YEARBOOK_DIGEST_VECTORS")), "log_proofs.json")
  skip_if(!file.exists(path), "YEARBOOK_DIGEST_VECTORS names no file beside them")
  cases <- jsonlite::fromJSON(path, simplifyVector = FALSE)$cases
  for (case in cases) {
    if (is.null(case$entry)) {
      expect_error(yb_check_proof(case$proof, case$key), "does not hold", class = "yb_error_usage", info = case$title)
    } else {
      found <- yb_check_proof(case$proof, case$key)
      entry <- jsonlite::fromJSON(case$entry)
      expect_equal(found[c("index", "size")], case[c("index", "size")], info = case$title)
      expect_identical(unclass(found)[names(entry)], entry, info = case$title)
    }
  }
  expect_gte(length(cases), 30)
  for (key in list("", "a+b", NA_character_, sub("log+", "lag+", cases[[1]]$key, fixed = TRUE))) {
    expect_error(yb_check_proof(cases[[1]]$proof, key), "no key", class = "yb_error_usage")
  }
  expect_output(print(yb_check_proof(cases[[2]]$proof, cases[[2]]$key)), "Entry 0 of 2 in data.example.org/log")
})

test_that("a result is verified, whatever type its integers have, and one changed bit is seen (contract-13-clients)", {
  fake <- local_fake(cite = list(title = "T", digest = digest_of("demo.arrows")))
  for (integers in c("auto", "double", "character")) {
    expect_true(yb_verify(yb_get("demo", integers = integers))$verified)
  }
  found <- yb_get("demo")
  changed <- found
  changed$value[12] <- changed$value[12] * (1 + .Machine$double.eps)
  expect_false(yb_verify(changed)$verified)
  changed <- found
  changed$note[changed$note %in% ""] <- NA
  expect_false(yb_verify(changed)$verified)
  changed <- found
  changed$value[3] <- 0
  expect_false(yb_verify(changed)$verified)
  expect_output(print(yb_verify(changed)), "DIFFERENT")
  expect_error(yb_verify(found[1:3]), class = "yb_error_usage")
})

test_that("a result without its provenance is refused with advice", {
  expect_error(yb_cite(data.frame(a = 1)), "yb_get", class = "yb_error_usage")
  local_service("http://127.0.0.1:9")
  expect_error(yb_verify(yb_example()), "SERVICE_BASE_URL", class = "yb_error_usage")
})
