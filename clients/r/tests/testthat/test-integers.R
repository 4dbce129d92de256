wholes <- function() {
  list(
    values = yearbook:::read_arrow_stream(fixture("wholes.arrows"))$columns$whole,
    text = vapply(jsonlite::fromJSON(fixture("wholes.json"), simplifyVector = FALSE),
                  function(text) if (is.null(text)) NA_character_ else text, "")
  )
}

test_that("integers of 64 bits keep every digit as text", {
  known <- wholes()
  expect_identical(yearbook:::int64_as(known$values, "character", "x"), known$text)
})

test_that("integers beyond 2^53 are never rounded", {
  known <- wholes()
  expect_error(yearbook:::int64_as(known$values, "double", "x"), "`x`", class = "yb_error_integer")
  inside <- yearbook:::int64_subset(known$values, c(1:6, 14))
  expect_identical(yearbook:::int64_as(inside, "auto", "x"), c(as.double(known$text[1:6]), NA))
  small <- yearbook:::int64_subset(known$values, 1:4)
  expect_identical(yearbook:::int64_as(small, "auto", "x"), c(0L, 1L, -1L, .Machine$integer.max))
})

test_that("bit64 holds all integers but -2^63, which is its NA", {
  skip_if_not_installed("bit64")
  known <- wholes()
  expect_error(yearbook:::int64_as(known$values, "integer64", "x"), "2\\^63", class = "yb_error_integer")
  rest <- which(!known$text %in% "-9223372036854775808")
  found <- yearbook:::int64_as(yearbook:::int64_subset(known$values, rest), "auto", "x")
  expect_s3_class(found, "integer64")
  expect_identical(bit64::as.character.integer64(found), known$text[rest])
})

test_that("every type of integer leads back to the same bits", {
  known <- wholes()
  bytes <- yearbook:::int64_as_bytes(known$values)
  text <- yearbook:::int64_from(yearbook:::int64_as(known$values, "character", "x"))
  expect_identical(yearbook:::int64_as_bytes(text), bytes)
  skip_if_not_installed("bit64")
  rest <- yearbook:::int64_subset(known$values, which(!known$text %in% "-9223372036854775808"))
  long <- yearbook:::int64_from(yearbook:::int64_as(rest, "integer64", "x"))
  expect_identical(yearbook:::int64_as_bytes(long), yearbook:::int64_as_bytes(rest))
})
