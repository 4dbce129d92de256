# Bodies of formats: checks that one is whole, and joins pages into one file.
#
# A body that HTTP delivered whole may still have been cut before it was delivered: every format
# has an end that can be checked. Works in blocks, so that memory does not grow with a file.

BLOCK_BYTES <- 1024^2

last_bytes <- function(path, count) {
  size <- file.size(path)
  connection <- file(path, "rb")
  on.exit(close(connection))
  seek(connection, max(0, size - count))
  readBin(connection, "raw", count)
}

# Raises `yb_error_cut` for a body without the end of its format.
check_body <- function(path, headers, format) {
  whole <- switch(
    format,
    arrow = { check_arrow_stream(path); TRUE },
    parquet = , geoparquet = identical(last_bytes(path, 4), charToRaw("PAR1")),
    json = , geojson = any(last_bytes(path, 1) == charToRaw("]"), last_bytes(path, 1) == charToRaw("}")),
    csv = count_records(path) - 1 == or_default_count(headers, path),
    TRUE
  )
  if (!isTRUE(whole)) abort_cut(sprintf("The %s file is not whole", format))
}

# Rows as announced; without an announcement those that are there.
or_default_count <- function(headers, path) {
  rows <- count_in(headers, "x-service-rows")
  if (is.na(rows)) count_records(path) - 1 else rows
}

# Records of a CSV file: line ends outside of quotes. NA where the file ends within a record.
count_records <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  records <- 0
  quotes <- 0
  last <- as.raw(0)
  while (length(block <- readBin(connection, "raw", BLOCK_BYTES)) > 0) {
    inside <- (quotes + cumsum(block == as.raw(0x22))) %% 2 == 1
    records <- records + sum(block == as.raw(0x0a) & !inside)
    quotes <- quotes + sum(block == as.raw(0x22))
    last <- block[length(block)]
  }
  if (quotes %% 2 == 1 || last != as.raw(0x0a)) NA else records
}

append_from <- function(path, from, skip) {
  measured(path, file.size(path) + file.size(from) - skip, {
    input <- file(from, "rb")
    output <- file(path, "ab")
    tryCatch({
      readBin(input, "raw", skip)
      while (length(block <- readBin(input, "raw", BLOCK_BYTES)) > 0) writeBin(block, output)
    }, finally = {
      close(input)
      close(output)
    })
  })
}

join_lines <- function(path, page) append_from(path, page, 0)

# The records of `page` behind those of `path`. The header, whose names need no quotes, is left out.
join_csv <- function(path, page) {
  connection <- file(page, "rb")
  head <- raw()
  while (!any(head == as.raw(0x0a)) && length(block <- readBin(connection, "raw", BLOCK_BYTES)) > 0) {
    head <- c(head, block)
  }
  close(connection)
  append_from(path, page, which(head == as.raw(0x0a))[1])
}

# The batches of `page` in place of the end marker of `path`. Both have one schema.
join_arrow <- function(path, page) {
  skip <- function(file) {
    connection <- base::file(file, "rb")
    on.exit(close(connection))
    frame <- readBin(connection, "raw", 8)
    c(frame, readBin(connection, "raw", fb_u32(fb_buffer(frame), 4)))
  }
  schema <- skip(page)
  if (!identical(schema, skip(path))) abort_unreadable("the columns change between two pages")
  size <- file.size(path)
  connection <- file(path, "r+b")
  seek(connection, size - 8, rw = "write")
  truncate(connection)
  close(connection)
  append_from(path, page, length(schema))
}
