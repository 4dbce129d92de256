# Runs the tests of the installed package and prints one line a test: its number of failures, of
# skips, of checks, and its name.
#
# Rscript suite.R FOLDER: the folder of the tests.
suppressPackageStartupMessages(library(testthat))
folder <- commandArgs(trailingOnly = TRUE)[1]
results <- as.data.frame(test_dir(
  folder, package = "yearbook", load_package = "installed", reporter = "check", stop_on_failure = FALSE
))
failed <- results$failed + results$error
cat(sprintf("TEST\t%d\t%d\t%d\t%s\n", failed, as.integer(results$skipped), results$nb, results$test), sep = "")
