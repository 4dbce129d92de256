read <- function(name) yearbook:::read_arrow_stream(fixture(name))

test_that("an Arrow stream is read with its types, roles and metadata (contract-11-arrow)", {
  found <- read("demo.arrows")
  expect_equal(found$rows, 12)
  expect_equal(found$about$name, c("date", "region", "value", "count", "flag", "note"))
  expect_equal(found$about$type, c("date", "string", "number", "integer", "boolean", "string"))
  expect_equal(found$about$role[1:3], c("date", "dimension", "value"))
  expect_equal(found$about$unit[3], "NZD")
  expect_equal(found$metadata[["yearbook.attribution"]], "Stats \u014ctautahi, CC BY 4.0")
})

test_that("dates are dates, integers integers, and NA differs from empty text and NaN (contract-11-typed)", {
  frame <- demo()
  expect_s3_class(frame$date, "Date")
  expect_equal(format(frame$date[c(2, 12)]), c("2020-01-01", "9999-12-31"))
  expect_type(frame$flag, "logical")
  row <- function(date, region) frame[frame$date == as.Date(date) & frame$region == region, ]
  expect_identical(row("2020-01-01", "north")$note, "")
  expect_identical(row("2020-01-01", "south")$note, NA_character_)
  expect_identical(row("2020-04-01", "north")$note, "NA")
  expect_identical(row("2020-04-01", "south")$note, "M\u0101ori")
  expect_true(is.nan(row("2020-04-01", "south")$value))
  missing <- row("2020-04-01", "north")$value
  expect_true(is.na(missing) && !is.nan(missing))
  expect_identical(1 / row("2020-01-01", "south")$value, -Inf)
  expect_identical(row("2020-07-01", "south")$value, 0.1 + 0.2)
  expect_identical(row("2020-10-01", "north")$value, 5e-324)
  expect_identical(row("2020-04-01", "south")$count, 2^40)
})

test_that("other types of Arrow are read, and dictionaries that grow or are replaced", {
  columns <- yearbook:::read_arrow_stream(fixture("kinds.arrows"))$columns
  whole <- function(name) yearbook:::int64_as(columns[[name]], "auto", name)
  expect_identical(whole("i8"), c(-128L, NA, 127L))
  expect_identical(whole("u8"), c(0L, 255L, NA))
  expect_identical(whole("i16"), c(-32768L, 1L, NA))
  expect_identical(whole("u16"), c(65535L, NA, 0L))
  expect_identical(whole("i32"), c(-2147483648, 2147483647, NA))
  expect_identical(whole("u32"), c(4294967295, NA, 0))
  expect_identical(columns$f32, c(0.5, NaN, NA))
  expect_identical(columns$large, c("\u00e4", NA, ""))
  expect_identical(yearbook:::text_from_days(as.double(columns$day)), c("0001-01-01", NA, "9999-12-31"))
  expect_identical(columns$nothing, rep(NA_character_, 3))
  expect_identical(columns$coded, c("b", NA, "a"))
  expect_identical(read("grown_dictionary.arrows")$columns$coded, c("a", "b", "a", "b", "c", NA))
  expect_identical(read("replaced_dictionary.arrows")$columns$coded, c("a", "b", "c", "d", NA))
})

test_that("a dictionary that is repeated stays as it is, and one that grows does so each time", {
  messages <- function(name) {
    connection <- file(fixture(name), "rb")
    on.exit(close(connection))
    found <- list()
    while (!is.null(message <- yearbook:::read_message(connection))) found[[length(found) + 1L]] <- message
    found
  }
  for (name in c("grown_dictionary.arrows", "replaced_dictionary.arrows")) {
    found <- messages(name)
    schema <- yearbook:::arrow_schema(found[[1]]$buffer, found[[1]]$header)
    types <- lapply(schema$fields, `[[`, "type")
    add <- function(message, known) yearbook:::add_dictionary(message, types, known)
    coded <- Filter(function(message) message$kind == 2L, found)
    once <- Reduce(function(known, message) add(message, known), coded, list())
    twice <- add(coded[[length(coded)]], once)
    grows <- name == "grown_dictionary.arrows"
    expect_identical(twice[[1]]$size > once[[1]]$size, grows, info = name)
    if (!grows) expect_identical(twice, once)
  }
})

test_that("a stream without rows has its columns", {
  frame <- demo("empty.arrows")
  expect_equal(dim(frame), c(0L, 6L))
  expect_s3_class(frame$date, "Date")
  expect_type(frame$value, "double")
  expect_type(frame$count, "integer")
})

test_that("a stream that is cut at any byte is an error (contract-11-cut)", {
  bytes <- fixture_bytes("demo_3.arrows")
  path <- withr::local_tempfile()
  for (size in seq(0, length(bytes) - 1)) {
    writeBin(bytes[seq_len(size)], path)
    expect_error(yearbook:::read_arrow_stream(path), class = "yb_error")
    expect_error(yearbook:::check_arrow_stream(path), class = "yb_error_cut")
  }
  writeBin(c(bytes, as.raw(0)), path)
  expect_error(yearbook:::read_arrow_stream(path), class = "yb_error_unreadable")
})

test_that("damaged streams end in a typed error or a table, never in another error", {
  bytes <- fixture_bytes("demo_3.arrows")
  path <- withr::local_tempfile()
  withr::local_seed(7)
  for (turn in 1:400) {
    damaged <- bytes
    at <- sample(length(bytes), sample(4, 1))
    damaged[at] <- as.raw(sample(0:255, length(at), replace = TRUE))
    writeBin(damaged, path)
    result <- tryCatch(yearbook:::read_arrow_stream(path), yb_error = function(error) "refused")
    expect_true(is.list(result) || identical(result, "refused"))
  }
})

test_that("what this reader cannot read is an error that names the reason", {
  expect_error(read("compressed.arrows"), "compressed", class = "yb_error_unreadable")
  expect_error(read("timestamps.arrows"), "`at`", class = "yb_error_unreadable")
  path <- withr::local_tempfile(lines = "<html>Bad gateway</html>")
  expect_error(yearbook:::read_arrow_stream(path), "no Arrow stream", class = "yb_error_unreadable")
})

# `take()` of a batch whose buffers are these, one behind the other.
take_of <- function(..., frame = parent.frame()) {
  buffers <- list(...)
  sizes <- lengths(buffers)
  body <- rawConnection(unlist(buffers))
  withr::defer(close(body), envir = frame)
  yearbook:::taker(body, sum(sizes), rbind(cumsum(sizes) - sizes, sizes))
}

test_that("a position outside of its dictionary is an error, one at a null is not", {
  position <- function(...) writeBin(c(...), raw(), endian = "little")
  read <- function(valid, index, size = 2L, nulls = sum(!valid)) {
    bits <- packBits(c(valid, rep(FALSE, 8 - length(valid))))
    type <- list(id = 0, index = list(width = 32, signed = TRUE))
    known <- list("0" = list(before = 3L, size = size))
    yearbook:::decode_dictionary(type, length(index), nulls, take_of(bits, position(index)), known)
  }
  # Behind the three values that the dictionary had before.
  expect_identical(read(c(TRUE, FALSE, TRUE), c(0L, 77L, 1L)), c(4L, NA, 5L))
  expect_identical(read(c(TRUE, FALSE), c(0L, NA)), c(4L, NA))
  expect_identical(read(c(FALSE, FALSE), c(5L, -5L), size = 0L), c(NA_integer_, NA))
  for (index in c(2L, -1L, NA)) {
    expect_error(read(c(TRUE, TRUE), c(0L, index)), "beyond", class = "yb_error_unreadable")
  }
  expect_error(read(TRUE, 0L, size = 0L), "beyond", class = "yb_error_unreadable")
})

test_that("texts are those between their offsets, and buffers are as long as their column", {
  text <- function(offsets, data, count = length(offsets) - 1) {
    take <- take_of(raw(), writeBin(offsets, raw(), endian = "little"), data)
    yearbook:::decode_text(list(width = 32), count, 0, take)
  }
  expect_identical(text(c(0L, 0L, 2L, 3L, 3L), charToRaw("\u00e4b")), c("", "\u00e4", "b", ""))
  expect_identical(text(c(1L, 2L), charToRaw("abc")), "b")
  expect_identical(text(c(0L, 0L), raw()), "")
  expect_error(text(c(0L, 1L), as.raw(0xe4)), "UTF-8", class = "yb_error_unreadable")
  expect_error(text(c(0L, 1L), as.raw(0)), "zero byte", class = "yb_error_unreadable")
  expect_error(text(c(0L, 2L), charToRaw("a")), "not in order", class = "yb_error_unreadable")
  expect_error(text(c(0L, 1L), charToRaw("a"), 2), "shorter", class = "yb_error_unreadable")
  expect_error(yearbook:::taker(NULL, 8, rbind(4, 5)), "body", class = "yb_error_unreadable")
})

test_that("parts of a column with dictionaries are one, whatever dictionaries they had", {
  coded <- yearbook:::coded
  bound <- function(...) yearbook:::uncoded(yearbook:::bind_parts(list(...)), dates = TRUE)
  north <- coded(c(2L, NA, 1L), c("a", "b"))
  expect_identical(bound(north, coded(1L, "c")), c("b", NA, "a", "c"))
  expect_identical(bound(north, character(), c("x", NA)), c("b", NA, "a", "x", NA))
  whole <- yearbook:::int64_from_numbers
  large <- coded(2:1, whole(c(5, 2^40)))
  expect_identical(bound(large, coded(1L, whole(-1))), whole(c(2^40, 5, -1)))
  days <- coded(c(1L, NA), "2020-02-29")
  expect_identical(bound(days, coded(1L, "0001-01-01")), as.Date(c("2020-02-29", NA, "0001-01-01")))
  expect_identical(bound(days, coded(1L, "2021-02-29")), c("2020-02-29", NA, "2021-02-29"))
})

test_that("a stream without its end is cut even where it cannot be read", {
  bytes <- fixture_bytes("timestamps.arrows")
  path <- withr::local_tempfile()
  writeBin(bytes, path)
  expect_error(yearbook:::read_whole_stream(path), "`at`", class = "yb_error_unreadable")
  writeBin(bytes[seq_len(length(bytes) - 1)], path)
  expect_error(yearbook:::read_whole_stream(path), class = "yb_error_cut")
})
