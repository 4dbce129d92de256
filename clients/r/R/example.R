# yb_example(): a result that needs no service, for examples, vignettes and tests.

#' An example result
#'
#' Quarterly US macroeconomic indicators from 2005 on, as [yb_get()] returned them; read from a file
#' of this package, without a service.
#'
#' @inheritParams yb_get
#' @return A data frame, as [yb_get()] returns it.
#' @export
#' @examples
#' head(yb_example())
yb_example <- function(to = NULL, integers = "auto") {
  check_choice(to, TABLE_CHOICES, "to")
  check_choice(integers, INTEGER_CHOICES, "integers")
  folder <- system.file("extdata", package = "yearbook", mustWork = TRUE)
  pulled <- read_arrow_stream(file.path(folder, "us_macro_quarterly.arrows"))
  known <- function(key) pulled$metadata[[paste0("yearbook.", key)]]
  pulled$headers <- list(
    "x-service-namespace" = known("namespace"), "x-service-snapshot-id" = known("snapshot_id"),
    "x-service-attribution" = known("attribution"), "x-service-source" = known("source"),
    "x-service-source-url" = known("source_url"), "x-service-licence" = known("licence"),
    "last-modified" = "Sun, 22 Nov 2026 21:02:00 GMT"
  )
  # The file names no service.
  as_table(pulled, known("dataset"), list(start = "2005-01-01"), to, integers,
           base = "https://statistics.example")
}
