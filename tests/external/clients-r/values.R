# Reads datasets by yb_get() and writes every value as bytes, for a comparison with what was published.
#
# Rscript values.R FOLDER PACKAGES NAME...: PACKAGES is `with` or `without` suggested packages. Writes FOLDER/NAME for each: the number
# of rows in four bytes; of each column one byte a row, 1 where it is null, then the values: numbers in eight bytes, all others as text
# ended by zero; and FOLDER/NAME.columns, a line `name:type` for each column.
library(yearbook)

given <- commandArgs(trailingOnly = TRUE)

text_of <- function(column) {
  # format() has no leading zeros for years before 1000 on every system.
  if (inherits(column, "Date")) return(yearbook:::text_from_days(as.double(column)))
  if (inherits(column, "integer64")) return(bit64::as.character.integer64(column))
  if (is.double(column)) return(sprintf("%.0f", column))
  enc2utf8(as.character(column))
}

write <- function(table, path) {
  types <- attr(table, "yearbook")$columns
  stopifnot(identical(names(table), types$name), !given[2] == "without" || identical(class(table), "data.frame"))
  out <- file(path, "wb")
  on.exit(close(out))
  writeBin(nrow(table), out, size = 4, endian = "little")
  for (i in seq_along(types$name)) {
    column <- table[[i]]
    null <- if (is.double(column) && !inherits(column, "integer64")) is.na(column) & !is.nan(column) else is.na(column)
    writeBin(as.raw(null), out)
    if (types$type[i] == "number") writeBin(as.double(column), out, size = 8, endian = "little")
    else writeBin(text_of(column), out, useBytes = TRUE)
  }
  writeLines(paste0(types$name, ":", types$type), paste0(path, ".columns"))
}

for (name in given[-(1:2)]) {
  # Integers as what holds them: a double, a 64-bit integer of bit64, or text where neither does.
  table <- tryCatch(yb_get(name), yb_error_integer = function(error) yb_get(name, integers = "character"))
  write(table, file.path(given[1], name))
}
