# Columns of Arrow record batches: buffers to vectors, vectorised with readBin.
#
# Owns the decoders of the types that `arrow_type` knows. Each takes the buffers of a batch in
# their order from `next_buffer()` and checks their sizes. A NaN that is a value becomes R's NaN, a
# null becomes NA, so that the two stay apart.
# Layout: https://arrow.apache.org/docs/format/Columnar.html

bits <- function(buffer, count) {
  if (length(buffer) < ceiling(count / 8)) abort_unreadable("a buffer is shorter than its column")
  as.logical(rawToBits(buffer[seq_len(ceiling(count / 8))]))[seq_len(count)]
}

# `size` bytes behind the first `start`. A range of numbers is not spelled out as their sum would be.
slice_bytes <- function(bytes, start, size) {
  if (size == 0) raw() else bytes[(start + 1):(start + size)]
}

numbers_in <- function(buffer, what, count, width, signed = TRUE) {
  if (length(buffer) < count * width) abort_unreadable("a buffer is shorter than its column")
  readBin(buffer, what, count, width, signed, "little")
}

# Positions of nulls; empty without any. `buffer` is empty where the column has none.
null_positions <- function(buffer, count, nulls) {
  # A column without nulls has the buffer too, and it must be taken.
  force(buffer)
  if (nulls == 0 || count == 0) return(integer())
  which(!bits(buffer, count))
}

decode_number <- function(type, count, nulls, next_buffer) {
  missing <- null_positions(next_buffer(), count, nulls)
  values <- numbers_in(next_buffer(), "double", count, type$width / 8)
  # Every NaN is one of the values here; NA has bits of its own that mean nothing in Arrow.
  values[is.na(values)] <- NaN
  values[missing] <- NA_real_
  values
}

decode_boolean <- function(type, count, nulls, next_buffer) {
  missing <- null_positions(next_buffer(), count, nulls)
  values <- bits(next_buffer(), count)
  values[missing] <- NA
  values
}

# Whole numbers below 64 bits: integers, or doubles where an integer of R has no room.
decode_integer <- function(type, count, nulls, next_buffer) {
  missing <- null_positions(next_buffer(), count, nulls)
  buffer <- next_buffer()
  if (type$width == 64) return(int64_from_bytes(buffer, count, missing))
  if (type$width == 32) {
    values <- as.double(numbers_in(buffer, "integer", count, 4L))
    values[is.na(values)] <- -2147483648
    if (!type$signed) values <- ifelse(values < 0, values + 4294967296, values)
  } else {
    values <- as.double(numbers_in(buffer, "integer", count, type$width %/% 8, type$signed))
  }
  values[missing] <- NA_real_
  int64_from_numbers(values)
}

decode_day <- function(type, count, nulls, next_buffer) {
  missing <- null_positions(next_buffer(), count, nulls)
  values <- as.double(numbers_in(next_buffer(), "integer", count, 4L))
  values[missing] <- NA_real_
  structure(values, class = "Date")
}

# Texts: a zero byte is put behind each of them, which is where readBin ends a text.
decode_text <- function(type, count, nulls, next_buffer) {
  missing <- null_positions(next_buffer(), count, nulls)
  offsets <- next_buffer()
  data <- next_buffer()
  if (count == 0) return(character())
  offsets <- if (type$width == 64) {
    halves <- numbers_in(offsets, "integer", 2 * (count + 1), 4L)
    if (any(halves[c(FALSE, TRUE)] != 0)) abort_unreadable("a text lies beyond 4 GiB")
    as.double(halves[c(TRUE, FALSE)])
  } else {
    numbers_in(offsets, "integer", count + 1, 4L)
  }
  first <- offsets[1]
  last <- offsets[count + 1]
  if (anyNA(offsets) || first < 0 || is.unsorted(offsets) || last > length(data)) {
    abort_unreadable("the offsets of a text column are not in order")
  }
  data <- slice_bytes(data, first, last - first)
  if (any(data == 0)) abort_unreadable("a text has a zero byte, which R cannot hold")
  ended <- raw(length(data) + count)
  ended[-(offsets[-1] - first + seq_len(count))] <- data
  values <- readBin(ended, "character", count)
  Encoding(values) <- "UTF-8"
  if (!all(validUTF8(values))) abort_unreadable("a text is not UTF-8")
  values[missing] <- NA_character_
  values
}

# Positions in a dictionary, from 0; NA where the row is null.
decode_indices <- function(type, count, nulls, next_buffer) {
  if (type$width != 32 || !type$signed) {
    return(int64_as_numbers(decode_integer(type, count, nulls, next_buffer)))
  }
  missing <- null_positions(next_buffer(), count, nulls)
  index <- numbers_in(next_buffer(), "integer", count, 4L)
  index[missing] <- 0L
  if (anyNA(index)) abort_unreadable("an index points beyond its dictionary")
  index[missing] <- NA_integer_
  index
}

decode_dictionary <- function(type, count, nulls, next_buffer, dictionaries) {
  values <- dictionaries[[as.character(type$id)]]$values
  if (is.null(values)) abort_unreadable("a dictionary comes after its first use")
  index <- decode_indices(type$index, count, nulls, next_buffer)
  size <- if (is_int64(values)) int64_length(values) else length(values)
  if (any(index < 0 | index >= size, na.rm = TRUE)) {
    abort_unreadable("an index points beyond its dictionary")
  }
  if (is_int64(values)) int64_subset(values, index + 1) else values[index + 1]
}

# One column of a batch. `next_buffer()` returns the next of its buffers.
decode_column <- function(type, count, nulls, next_buffer, dictionaries) {
  switch(
    type$kind,
    null = rep(NA_character_, count),
    integer = decode_integer(type, count, nulls, next_buffer),
    number = decode_number(type, count, nulls, next_buffer),
    boolean = decode_boolean(type, count, nulls, next_buffer),
    day = decode_day(type, count, nulls, next_buffer),
    text = decode_text(type, count, nulls, next_buffer),
    dictionary = decode_dictionary(type, count, nulls, next_buffer, dictionaries)
  )
}
