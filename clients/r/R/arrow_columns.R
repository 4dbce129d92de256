# Columns of Arrow record batches: buffers to vectors, vectorised with readBin.
#
# Owns the decoders of the types that `arrow_type` knows. Each takes the buffers of a batch in
# their order by `take(what, count, width, signed)`, which checks their sizes. A NaN that is a value
# becomes R's NaN, a null becomes NA, so that the two stay apart.
# Layout: https://arrow.apache.org/docs/format/Columnar.html

take_bits <- function(take, count) {
  bits <- as.logical(rawToBits(take("raw", ceiling(count / 8), 1L)))
  if (length(bits) > count) bits[seq_len(count)] else bits
}

# Positions of nulls; empty without any. A column without nulls has the buffer too, often empty.
take_nulls <- function(take, count, nulls) {
  if (nulls != 0 && count != 0) return(which(!take_bits(take, count)))
  take("raw", 0L, 1L)
  integer()
}

# `values` with nulls at `missing`. Assigning costs even where there are none.
with_nulls <- function(values, missing) {
  if (length(missing)) values[missing] <- NA
  values
}

decode_number <- function(type, count, nulls, take) {
  missing <- take_nulls(take, count, nulls)
  values <- take("double", count, type$width / 8)
  # Every NaN is one of the values here; NA has bits of its own that mean nothing in Arrow.
  if (anyNA(values)) values[is.na(values)] <- NaN
  with_nulls(values, missing)
}

decode_boolean <- function(type, count, nulls, take) {
  missing <- take_nulls(take, count, nulls)
  with_nulls(take_bits(take, count), missing)
}

# Whole numbers below 64 bits: integers, or doubles where an integer of R has no room.
decode_integer <- function(type, count, nulls, take) {
  missing <- take_nulls(take, count, nulls)
  if (type$width == 64) return(int64_from_words(take("integer", 2 * count, 4L), missing))
  if (type$width == 32) {
    values <- as.double(take("integer", count, 4L))
    values[is.na(values)] <- -2147483648
    if (!type$signed) values <- ifelse(values < 0, values + 4294967296, values)
  } else {
    values <- as.double(take("integer", count, type$width %/% 8, type$signed))
  }
  int64_from_numbers(with_nulls(values, missing))
}

decode_day <- function(type, count, nulls, take) {
  missing <- take_nulls(take, count, nulls)
  structure(with_nulls(as.double(take("integer", count, 4L)), missing), class = "Date")
}

decode_text <- function(type, count, nulls, take) {
  missing <- take_nulls(take, count, nulls)
  if (count == 0) {
    # Without rows there need not be an offset.
    take("raw", 0L, 1L)
    take("raw", 0L, 1L)
    return(character())
  }
  offsets <- if (type$width == 64) {
    halves <- take("integer", 2 * (count + 1), 4L)
    if (!all(halves[c(FALSE, TRUE)] == 0)) abort_unreadable("a text lies beyond 4 GiB")
    halves[c(TRUE, FALSE)]
  } else {
    take("integer", count + 1, 4L)
  }
  data <- take("raw")
  first <- offsets[1]
  last <- offsets[count + 1]
  if (anyNA(offsets) || first < 0 || is.unsorted(offsets) || last > length(data)) {
    abort_unreadable("the offsets of a text column are not in order")
  }
  if (last - first < length(data)) data <- data[first + seq_len(last - first)]
  if (any(data == 0)) abort_unreadable("a text has a zero byte, which R cannot hold")
  values <- readChar(data, diff(offsets), useBytes = TRUE)
  Encoding(values) <- "UTF-8"
  if (!all(validUTF8(values))) abort_unreadable("a text is not UTF-8")
  with_nulls(values, missing)
}

# Positions in a dictionary, from 0; NA where the row is null.
decode_indices <- function(type, count, nulls, take) {
  if (type$width != 32 || !type$signed) {
    return(int64_as_numbers(decode_integer(type, count, nulls, take)))
  }
  missing <- take_nulls(take, count, nulls)
  index <- take("integer", count, 4L)
  # What stands at a null means nothing; the smallest integer, which is NA here, is no position.
  if (length(missing)) index[missing] <- 0L
  if (anyNA(index)) abort_unreadable("an index points beyond its dictionary")
  with_nulls(index, missing)
}

# Positions, from 1, in all values that the dictionary of the column has had in this stream.
decode_dictionary <- function(type, count, nulls, take, dictionaries) {
  dictionary <- dictionaries[[as.character(type$id)]]
  if (is.null(dictionary)) abort_unreadable("a dictionary comes after its first use")
  index <- decode_indices(type$index, count, nulls, take)
  # Beside 0 and -1, so that a batch of nulls has a smallest and a largest position too.
  if (min(index, 0, na.rm = TRUE) < 0 || max(index, -1, na.rm = TRUE) >= dictionary$size) {
    abort_unreadable("an index points beyond its dictionary")
  }
  as.integer(index) + (dictionary$before + 1L)
}

# One column of a batch; of one with a dictionary the positions in it.
decode_column <- function(type, count, nulls, take, dictionaries) {
  switch(
    type$kind,
    null = rep(NA_character_, count),
    integer = decode_integer(type, count, nulls, take),
    number = decode_number(type, count, nulls, take),
    boolean = decode_boolean(type, count, nulls, take),
    day = decode_day(type, count, nulls, take),
    text = decode_text(type, count, nulls, take),
    dictionary = decode_dictionary(type, count, nulls, take, dictionaries)
  )
}
