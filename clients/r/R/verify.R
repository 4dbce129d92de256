# yb_verify(): compares the values in hand with the digest that the service cites.

#' Verify a result
#'
#' Computes the digest of the values that you hold and compares it with that of the service. A
#' whole snapshot costs nothing; a selection costs one request, because the service reads it again.
#'
#' Every value counts, down to the last bit of a number. The digest is no signature: it shows that
#' two parties hold the same rows, not who published them.
#'
#' @param x A result of [yb_get()] or [yb_sync()], unchanged, in which every column is as it was
#'   read. A result as sf has lost the text of its geometry and cannot be verified, nor can one with
#'   labels.
#' @return A list of class `yb_verification`: `verified`, `digest` (of the values in hand) and
#'   `expected` (of the service).
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) try(yb_verify(yb_get("us_macro_quarterly")))
yb_verify <- function(x) {
  from <- provenance(x)
  digest <- yb_digest(x)
  same_service(from)
  query <- cite_query(from)
  # The digest of a whole snapshot is part of its citation, where the service has computed it.
  expected <- if (length(query) == 0) cited_digest(from, list())
  if (is.null(expected)) expected <- cited_digest(from, c(query, list(verify = "true")), keyed = TRUE)
  if (is.null(expected)) abort_unreadable("the citation has no digest")
  structure(
    class = "yb_verification",
    list(verified = identical(digest, expected), digest = digest, expected = expected)
  )
}

# The digest in a citation; NULL where it has none.
cited_digest <- function(from, query, keyed = FALSE) {
  answer <- ask(retry_budget(), cite_path(from), c(query, list(format = "text")), keyed = keyed)
  text <- utf8(rawToChar(answer$body))
  found <- regmatches(text, regexpr("yb1:[0-9a-f]{64}", text))
  if (length(found)) found
}

#' The digest of a result
#'
#' `yb1:` and the SHA-256 over rows, columns, types and values. It does not depend on the format
#' that carried them, nor on the type that was chosen for integers.
#'
#' @inheritParams yb_verify
#' @return One text.
#' @export
#' @examples
#' yb_digest(yb_example())
yb_digest <- function(x) {
  about <- provenance(x)$columns
  if (!identical(names(x), about$name)) {
    abort_usage("The columns are not those that were read.",
                "Verify the data frame as `yb_get()` returned it, before you change it.")
  }
  if ("label" %in% about$type) {
    abort_usage(
      sprintf("The column `%s` has labels in place of its values.", about$name[about$type == "label"][1]),
      "Get the rows without `labels` to verify them."
    )
  }
  if ("time" %in% about$type) abort_usage("Revisions have no digest.", "Verify what `yb_get()` returned.")
  types <- as.list(stats::setNames(about$type, about$name))
  result_digest(columns_of_frame(x, about), types, nrow(x))
}

#' @export
print.yb_verification <- function(x, ...) {
  if (x$verified) {
    cat("Verified:", x$digest, "\n")
  } else {
    cat("DIFFERENT\nin hand:", x$digest, "\nservice:", x$expected, "\n")
  }
  invisible(x)
}
