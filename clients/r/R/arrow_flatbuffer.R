# Flatbuffers: reads tables, vectors and scalars of the metadata of an Arrow message.
#
# A buffer is a raw vector, a position counts bytes from 0. Every read is checked against the end
# of the buffer, so that damaged metadata is an error. Knows nothing of Arrow.
# Format: https://flatbuffers.dev/internals/

fb_bytes <- function(buffer, position, size) {
  if (!is.finite(position) || position < 0 || position + size > length(buffer)) {
    abort_unreadable("the metadata of a message points beyond its end")
  }
  buffer[position + seq_len(size)]
}

fb_u8 <- function(buffer, position) as.integer(fb_bytes(buffer, position, 1L))

fb_i16 <- function(buffer, position) {
  readBin(fb_bytes(buffer, position, 2L), "integer", 1L, 2L, TRUE, "little")
}

fb_u16 <- function(buffer, position) {
  readBin(fb_bytes(buffer, position, 2L), "integer", 1L, 2L, FALSE, "little")
}

fb_i32 <- function(buffer, position) {
  value <- readBin(fb_bytes(buffer, position, 4L), "integer", 1L, 4L, TRUE, "little")
  if (is.na(value)) -2147483648 else value
}

fb_u32 <- function(buffer, position) {
  value <- fb_i32(buffer, position)
  if (value < 0) value + 4294967296 else value
}

# A 64-bit integer as a double: sizes and positions are far below 2^53.
fb_i64 <- function(buffer, position) {
  fb_u32(buffer, position) + 4294967296 * fb_i32(buffer, position + 4)
}

fb_root <- function(buffer) fb_u32(buffer, 0)

# Position of field `index` (from 0) of the table at `table`; NULL where it has its default.
fb_field <- function(buffer, table, index) {
  vtable <- table - fb_i32(buffer, table)
  entry <- 4 + 2 * index
  if (entry >= fb_u16(buffer, vtable)) return(NULL)
  offset <- fb_u16(buffer, vtable + entry)
  if (offset == 0) NULL else table + offset
}

fb_scalar <- function(buffer, table, index, read, default) {
  position <- fb_field(buffer, table, index)
  if (is.null(position)) default else read(buffer, position)
}

fb_table <- function(buffer, table, index) {
  position <- fb_field(buffer, table, index)
  if (is.null(position)) NULL else position + fb_u32(buffer, position)
}

fb_text <- function(buffer, table, index) {
  position <- fb_table(buffer, table, index)
  if (is.null(position)) return(NULL)
  text <- fb_bytes(buffer, position + 4, fb_u32(buffer, position))
  if (any(text == 0)) abort_unreadable("a name in the metadata has a zero byte")
  text <- rawToChar(text)
  Encoding(text) <- "UTF-8"
  text
}

# Positions of the elements of a vector field; `size` is that of an element. A vector cannot have
# more elements than its buffer has bytes, so a count beyond that is refused before it is used.
fb_elements <- function(buffer, table, index, size) {
  position <- fb_table(buffer, table, index)
  if (is.null(position)) return(numeric())
  count <- fb_u32(buffer, position)
  if (position + 4 + count * size > length(buffer)) {
    abort_unreadable("the metadata of a message points beyond its end")
  }
  position + 4 + size * (seq_len(count) - 1)
}

# Positions of the tables that a vector field refers to.
fb_tables <- function(buffer, table, index) {
  elements <- fb_elements(buffer, table, index, 4)
  vapply(elements, function(at) at + fb_u32(buffer, at), 0)
}
