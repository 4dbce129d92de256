# Conditions: one class for each refusal and failure, each with advice.
#
# Every error is a `yb_error`; refusals of the service are `yb_refusal`s too and have `status`,
# `code`, `detail` and `request_id`. No condition holds a request, a call or the key.

#' Errors of this package
#'
#' Every error has the class `yb_error` and a class of its own, so that [tryCatch()] can tell them
#' apart. The message is a sentence about the cause and one that says what to do next. Refusals of
#' the service are `yb_refusal`s too, with the fields `status`, `code`, `detail` and `request_id`.
#' None holds the key.
#'
#' | Class | Cause |
#' |---|---|
#' | `yb_error_key` | 401: the key is missing, malformed, unknown or revoked |
#' | `yb_error_plan` | 402: the plan lacks this |
#' | `yb_error_licence` | 403: the licence forbids bulk downloads |
#' | `yb_error_not_found` | 404: no such dataset, snapshot or tool |
#' | `yb_error_not_published` | 404: at that time the dataset was not published yet; a `yb_error_not_found` too |
#' | `yb_error_format` | 406: no such format |
#' | `yb_error_gone` | 410: the snapshot or watermark is no longer kept |
#' | `yb_error_history` | 410: the history does not reach back to that time |
#' | `yb_error_changed` | 412: the file changed between two ranges |
#' | `yb_error_too_large` | 413: the answer is larger than allowed |
#' | `yb_error_versions` | 413: more versions than revisions may span; a `yb_error_too_large` too |
#' | `yb_error_invalid` | 422, 414, 431: a parameter is wrong |
#' | `yb_error_range` | 416: the range lies outside the file |
#' | `yb_error_month` | 429: the requests of the month are used up; `resets_at` says until when |
#' | `yb_error_burst` | 429: too many requests at once, and waiting did not help |
#' | `yb_error_unavailable` | 502, 503, 504 after all retries |
#' | `yb_error_rebuilding` | 503: an old version is being made readable; a `yb_error_unavailable` too |
#' | `yb_error_service` | another 5xx or an unknown status |
#' | `yb_error_budget` | the pull needs more requests than the month has left; nothing was sent |
#' | `yb_error_connection` | no connection, or a timeout |
#' | `yb_error_cut` | the body was cut off, after all retries |
#' | `yb_error_short` | fewer or more rows than the service announced |
#' | `yb_error_snapshot` | pages of different snapshots |
#' | `yb_error_digest` | a file differs from its digest |
#' | `yb_error_unreadable` | the body is not what it should be |
#' | `yb_error_redirect` | a redirect that must not be followed |
#' | `yb_error_integer` | integers that the chosen type cannot hold |
#' | `yb_error_package` | a suggested package is missing |
#' | `yb_error_usage` | an argument or a setting is wrong, or a file cannot be written |
#'
#' @name yb_errors
#' @examples
#' tryCatch(
#'   yb_preview("Not a name"),
#'   yb_error_usage = function(error) conditionMessage(error)
#' )
NULL

abort <- function(class, message, advice = NULL, ...) {
  text <- hide_key(paste(c(message, advice), collapse = "\n"))
  stop(structure(
    class = c(class, "yb_error", "error", "condition"),
    list(message = text, call = NULL, advice = advice, ...)
  ))
}

# `headers`, after a warning where they name parameters that the service does not know.
warn_ignored <- function(headers) {
  ignored <- headers[["x-service-ignored"]]
  if (!is.null(ignored)) {
    warning(structure(
      class = c("yb_warning_ignored", "warning", "condition"),
      list(message = paste("The service ignored parameters:", ignored), call = NULL)
    ))
  }
  headers
}

abort_usage <- function(message, advice = NULL) abort("yb_error_usage", message, advice)

abort_unreadable <- function(why) {
  abort(
    "yb_error_unreadable",
    sprintf("The answer cannot be read: %s.", why),
    "Try again; if it stays so, report it to the operator of the service."
  )
}

abort_cut <- function(what) {
  abort("yb_error_cut", paste0(what, ": the body was cut off."),
        "Nothing was kept of it. Try again in a minute.")
}

# The text without the key, should a server or a proxy repeat it, and without names and passwords of
# proxies, which libcurl repeats.
hide_key <- function(text) {
  key <- Sys.getenv("SERVICE_API_KEY")
  if (nzchar(key)) text <- gsub(key, "<key>", text, fixed = TRUE)
  proxies <- Sys.getenv(c("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
  for (user in sub("^([a-z0-9]*://)?(.*)@[^@]*$", "\\2", proxies[grepl("@", proxies, fixed = TRUE)])) {
    if (nzchar(user)) text <- gsub(user, "<user>", text, fixed = TRUE)
  }
  text
}

# Class and advice of a status.
REFUSALS <- list(
  "401" = c("yb_error_key", "Set the environment variable SERVICE_API_KEY to a valid key."),
  "402" = c("yb_error_plan", "Use `yb_get()`, which pages through the rows, or ask for another plan."),
  "403" = c("yb_error_licence", "Use `yb_get()`; no plan allows a bulk download of this dataset."),
  "404" = c("yb_error_not_found", "Look the name up with `yb_search()` or `yb_datasets()`."),
  "406" = c("yb_error_format", "Choose a format that the service has loaded."),
  "410" = c("yb_error_gone", "Begin again from the current snapshot: leave `snapshot` or `since` out."),
  "412" = c("yb_error_changed", "Begin the download again."),
  "413" = c("yb_error_too_large", "Ask for less: `limit`, `start`, `end`, `columns` or `geometry = FALSE`."),
  "414" = c("yb_error_invalid", "Name fewer columns or datasets."),
  "416" = c("yb_error_range", "Begin the download again."),
  "422" = c("yb_error_invalid", "Correct the parameters that the message names."),
  "431" = c("yb_error_invalid", "Name fewer columns or datasets."),
  "502" = c("yb_error_unavailable", "Try again in a few minutes."),
  "503" = c("yb_error_unavailable", "Try again in a few minutes."),
  "504" = c("yb_error_unavailable", "Try again in a few minutes.")
)

# Class and advice of what the code of a refusal tells apart; those of its status hold too, but for a
# time that is gone: it starts no pull again.
REFUSALS_BY_CODE <- list(
  not_published_yet = c("yb_error_not_published", "`yb_describe()$snapshots` has the versions that are kept, with their times."),
  history_gone = c("yb_error_history", "`yb_describe()$snapshots` has the versions that are kept, with their times."),
  too_many_versions = c("yb_error_versions", "Give `since`, or a later one."),
  rebuilding = c("yb_error_rebuilding", "Try again in a few minutes; it is made once.")
)

# Raises the refusal in `answer`, as `exchange()` returns it.
abort_refusal <- function(answer) {
  code <- or_default(answer$headers[["x-service-error-code"]], NA_character_)
  detail <- refusal_detail(answer)
  known <- or_default(
    REFUSALS[[as.character(answer$status)]],
    c("yb_error_service", "Try again later; if it stays so, report the request id.")
  )
  classes <- known[1]
  special <- if (!is.na(code)) REFUSALS_BY_CODE[[code]]
  if (!is.null(special)) {
    classes <- c(special[1], if (code != "history_gone") classes)
    known <- special
  }
  fields <- list(
    status = answer$status, code = code, detail = hide_key(detail),
    request_id = or_default(answer$headers[["x-request-id"]], NA_character_)
  )
  if (answer$status == 429) {
    known <- if (is_month_used_up(answer)) {
      fields$resets_at <- month_end(answer)
      c("yb_error_month", sprintf(
        "The month ends on %s. Unchanged tables stay readable from the cache until then.",
        if (is.na(fields$resets_at)) "its last day" else format(fields$resets_at, "%Y-%m-%d", "UTC")
      ))
    } else {
      c("yb_error_burst", "Wait, or send fewer requests at once.")
    }
    classes <- known[1]
  }
  if (answer$status >= 500 && !is.na(fields$request_id)) {
    detail <- sprintf("%s (request %s)", detail, fields$request_id)
  }
  message <- sprintf("The service answered %d: %s", answer$status, detail)
  do.call(abort, c(list(c(classes, "yb_refusal"), message, known[2]), fields))
}

# True for a 429 of the month, which no wait of seconds ends.
is_month_used_up <- function(answer) {
  code <- answer$headers[["x-service-error-code"]]
  if (is.null(code)) isTRUE(retry_after(answer) > 3600) else code == "quota_used_up"
}

month_end <- function(answer) {
  seconds <- suppressWarnings(as.numeric(or_default(answer$headers[["x-ratelimit-reset"]], NA)))
  if (is.na(seconds)) seconds <- as.numeric(Sys.time()) + or_default(retry_after(answer), NA_real_)
  as.POSIXct(seconds, origin = "1970-01-01", tz = "UTC")
}

# The sentence of a refusal: `detail`, or one line for each parameter of a 422.
refusal_detail <- function(answer) {
  body <- tryCatch(
    jsonlite::fromJSON(utf8(rawToChar(answer$body)), simplifyVector = FALSE),
    error = function(error) NULL
  )
  detail <- if (is.list(body)) body$detail
  if (is.character(detail)) return(detail)
  if (!is.list(detail)) return("it gave no reason")
  lines <- vapply(detail, function(problem) {
    sprintf("%s: %s", paste(unlist(problem$loc), collapse = "."), or_default(problem$msg, "invalid"))
  }, "")
  paste(lines, collapse = "\n")
}

or_default <- function(value, default) if (is.null(value)) default else value

utf8 <- function(text) {
  Encoding(text) <- "UTF-8"
  text
}

require_package <- function(package, what) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  abort("yb_error_package", sprintf("%s needs the package %s.", what, package),
        sprintf("Install it: install.packages(\"%s\").", package))
}
