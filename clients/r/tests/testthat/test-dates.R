test_that("every day of years 1 to 9999 goes to its text and back", {
  days <- c(seq(-719162, 2932896, by = 37), -719162, 2932896, 0, -1)
  text <- yearbook:::text_from_days(days)
  expect_identical(as.double(yearbook:::dates_from_text(text)), as.double(days))
  some <- days > -141428 # 1582-10-15, before which calendars differ
  expect_identical(text[some], format(as.Date(days[some], origin = "1970-01-01"), "%Y-%m-%d"))
})

test_that("what is no date of the calendar is none", {
  for (text in c("2020-02-30", "2021-02-29", "2020-13-01", "2020-1-1", "20200101", "", "2020-00-10")) {
    expect_null(yearbook:::dates_from_text(c("2020-01-01", text)))
  }
  expect_identical(yearbook:::dates_from_text(c(NA, "2020-02-29")), as.Date(c(NA, "2020-02-29")))
})

test_that("bounds are dates or their text", {
  expect_identical(yearbook:::bound_text(as.Date("2020-02-29"), "start"), "2020-02-29")
  expect_identical(yearbook:::bound_text("0999-12-31", "start"), "0999-12-31")
  expect_error(yearbook:::bound_text("2020", "start"), "`start`", class = "yb_error_usage")
  expect_error(yearbook:::bound_text(c("2020-01-01", "2020-01-02"), "end"), class = "yb_error_usage")
})
