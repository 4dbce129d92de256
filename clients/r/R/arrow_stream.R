# Arrow IPC streams: messages of a file, one after the other, to the columns of a table.
#
# Owns the framing and the end marker: a stream without its marker is a cut body, never a short
# table. Holds one message at a time and the decoded columns. Touches no network.
# Format: https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format

# Bytes of metadata and of a body beyond which a message is refused. A service sends batches of
# less than a megabyte; one row may be larger.
MAX_METADATA_BYTES <- 64 * 1024^2
MAX_BODY_BYTES <- 1024^3

# Rows of a batch beyond which it is refused: columns of nulls take no bytes in a stream, but do
# here.
MAX_BATCH_ROWS <- 2^24

# Integers as `int64`, dates as text: what the digest is computed from, and what `as_frame()`
# converts. Returns columns, a data frame that describes them, rows and metadata.
read_arrow_stream <- function(path) {
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
  dictionaries <- list()
  chunks <- list()
  rows <- 0
  repeat {
    message <- read_message(connection)
    if (is.null(message)) break
    if (message$kind == 1L) {
      if (!is.null(schema)) abort_unreadable("the stream has two schemas")
      schema <- arrow_schema(message$buffer, message$header)
    } else if (is.null(schema)) {
      abort_unreadable("the stream does not begin with a schema")
    } else if (message$kind == 2L) {
      dictionaries <- add_dictionary(message, schema, dictionaries)
    } else if (message$kind == 3L) {
      batch <- decode_batch(message$buffer, message$header, message$body,
                            lapply(schema$fields, `[[`, "type"), dictionaries)
      rows <- rows + batch$rows
      chunks[[length(chunks) + 1L]] <- batch$columns
    } else {
      abort_unreadable("the stream has a message that is no table")
    }
  }
  if (is.null(schema)) abort_unreadable("the stream has no schema")
  if (length(readBin(connection, "raw", 1L))) abort_unreadable("bytes follow the end of the stream")
  columns <- lapply(seq_along(schema$fields), function(i) {
    bind_chunks(lapply(chunks, `[[`, i), schema$fields[[i]]$type)
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

read_exactly <- function(connection, size) {
  bytes <- readBin(connection, "raw", size)
  if (length(bytes) < size) abort_cut("The Arrow stream ends without its end marker")
  bytes
}

# The next message; NULL at the end marker.
read_message <- function(connection) {
  frame <- read_exactly(connection, 8)
  if (any(frame[1:4] != 0xff)) abort_unreadable("this is no Arrow stream")
  size <- fb_u32(frame, 4)
  if (size == 0) return(NULL)
  if (size > MAX_METADATA_BYTES) abort_unreadable("the metadata of a message is too large")
  buffer <- read_exactly(connection, size)
  message <- fb_root(buffer)
  length <- fb_scalar(buffer, message, 3, fb_i64, 0)
  if (length < 0 || length > MAX_BODY_BYTES) abort_unreadable("the body of a message is too large")
  header <- fb_table(buffer, message, 2)
  if (is.null(header)) abort_unreadable("a message has no header")
  list(
    kind = fb_scalar(buffer, message, 1, fb_u8, 0L),
    buffer = buffer,
    header = header,
    body = read_exactly(connection, length)
  )
}

# Rows and decoded columns of the record batch at `table`.
decode_batch <- function(buffer, table, body, types, dictionaries) {
  rows <- fb_scalar(buffer, table, 0, fb_i64, 0)
  if (!is.null(fb_table(buffer, table, 3))) {
    abort_unreadable("the bodies are compressed; ask for an uncompressed Arrow stream")
  }
  nodes <- fb_elements(buffer, table, 1, 16)
  buffers <- fb_elements(buffer, table, 2, 16)
  if (length(nodes) != length(types)) abort_unreadable("a batch lacks columns")
  if (rows < 0 || rows > MAX_BATCH_ROWS) abort_unreadable("a batch has too many rows")
  used <- 0L
  next_buffer <- function() {
    used <<- used + 1L
    if (used > length(buffers)) abort_unreadable("a batch lacks buffers")
    first <- fb_i64(buffer, buffers[used])
    size <- fb_i64(buffer, buffers[used] + 8)
    if (first < 0 || size < 0 || first + size > length(body)) {
      abort_unreadable("a buffer lies beyond the body of its message")
    }
    slice_bytes(body, first, size)
  }
  columns <- lapply(seq_along(types), function(i) {
    if (fb_i64(buffer, nodes[i]) != rows) abort_unreadable("the columns of a batch differ in length")
    decode_column(types[[i]], rows, fb_i64(buffer, nodes[i] + 8), next_buffer, dictionaries)
  })
  list(rows = rows, columns = columns)
}

# `dictionaries` with the one in `message`, which replaces or extends the one of its id. One that is
# repeated, as services do before each batch, is decoded once.
add_dictionary <- function(message, schema, dictionaries) {
  id <- fb_scalar(message$buffer, message$header, 0, fb_i64, 0)
  key <- as.character(id)
  extends <- fb_scalar(message$buffer, message$header, 2, fb_u8, 0L) != 0
  known <- dictionaries[[key]]
  if (!extends && identical(known$message, message)) return(dictionaries)
  types <- Filter(
    function(type) type$kind == "dictionary" && type$id == id, lapply(schema$fields, `[[`, "type")
  )
  data <- fb_table(message$buffer, message$header, 1)
  if (length(types) == 0 || is.null(data)) abort_unreadable("a dictionary belongs to no column")
  values <- decode_batch(message$buffer, data, message$body, list(types[[1]]$values), list())
  before <- if (extends && !is.null(known)) list(known$values)
  values <- bind_chunks(c(before, values$columns), types[[1]]$values)
  dictionaries[[key]] <- list(values = values, message = if (!extends) message)
  dictionaries
}

bind_chunks <- function(chunks, type) {
  if (type$kind == "dictionary") type <- type$values
  empty <- switch(
    type$kind,
    null = , text = character(),
    integer = int64(numeric(), numeric()),
    number = numeric(),
    boolean = logical(),
    day = structure(numeric(), class = "Date")
  )
  if (length(chunks) == 0) return(empty)
  if (is_int64(empty)) int64_bind(chunks) else do.call(c, chunks)
}
