# Flatbuffers: reads tables, vectors and scalars of the metadata of an Arrow message.
#
# A position counts bytes from 0. Every read is checked against the end of the buffer, so that
# damaged metadata is an error. Knows nothing of Arrow.
# Format: https://flatbuffers.dev/internals/

# A buffer: its bytes, and the numbers of two and of four bytes that they are. Numbers lie at
# multiples of their width in this format, so that each is read by its index.
fb_buffer <- function(bytes) {
  size <- length(bytes)
  list(
    bytes = bytes,
    halves = readBin(bytes, "integer", size %/% 2, 2L, FALSE, "little"),
    words = readBin(bytes, "integer", size %/% 4, 4L, TRUE, "little")
  )
}

abort_beyond <- function() abort_unreadable("the metadata of a message points beyond its end")

# The element at `position` of a buffer's numbers of `width` bytes.
fb_at <- function(numbers, position, width) {
  index <- position / width + 1
  if (!is.finite(index) || index < 1 || index > length(numbers) || index %% 1 != 0) abort_beyond()
  numbers[[index]]
}

fb_u8 <- function(buffer, position) as.integer(fb_at(buffer$bytes, position, 1))

fb_u16 <- function(buffer, position) fb_at(buffer$halves, position, 2)

fb_i16 <- function(buffer, position) {
  value <- fb_u16(buffer, position)
  if (value < 32768L) value else value - 65536L
}

fb_i32 <- function(buffer, position) {
  value <- fb_at(buffer$words, position, 4)
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
  size <- fb_u32(buffer, position)
  if (position + 4 + size > length(buffer$bytes)) abort_beyond()
  text <- buffer$bytes[position + 4 + seq_len(size)]
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
  if (position + 4 + count * size > length(buffer$bytes)) abort_beyond()
  position + 4 + size * (seq_len(count) - 1)
}

# A vector field whose elements are two 64-bit integers each: a column each, in doubles.
fb_pairs <- function(buffer, table, index) {
  first <- fb_elements(buffer, table, index, 16)
  if (length(first) == 0) return(matrix(0, 2, 0))
  if (first[1] %% 4 != 0) abort_beyond()
  words <- as.double(buffer$words[first[1] / 4 + seq_len(4 * length(first))])
  words[is.na(words)] <- -2147483648
  low <- words[c(TRUE, FALSE)]
  matrix(low + 4294967296 * (words[c(FALSE, TRUE)] + (low < 0)), 2)
}

# Positions of the tables that a vector field refers to.
fb_tables <- function(buffer, table, index) {
  elements <- fb_elements(buffer, table, index, 4)
  vapply(elements, function(at) at + fb_u32(buffer, at), 0)
}
