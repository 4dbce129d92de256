# Arrow IPC streams: messages of a file, one after the other, to the columns of a table.
#
# Owns the framing and the end marker: a stream without its marker is a cut body, never a short
# table. Holds one message at a time, dictionaries and the decoded columns. Touches no network.
# Format: https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format

# Bytes of metadata and of a body beyond which a message is refused. A service sends batches of
# less than a megabyte; one row may be larger.
MAX_METADATA_BYTES <- 64 * 1024^2
MAX_BODY_BYTES <- 1024^3

# Rows of a batch beyond which it is refused: columns of nulls take no bytes in a stream, but do
# here.
MAX_BATCH_ROWS <- 2^24

# Integers as `int64`, dates as text: what the digest is computed from, and what `as_table()`
# converts. Returns columns, a data frame that describes them, rows and metadata.
read_arrow_stream <- function(path) {
  found <- read_coded_stream(path)
  found$columns <- lapply(found$columns, uncoded)
  found
}

# As `read_arrow_stream()`, where columns that have a dictionary are `coded`.
read_coded_stream <- function(path) {
  tryCatch(decode_stream(path), error = function(error) {
    # Damaged metadata may lead anywhere; wherever it does, the answer is unreadable.
    if (inherits(error, "yb_error")) stop(error)
    abort_unreadable("the Arrow stream is damaged")
  })
}

decode_stream <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  schema <- NULL
  types <- NULL
  dictionaries <- list()
  chunks <- list()
  rows <- 0
  # Metadata of the dictionaries before the last batch by their place; those before the next one
  # are mostly alike.
  before <- list()
  place <- 0L
  repeat {
    place <- place + 1L
    message <- read_message(connection, if (place <= length(before)) before[[place]])
    if (is.null(message)) break
    if (message$kind == 1L) {
      if (!is.null(schema)) abort_unreadable("the stream has two schemas")
      schema <- arrow_schema(message$buffer, message$header)
      types <- lapply(schema$fields, `[[`, "type")
      place <- 0L
    } else if (is.null(schema)) {
      abort_unreadable("the stream does not begin with a schema")
    } else if (message$kind == 2L) {
      dictionaries <- add_dictionary(message, types, dictionaries)
      if (place <= length(types)) before[[place]] <- message[names(message) != "body"]
    } else if (message$kind == 3L) {
      batch <- decode_batch(message, message$header, types, dictionaries)
      rows <- rows + batch$rows
      chunks[[length(chunks) + 1L]] <- batch$columns
      place <- 0L
    } else {
      abort_unreadable("the stream has a message that is no table")
    }
  }
  if (is.null(schema)) abort_unreadable("the stream has no schema")
  if (length(readBin(connection, "raw", 1L))) abort_unreadable("bytes follow the end of the stream")
  columns <- lapply(seq_along(types), function(i) {
    bind_chunks(lapply(chunks, `[[`, i), types[[i]], dictionaries)
  })
  names(columns) <- names(schema$fields)
  list(
    columns = columns,
    about = describe_columns(schema$fields),
    rows = rows,
    metadata = schema$metadata
  )
}

# Raises `yb_error_cut` unless the messages of the file lead to an end marker. Decodes nothing.
check_arrow_stream <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  while (!is.null(read_message(connection))) NULL
  invisible()
}

read_exactly <- function(connection, count, what = "raw") {
  found <- readBin(connection, what, count, endian = "little")
  if (length(found) < count) abort_cut("The Arrow stream ends without its end marker")
  found
}

# The next message; NULL at the end marker. `alike` is one that may have the same metadata, which is
# then not read again.
read_message <- function(connection, alike = NULL) {
  frame <- read_exactly(connection, 2, "integer")
  if (!identical(frame[1], -1L)) abort_unreadable("this is no Arrow stream")
  size <- frame[2]
  if (identical(size, 0L)) return(NULL)
  # Sizes beyond 2^31 are negative here, or NA.
  if (!isTRUE(size > 0 && size <= MAX_METADATA_BYTES)) {
    abort_unreadable("the metadata of a message is too large")
  }
  bytes <- read_exactly(connection, size)
  message <- if (identical(bytes, alike$buffer$bytes)) alike else read_metadata(fb_buffer(bytes))
  message$body <- read_exactly(connection, message$length)
  message
}

# What a message says of itself: all of it but the body.
read_metadata <- function(buffer) {
  message <- fb_root(buffer)
  length <- fb_scalar(buffer, message, 3, fb_i64, 0)
  if (length < 0 || length > MAX_BODY_BYTES) abort_unreadable("the body of a message is too large")
  header <- fb_table(buffer, message, 2)
  if (is.null(header)) abort_unreadable("a message has no header")
  kind <- fb_scalar(buffer, message, 1, fb_u8, 0L)
  about <- list(kind = kind, buffer = buffer, header = header, length = length)
  if (kind == 2L) {
    about$id <- fb_scalar(buffer, header, 0, fb_i64, 0)
    about$extends <- fb_scalar(buffer, header, 2, fb_u8, 0L) != 0
  }
  about
}

# Rows and decoded columns of the record batch at `table` of a message.
decode_batch <- function(message, table, types, dictionaries) {
  buffer <- message$buffer
  rows <- fb_scalar(buffer, table, 0, fb_i64, 0)
  if (!is.null(fb_table(buffer, table, 3))) {
    abort_unreadable("the bodies are compressed; ask for an uncompressed Arrow stream")
  }
  nodes <- fb_pairs(buffer, table, 1)
  if (ncol(nodes) != length(types)) abort_unreadable("a batch lacks columns")
  if (rows < 0 || rows > MAX_BATCH_ROWS) abort_unreadable("a batch has too many rows")
  if (any(nodes[1, ] != rows)) abort_unreadable("the columns of a batch differ in length")
  body <- rawConnection(message$body)
  on.exit(close(body))
  take <- taker(body, length(message$body), fb_pairs(buffer, table, 2))
  columns <- lapply(seq_along(types), function(i) {
    decode_column(types[[i]], rows, nodes[2, i], take, dictionaries)
  })
  list(rows = rows, columns = columns)
}

# A function that reads the next of `buffers` from a body of `size` bytes: so many numbers, or,
# without a count, all of its bytes. A connection is read from any place without another copy.
taker <- function(body, size, buffers) {
  first <- buffers[1, ]
  sizes <- buffers[2, ]
  if (any(first < 0 | sizes < 0 | first + sizes > size)) {
    abort_unreadable("a buffer lies beyond the body of its message")
  }
  used <- 0L
  function(what, count = NULL, width = 1L, signed = TRUE) {
    used <<- used + 1L
    if (used > length(sizes)) abort_unreadable("a batch lacks buffers")
    if (is.null(count)) count <- sizes[used]
    if (count * width > sizes[used]) abort_unreadable("a buffer is shorter than its column")
    if (count == 0) return(vector(what, 0L))
    seek(body, first[used])
    readBin(body, what, count, width, signed, "little")
  }
}

# `dictionaries` with the one in `message`, which replaces or extends the one of its id. One that is
# repeated, as services do before each batch, is decoded once.
#
# Each keeps all values that it has had, in `parts`, so that columns are looked up once: those in
# force are the last `size` of them, behind `before` others.
add_dictionary <- function(message, types, dictionaries) {
  key <- as.character(message$id)
  extends <- message$extends
  known <- or_default(dictionaries[[key]], list(before = 0L, size = 0L))
  if (!extends && identical(known$message, message)) return(dictionaries)
  types <- Filter(function(type) type$kind == "dictionary" && type$id == message$id, types)
  data <- fb_table(message$buffer, message$header, 1)
  if (length(types) == 0 || is.null(data)) abort_unreadable("a dictionary belongs to no column")
  values <- decode_batch(message, data, list(types[[1]]$values), list())
  rows <- as.integer(values$rows)
  dictionaries[[key]] <- list(
    parts = c(known$parts, values$columns),
    before = if (extends) known$before else known$before + known$size,
    size = if (extends) known$size + rows else rows,
    message = if (!extends) message
  )
  dictionaries
}

bind_chunks <- function(chunks, type, dictionaries) {
  empty <- switch(
    type$kind,
    null = , text = character(),
    integer = int64(numeric(), numeric()),
    number = numeric(),
    boolean = logical(),
    day = structure(numeric(), class = "Date"),
    dictionary = bind_chunks(list(), type$values)
  )
  if (length(chunks) == 0) return(empty)
  if (type$kind != "dictionary") return(bind_parts(chunks))
  coded(bind_parts(chunks), bind_parts(dictionaries[[as.character(type$id)]]$parts))
}
