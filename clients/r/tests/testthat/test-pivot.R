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

test_that("what cannot be pivoted is an error, not a silent choice", {
  twice <- rbind(long(), long()[1, ])
  expect_error(yb_pivot_wider(twice, "region"), "two values", class = "yb_error_usage")
  expect_error(yb_pivot_wider(long(), "place"), "`place`", class = "yb_error_usage")
  expect_error(yb_pivot_wider(transform(long(), region = "date"), "region"), class = "yb_error_usage")
  expect_error(yb_pivot_longer(long(), c("date", "value")), "types", class = "yb_error_usage")
  expect_error(yb_pivot_longer(1, "a"), "data frame", class = "yb_error_usage")
})
