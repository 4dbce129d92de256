# Digests of results: `yb1:` and a SHA-256 over the values, whatever format they came in.
#
# Takes columns as `read_arrow_stream()` returns them. A column is hashed from a file in slices, so
# that memory does not grow with it.

DIGEST_TYPES <- c(string = 0L, integer = 1L, number = 2L, boolean = 3L, date = 4L)
DIGEST_ROWS <- 65536L

u32_bytes <- function(values) {
  values <- ifelse(values >= 2147483648, values - 4294967296, values)
  writeBin(as.integer(values), raw(), size = 4L, endian = "little")
}

# A digest of `columns`, a named list, of which `types` has the type each.
result_digest <- function(columns, types, rows) {
  scratch <- tempfile("yearbook")
  on.exit(unlink(scratch))
  parts <- lapply(names(columns), function(name) {
    text <- charToRaw(enc2utf8(name))
    type <- types[[name]]
    values <- column_digest(columns[[name]], type, rows, scratch)
    c(u32_bytes(length(text)), text, as.raw(DIGEST_TYPES[[type]]), values)
  })
  head <- c(charToRaw("yearbook-result-1"), u32_bytes(rows %% 4294967296), u32_bytes(rows %/% 4294967296))
  paste0("yb1:", hexadecimal(sha256_bytes(c(head, unlist(parts)))))
}

column_digest <- function(values, type, rows, scratch) {
  connection <- file(scratch, "wb")
  bytes <- 0
  tryCatch({
    for (first in seq(1, by = DIGEST_ROWS, length.out = ceiling(rows / DIGEST_ROWS))) {
      slice <- first:min(rows, first + DIGEST_ROWS - 1)
      part <- value_bytes(if (is_int64(values)) int64_subset(values, slice) else values[slice], type)
      bytes <- bytes + length(part)
      suppressWarnings(writeBin(part, connection))
    }
  }, finally = suppressWarnings(close(connection)))
  measured(scratch, bytes, NULL)
  connection <- file(scratch, "rb")
  on.exit(close(connection))
  as.raw(unclass(openssl::sha256(connection)))
}

# A byte 0 for a null; a byte 1 and the value for all others.
value_bytes <- function(values, type) {
  switch(
    type,
    string = , date = text_bytes(values),
    integer = flagged_bytes(is.na(unclass(values)$high), int64_as_bytes(values), 8L),
    number = number_bytes(values),
    boolean = flagged_bytes(is.na(values), as.raw(ifelse(is.na(values), 0L, as.integer(values))), 1L)
  )
}

flagged_bytes <- function(missing, bytes, width) {
  cells <- rbind(as.raw(!missing), matrix(bytes, nrow = width))
  keep <- matrix(TRUE, nrow(cells), ncol(cells))
  keep[-1, missing] <- FALSE
  cells[keep]
}

number_bytes <- function(values) {
  missing <- is.na(values) & !is.nan(values)
  bytes <- matrix(writeBin(as.double(values), raw(), size = 8L, endian = "little"), nrow = 8)
  bytes[, is.nan(values)] <- as.raw(c(0, 0, 0, 0, 0, 0, 0xf8, 0x7f))
  flagged_bytes(missing, bytes, 8L)
}

text_bytes <- function(values) {
  values <- enc2utf8(as.character(values))
  missing <- is.na(values)
  sizes <- ifelse(missing, 0, nchar(values, "bytes"))
  spans <- ifelse(missing, 1, 5 + sizes)
  starts <- cumsum(spans) - spans + 1
  bytes <- raw(sum(spans))
  bytes[starts] <- as.raw(!missing)
  first <- starts[!missing]
  heads <- rep(first, each = 4) + 1:4
  bytes[heads] <- u32_bytes(sizes[!missing])
  data <- charToRaw(paste(values[!missing], collapse = ""))
  if (length(data)) bytes[-c(starts, heads)] <- data
  bytes
}

# Columns of a result as they were read: int64 and texts. Geometry as sf has lost its text.
columns_of_frame <- function(frame, about) {
  frame <- as.list(frame)
  Map(function(name, type) {
    values <- frame[[name]]
    switch(
      type,
      integer = int64_from(values),
      date = if (inherits(values, "Date")) text_from_days(as.double(values)) else as.character(values),
      string = as.character(values),
      values
    )
  }, about$name, about$type)
}
