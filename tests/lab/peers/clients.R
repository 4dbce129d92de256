# A table as a data frame, again and again: by the client, or by readr. Run by `cargo xtask bench clients`; prints one
# JSON object.

given <- commandArgs(trailingOnly = TRUE)
name <- given[2]
rows <- as.integer(given[3])
runs <- as.integer(given[4])

# Without the column of integers beyond 2^53: readr rounds them, and the client refuses to.
columns <- c("date", "period", "series_code", "region", "industry", "measure", "value", "is_provisional", "note")

Sys.setenv(SERVICE_CACHE_DIR = "")
by_client <- function() yearbook::yb_get(name, columns = columns)

by_readr <- function() {
  address <- sprintf(
    "%s/v1/datasets/%s/data?format=csv&limit=%d&columns=%s",
    Sys.getenv("SERVICE_BASE_URL"), name, rows, paste(columns, collapse = ",")
  )
  key <- c("X-API-Key" = Sys.getenv("SERVICE_API_KEY"))
  readr::read_csv(url(address, headers = key), show_col_types = FALSE, progress = FALSE)
}

read <- list(Yearbook = by_client, readr = by_readr)[[given[1]]]
seconds <- vapply(seq_len(runs + 1L), function(run) {
  began <- proc.time()[["elapsed"]]
  frame <- read()
  stopifnot(nrow(frame) == rows)
  proc.time()[["elapsed"]] - began
}, numeric(1))
cat(jsonlite::toJSON(list(seconds = stats::median(seconds[-1])), auto_unbox = TRUE, digits = 6))
