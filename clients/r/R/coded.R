# Columns in parts: those of batches and pages, one below the other.
#
# Owns the form of columns that came with a dictionary: a `coded` column has the positions (from 1)
# of its rows among its values. Positions are bound, and values looked up, once for all rows: each
# copy of a column of texts takes longer than reading it.

coded <- function(index, values) structure(list(index = index, values = values), class = "yb_coded")

is_coded <- function(x) inherits(x, "yb_coded")

# A column as the vector of its values. With `dates` texts become dates where all of them are.
uncoded <- function(column, dates = FALSE) {
  if (!is_coded(column)) return(column)
  column <- unclass(column)
  values <- column$values
  if (dates && is.character(values)) values <- or_default(dates_from_text(values), values)
  if (is_int64(values)) int64_subset(values, column$index) else values[column$index]
}

# One column of several, at least one, which have one type.
bind_parts <- function(parts) {
  if (length(parts) == 1) return(parts[[1]])
  if (all(vapply(parts, is_coded, NA))) return(bind_coded(lapply(parts, unclass)))
  parts <- lapply(parts, uncoded)
  if (is_int64(parts[[1]])) return(int64_bind(parts))
  if (is.object(parts[[1]])) do.call(c, parts) else unlist(parts, use.names = FALSE)
}

bind_coded <- function(parts) {
  values <- lapply(parts, `[[`, "values")
  sizes <- vapply(values, function(one) if (is_int64(one)) int64_length(one) else length(one), 0L)
  index <- Map(function(part, before) part$index + before, parts, cumsum(sizes) - sizes)
  coded(unlist(index, use.names = FALSE), bind_parts(values))
}
