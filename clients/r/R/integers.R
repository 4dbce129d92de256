# Integers of 64 bits, which R does not have: read, joined and converted without rounding.
#
# An `int64` is a list of two vectors of doubles, the upper 32 bits (signed) and the lower ones
# (unsigned), with NA in both for a null. `int64_as()` makes the vector that the caller asked for,
# and is the only place where one can be refused.

# Choices of `integers`.
INTEGER_CHOICES <- c("auto", "double", "integer64", "character")

int64 <- function(high, low) structure(list(high = high, low = low), class = "yb_int64")

is_int64 <- function(x) inherits(x, "yb_int64")

int64_length <- function(x) length(unclass(x)$high)

int64_subset <- function(x, index) {
  x <- unclass(x)
  int64(x$high[index], x$low[index])
}

int64_bind <- function(chunks) {
  chunks <- lapply(chunks, unclass)
  int64(unlist(lapply(chunks, `[[`, "high")), unlist(lapply(chunks, `[[`, "low")))
}

# Of the integers of 32 bits that they are, the lower one first.
int64_from_words <- function(words, missing) {
  halves <- as.double(words)
  # The bits of NA are those of -2^31.
  if (anyNA(halves)) halves[is.na(halves)] <- -2147483648
  low <- halves[c(TRUE, FALSE)]
  high <- halves[c(FALSE, TRUE)]
  low <- low + 4294967296 * (low < 0)
  int64(with_nulls(high, missing), with_nulls(low, missing))
}

# Whole numbers between -2^53 and 2^53.
int64_from_numbers <- function(values) {
  high <- floor(values / 4294967296)
  int64(high, values - high * 4294967296)
}

# Doubles; exact between -2^53 and 2^53 (`int64_is_exact`).
int64_as_numbers <- function(x) {
  x <- unclass(x)
  x$high * 4294967296 + x$low
}

int64_is_exact <- function(x) {
  x <- unclass(x)
  within <- x$high >= -2097152 & (x$high < 2097152 | (x$high == 2097152 & x$low == 0))
  is.na(within) | within
}

# Decimal digits. The magnitude is divided by 10^9 twice, 16 bits at a time, which stays exact.
int64_as_text <- function(x) {
  exact <- int64_is_exact(x)
  numbers <- int64_as_numbers(x)
  text <- rep(NA_character_, length(numbers))
  plain <- exact & !is.na(numbers)
  text[plain] <- sprintf("%.0f", numbers[plain])
  if (all(exact)) return(text)
  x <- unclass(int64_subset(x, which(!exact)))
  negative <- x$high < 0
  high <- ifelse(negative, -x$high - (x$low > 0), x$high)
  low <- ifelse(negative & x$low > 0, 4294967296 - x$low, x$low)
  limbs <- list(high %/% 65536, high %% 65536, low %/% 65536, low %% 65536)
  parts <- character()
  for (turn in 1:2) {
    rest <- 0
    for (i in 1:4) {
      value <- rest * 65536 + limbs[[i]]
      limbs[[i]] <- value %/% 1e9
      rest <- value %% 1e9
    }
    parts <- paste0(sprintf("%09.0f", rest), if (turn == 2) parts)
  }
  lead <- ((limbs[[1]] * 65536 + limbs[[2]]) * 65536 + limbs[[3]]) * 65536 + limbs[[4]]
  digits <- sub("^0+", "", paste0(sprintf("%.0f", lead), parts))
  text[!exact] <- paste0(ifelse(negative, "-", ""), digits)
  text
}

# Eight bytes a value, little-endian; those of nulls are zero.
int64_as_bytes <- function(x) {
  x <- unclass(x)
  low <- ifelse(is.na(x$low), 0, x$low)
  high <- ifelse(is.na(x$high), 0, x$high)
  low <- ifelse(low >= 2147483648, low - 4294967296, low)
  halves <- rbind(low, high)
  # as.integer() has no -2^31, but the bits of NA are its bits.
  halves[halves == -2147483648] <- NA
  writeBin(as.integer(halves), raw(), size = 4L, endian = "little")
}

# The 64 bits of bit64's class are those of the value; its NA is -2^63.
int64_as_bit64 <- function(x, name) {
  if (any(unclass(x)$high == -2147483648 & unclass(x)$low == 0, na.rm = TRUE)) {
    abort_integer(name, "-2^63, which is NA in bit64")
  }
  values <- readBin(int64_as_bytes(x), "double", int64_length(x), 8L, endian = "little")
  lowest <- readBin(as.raw(c(0, 0, 0, 0, 0, 0, 0, 0x80)), "double", 1L, 8L, endian = "little")
  values[is.na(unclass(x)$high)] <- lowest
  structure(values, class = "integer64")
}

# The int64 of a column that `int64_as()` made.
int64_from <- function(values) {
  if (inherits(values, "integer64")) {
    bytes <- writeBin(unclass(as.vector(values)), raw(), size = 8L, endian = "little")
    words <- readBin(bytes, "integer", 2 * length(values), 4L, endian = "little")
    found <- unclass(int64_from_words(words, integer()))
    # is.na() knows bit64's NA only where that package is loaded.
    missing <- which(found$high == -2147483648 & found$low == 0)
    return(int64(with_nulls(found$high, missing), with_nulls(found$low, missing)))
  }
  if (is.character(values)) return(int64_from_text(values))
  int64_from_numbers(as.double(values))
}

int64_from_text <- function(text) {
  negative <- startsWith(text, "-") & !is.na(text)
  digits <- sub("^-", "", text)
  if (!all(is.na(digits) | grepl("^[0-9]{1,19}$", digits))) {
    stop("a column of integers has text that is no integer", call. = FALSE)
  }
  digits <- ifelse(is.na(digits), NA, paste0(strrep("0", 19 - nchar(digits)), digits))
  high <- low <- ifelse(is.na(digits), NA_real_, 0)
  # Ten digits and nine; base 2^32, and no product reaches 2^53.
  for (part in 1:19) {
    low <- low * 10 + as.double(substr(digits, part, part))
    high <- high * 10 + low %/% 4294967296
    low <- low %% 4294967296
  }
  high <- ifelse(negative, -high - (low > 0), high)
  low <- ifelse(negative & low > 0, 4294967296 - low, low)
  int64(high, low)
}

# The vector for `choice`. `auto` is an integer where all values have room in 32 bits, a double
# where all lie between -2^53 and 2^53, else bit64's class, and an error without that package.
int64_as <- function(x, choice, name) {
  if (choice == "character") return(int64_as_text(x))
  if (choice == "integer64") {
    require_package("bit64", "integers = \"integer64\"")
    return(int64_as_bit64(x, name))
  }
  numbers <- int64_as_numbers(x)
  if (!all(int64_is_exact(x))) {
    if (choice == "auto" && requireNamespace("bit64", quietly = TRUE)) {
      return(int64_as_bit64(x, name))
    }
    abort_integer(name, "integers beyond 2^53, which a double would round")
  }
  if (choice == "auto" && all(abs(numbers) < 2147483648, na.rm = TRUE)) as.integer(numbers) else numbers
}

abort_integer <- function(name, what) {
  abort(
    "yb_error_integer",
    sprintf("Column `%s` has %s.", name, what),
    "Ask for `integers = \"character\"`, which keeps every digit, or leave the column out."
  )
}
