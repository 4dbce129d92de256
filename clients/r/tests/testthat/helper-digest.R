# The cases of `tests/fixtures/result_digest.json` as columns: values are text, parsed by type.
digest_vectors <- function(document) {
  lapply(document$cases, function(case) {
    names <- vapply(case$columns, function(column) column$name, "")
    types <- vapply(case$columns, function(column) column$type, "")
    columns <- lapply(seq_along(names), function(i) {
      texts <- vapply(case$rows, function(row) if (is.null(row[[i]])) NA_character_ else row[[i]], "")
      switch(
        types[i],
        integer = yearbook:::int64_from_text(texts),
        number = ifelse(texts %in% "NaN", NaN, suppressWarnings(as.double(texts))),
        boolean = texts == "true",
        texts
      )
    })
    list(
      title = case$title, digest = case$digest, columns = stats::setNames(columns, names),
      types = as.list(stats::setNames(types, names)), rows = length(case$rows)
    )
  })
}
