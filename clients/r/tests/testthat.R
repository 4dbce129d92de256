library(testthat)
library(yearbook)

test_check("yearbook")
