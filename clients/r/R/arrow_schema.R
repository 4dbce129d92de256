# Schemas of Arrow streams: names, types and metadata of the columns.
#
# Reads the schema message and refuses types that the service does not send. Touches no column.
# Format: https://github.com/apache/arrow/blob/main/format/Schema.fbs

arrow_metadata <- function(buffer, table, index) {
  entries <- fb_tables(buffer, table, index)
  values <- lapply(entries, function(entry) or_default(fb_text(buffer, entry, 1), ""))
  names(values) <- vapply(entries, function(entry) or_default(fb_text(buffer, entry, 0), ""), "")
  values
}

arrow_integer_type <- function(buffer, table) {
  list(
    kind = "integer",
    width = fb_scalar(buffer, table, 0, fb_i32, 0),
    signed = fb_scalar(buffer, table, 1, fb_u8, 0) != 0
  )
}

# The type of a field, as a list with a `kind` and what its decoder needs. NULL where it is of a
# kind that no reader is here for.
arrow_type <- function(buffer, code, table) {
  switch(
    as.character(code),
    "1" = list(kind = "null"),
    "2" = {
      type <- arrow_integer_type(buffer, table)
      known <- if (type$signed) c(8, 16, 32, 64) else c(8, 16, 32)
      if (type$width %in% known) type
    },
    "3" = {
      precision <- fb_scalar(buffer, table, 0, fb_i16, 0)
      if (precision == 2) list(kind = "number", width = 64)
      else if (precision == 1) list(kind = "number", width = 32)
    },
    "5" = list(kind = "text", width = 32),
    "6" = list(kind = "boolean"),
    "8" = if (fb_scalar(buffer, table, 0, fb_i16, 1) == 0) list(kind = "day"),
    "20" = list(kind = "text", width = 64),
    NULL
  )
}

arrow_field <- function(buffer, field) {
  name <- or_default(fb_text(buffer, field, 0), "")
  code <- fb_scalar(buffer, field, 2, fb_u8, 0)
  type <- arrow_type(buffer, code, or_default(fb_table(buffer, field, 3), 0))
  if (is.null(type)) {
    abort_unreadable(sprintf(
      "column `%s` has an Arrow type (number %d of the format) that this client does not read",
      name, code
    ))
  }
  dictionary <- fb_table(buffer, field, 4)
  if (!is.null(dictionary)) {
    index <- fb_table(buffer, dictionary, 1)
    type <- list(
      kind = "dictionary",
      id = fb_scalar(buffer, dictionary, 0, fb_i64, 0),
      index = if (is.null(index)) list(kind = "integer", width = 32, signed = TRUE)
              else arrow_integer_type(buffer, index),
      values = type
    )
  }
  list(
    name = name,
    type = type,
    nullable = fb_scalar(buffer, field, 1, fb_u8, 0) != 0,
    metadata = arrow_metadata(buffer, field, 6)
  )
}

# Fields and metadata of the schema message in `buffer`; `table` is the position of the schema.
arrow_schema <- function(buffer, table) {
  if (fb_scalar(buffer, table, 0, fb_i16, 0) != 0) {
    abort_unreadable("the stream is big-endian")
  }
  fields <- lapply(fb_tables(buffer, table, 1), function(field) arrow_field(buffer, field))
  names(fields) <- vapply(fields, function(field) field$name, "")
  list(fields = fields, metadata = arrow_metadata(buffer, table, 2))
}

# The type of a column as the service names it.
column_type <- function(field) {
  type <- if (field$type$kind == "dictionary") field$type$values else field$type
  if (identical(field$metadata[["yearbook.type"]], "date") || type$kind == "day") return("date")
  switch(
    type$kind,
    text = "string", integer = "integer", number = "number", boolean = "boolean", null = "string"
  )
}

# A data frame with a row for each column: name, type, role and unit.
describe_columns <- function(fields) {
  known <- function(key) {
    vapply(fields, function(field) or_default(field$metadata[[key]], NA_character_), "",
           USE.NAMES = FALSE)
  }
  data.frame(
    name = vapply(fields, function(field) field$name, "", USE.NAMES = FALSE),
    type = vapply(fields, column_type, "", USE.NAMES = FALSE),
    role = known("yearbook.role"),
    unit = known("yearbook.unit")
  )
}
