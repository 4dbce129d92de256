# Reads one dataset from a live server with httr2, jsonlite and read.csv, with the settings that docs/api.md gives, and writes each
# column as bytes, so that another program can look at every bit.
#
# Rscript readback.R ADDRESS COLUMNS FOLDER READER...: the key comes in YEARBOOK_KEY, COLUMNS is name:type,name:type. Writes
# FOLDER/READER for each: the number of rows in four bytes; of each column one byte a row, 1 where it is null, then the values: floats in
# eight bytes, text ended by zero.
suppressPackageStartupMessages({ library(httr2); library(jsonlite) })

given <- commandArgs(trailingOnly = TRUE)
columns <- strsplit(strsplit(given[2], ",")[[1]], ":")
types <- setNames(vapply(columns, `[`, "", 2), vapply(columns, `[`, "", 1))

fetch <- function(format, path = NULL) {
  request(paste0(given[1], "&format=", format)) |> req_headers("X-API-Key" = Sys.getenv("YEARBOOK_KEY")) |> req_perform(path = path)
}

read_json <- function() fromJSON(resp_body_string(fetch("json")), bigint_as_char = TRUE)

# Large integers without it.
json_rounded <- function() fromJSON(resp_body_string(fetch("json")))

# Integers as text, since R has none of 64 bits.
in_r <- c(string = "character", integer = "character", number = "numeric", boolean = "logical")
download <- NULL
table_of <- function(kinds) {
  if (is.null(download)) {
    download <<- tempfile()
    fetch("csv", download)
  }
  read.csv(download, colClasses = kinds, na.strings = "", encoding = "UTF-8", check.names = FALSE)
}

# Every column without settings.
csv_guessed <- function() {
  fetch("csv", download <- tempfile())
  read.csv(download)
}

# fileEncoding in a locale that is not one of UTF-8.
csv_cut <- function() {
  fetch("csv", download <- tempfile())
  Sys.setlocale("LC_CTYPE", "C")
  suppressWarnings(read.csv(download, colClasses = setNames(in_r[types], names(types)), na.strings = "", fileEncoding = "UTF-8"))
}

read_table <- function() table_of(setNames(in_r[types], names(types)))

# read.csv's own conversion may miss the last bit; jsonlite's does not.
exact <- function(text) {
  special <- c("NaN" = NaN, "INF" = Inf, "-INF" = -Inf)
  numbers <- unname(special[text])
  finite <- !is.na(text) & !text %in% names(special)
  numbers[finite] <- fromJSON(paste0("[", paste(text[finite], collapse = ","), "]"))
  numbers
}

read_exact <- function() {
  kinds <- in_r[types]
  kinds[types == "number"] <- "character"
  table <- table_of(setNames(kinds, names(types)))
  for (name in names(types)[types == "number"]) table[[name]] <- exact(table[[name]])
  table
}

write <- function(table, path) {
  stopifnot(identical(names(table), names(types)))
  out <- file(path, "wb")
  on.exit(close(out))
  writeBin(nrow(table), out, size = 4, endian = "little")
  for (name in names(types)) {
    column <- table[[name]]
    # A NaN is no null; R keeps the two apart.
    null <- if (is.double(column)) is.na(column) & !is.nan(column) else is.na(column)
    writeBin(as.raw(null), out)
    if (types[[name]] == "number") {
      writeBin(as.double(column), out, size = 8, endian = "little")
    } else {
      # Text where R has it; whole numbers below 2^53 come as numbers from JSON.
      text <- if (is.double(column)) sprintf("%.0f", column) else enc2utf8(as.character(column))
      writeBin(text, out, useBytes = TRUE)
    }
  }
}

readers <- list(
  json = read_json, csv = read_table, csv_exact = read_exact,
  json_rounded = json_rounded, csv_guessed = csv_guessed, csv_cut = csv_cut
)
for (reader in given[-(1:3)]) write(readers[[reader]](), file.path(given[3], reader))
