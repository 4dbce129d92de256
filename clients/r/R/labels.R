# Labels in place of codes: factors.
#
# Owns which columns have them and the text that stands for each value: two values never become one,
# and a column with labels is no longer what the service cites.

# Values of a column in an answer. Publishing stores no more, and what is stored is free.
MOST_VALUES <- 10000

# Names of the columns whose values have labels, by the dataset's metadata.
labelled_columns <- function(budget, name) {
  columns <- document(budget, paste0("/v1/datasets/", name), simplify = FALSE)$columns
  has_labels <- function(one) isTRUE(one$labelled) || identical(one$role, "status")
  vapply(Filter(has_labels, columns), function(one) one$name, "")
}

# `pulled` with factors for the columns in `labelled`.
label_columns <- function(budget, name, pulled, labelled, lang, as_of = NULL) {
  snapshot <- pulled$headers[["x-service-snapshot-id"]]
  for (i in which(pulled$about$name %in% labelled)) {
    texts <- value_labels(budget, name, pulled$about$name[i], snapshot, lang, as_of)
    if (is.null(texts)) next
    values <- value_codes(pulled$columns[[i]])
    places <- match(values, names(texts))
    if (any(is.na(places) & !is.na(values))) {
      abort_unreadable(sprintf("it does not list all values of the column `%s`", pulled$about$name[i]))
    }
    pulled$columns[[i]] <- structure(places, levels = unname(texts), class = "factor")
    pulled$about$type[i] <- "label"
  }
  pulled
}

# Values as `/values` writes them.
value_codes <- function(values) {
  if (is_int64(values)) return(int64_as_text(values))
  if (inherits(values, "Date")) return(text_from_days(as.double(values)))
  if (is.logical(values)) tolower(as.character(values)) else as.character(values)
}

# Text of each value of a column, named by the value and in the order of the values. NULL where the
# column keeps its values. Without a value, or a label of one, there are texts as well: the type of a
# column must not depend on what a release happens to hold.
value_labels <- function(budget, name, column, snapshot, lang, as_of) {
  # A version of history is found by its time alone.
  query <- list(
    columns = column, limit = sprintf("%.0f", MOST_VALUES), as_of = as_of,
    snapshot = if (is.null(as_of)) snapshot, lang = lang
  )
  found <- values_document(budget, name, query)
  about <- Find(function(one) identical(one$name, column), found$columns)
  if (is.null(about)) abort_unreadable(sprintf("it does not list the values of the column `%s`", column))
  if (!identical(found$snapshot_id, snapshot)) {
    abort("yb_error_snapshot", "The labels are those of another version than the rows.", "Try again.")
  }
  if (!is.null(about[["next"]])) {
    warn_codes(sprintf("The column `%s` has more than 10,000 values, or long ones, so it keeps its codes.", column))
    return(NULL)
  }
  texts <- label_texts(about$values)
  if (!anyDuplicated(texts)) return(texts)
  warn_codes(sprintf("Labels of the column `%s` look alike with their codes too, so it keeps these.", column))
  NULL
}

# The label of each value, the value itself where it has none, and both where two values would have
# one text.
label_texts <- function(values) {
  readable <- vapply(values, function(one) {
    label <- one$label
    is.atomic(one$value) && length(one$value) == 1 && (is.null(label) || (is.character(label) && length(label) == 1))
  }, NA)
  if (!all(readable)) abort_unreadable("a value or a label is none")
  codes <- vapply(values, function(one) value_texts(one$value, "value"), "")
  texts <- vapply(values, function(one) text_or_na(one$label), "")
  texts[is.na(texts)] <- codes[is.na(texts)]
  shared <- texts %in% texts[duplicated(texts)]
  texts[shared] <- sprintf("%s (%s)", texts[shared], codes[shared])
  stats::setNames(texts, codes)
}

warn_codes <- function(sentence) {
  warning(structure(
    class = c("yb_warning_labels", "warning", "condition"), list(message = sentence, call = NULL)
  ))
}
