# Transport: one exchange over HTTP by httr2.
#
# Owns the key's way: it goes to the origin of SERVICE_BASE_URL alone, so redirects are followed
# here and not by curl, which would send the header on. Turns failures of the connection into
# typed errors without the request in them. Knows neither retries nor the cache.

MAX_REDIRECTS <- 5L

# Sends a request and returns `status`, `headers` (lower-case names) and `body` (raw) or, with
# `path`, the file that holds the body of a 2xx answer.
#
# `address` is a path below the base address; `query` a named list. `progress`, a function of bytes
# so far and in all, is called while a body arrives.
exchange <- function(address, query = list(), method = "GET", headers = list(), keyed = TRUE,
                     path = NULL, progress = NULL) {
  base <- base_url()
  url <- paste0(base, address, query_text(query))
  key <- if (keyed) api_key()
  for (turn in seq_len(MAX_REDIRECTS + 1L)) {
    own <- identical(origin_of(url), origin_of(base))
    # Conditions name tags of the service, which mean nothing elsewhere.
    sent <- if (own) c(headers, if (!is.null(key)) list("X-API-Key" = key))
    answer <- perform(url, method, sent, path, progress)
    if (!answer$status %in% c(301L, 302L, 303L, 307L, 308L)) return(answer)
    url <- redirect_target(url, answer)
  }
  abort("yb_error_redirect", "The service redirects in a circle.", "Report it to its operator.")
}

redirect_target <- function(url, answer) {
  target <- answer$headers[["location"]]
  if (is.null(target)) {
    abort("yb_error_redirect", "A redirect names no address.", "Report it to the operator.")
  }
  if (startsWith(target, "//")) target <- paste0(sub("//.*", "", url), target)
  if (startsWith(target, "/")) target <- paste0(sub("^([^/]*//[^/?#]*).*", "\\1", url), target)
  if (!grepl("^https?://", target, ignore.case = TRUE)) {
    abort("yb_error_redirect", "A redirect leads to an address that is not HTTP.",
          "Report it to the operator of the service.")
  }
  # Only a redirect to a stored file (307) may leave the service, and it needs no key there.
  if (!identical(origin_of(target), origin_of(url))) {
    if (answer$status != 307L || (grepl("^https:", url) && !grepl("^https:", target))) {
      abort("yb_error_redirect",
            sprintf("The service redirects to another origin, %s.", origin_of(target)),
            "The key was not sent there. Check SERVICE_BASE_URL.")
    }
  }
  target
}

# Bytes of a body that is kept in memory: documents and refusals.
MAX_DOCUMENT_BYTES <- 256 * 1024^2

# The process that loaded the package. A fork has its connections, whose answers would be mixed up.
loaded <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) loaded$process <- Sys.getpid()

# Functions for httr2, which keeps them with the last request: none may see the frame of a call,
# which has the key.
never <- function(response) FALSE

no_pause <- function(tries) 0

progress_callback <- function(progress) {
  force(progress)
  function(down, up) {
    progress(down[2], down[1])
    TRUE
  }
}

perform <- function(url, method, headers, path, progress) {
  file <- if (is.null(path)) tempfile("yearbook") else path
  options <- list(
    followlocation = 0L, connecttimeout = 10L, low_speed_limit = 128L,
    low_speed_time = as.integer(ceiling(stall_seconds()))
  )
  if (is.null(path) && method == "GET") options$maxfilesize_large <- MAX_DOCUMENT_BYTES
  if (!identical(loaded$process, Sys.getpid())) {
    options$fresh_connect <- options$forbid_reuse <- 1L
  }
  if (!is.null(progress)) {
    options$noprogress <- FALSE
    options$progressfunction <- progress_callback(progress)
  }
  request <- httr2::request(url)
  request <- httr2::req_method(request, method)
  request <- httr2::req_user_agent(request, "yearbook-r/0.1.0")
  request <- do.call(httr2::req_options, c(list(request), options))
  request <- httr2::req_error(request, is_error = never)
  # Retries are counted in one place (`with_retries`). Left alone, httr2 0.2 sleeps as long as
  # `Retry-After` says before it returns the answer, and newer versions ask for a number of tries.
  request <- suppressMessages(httr2::req_retry(
    request, is_transient = never, backoff = no_pause
  ))
  request <- add_headers(request, headers)
  response <- tryCatch(
    # Never verbose: the option httr2_verbosity would print the key.
    httr2::req_perform(request, path = file, verbosity = 0),
    error = function(error) error,
    finally = forget_request()
  )
  if (inherits(response, "error")) {
    # A file that was asked for keeps what has arrived: a bulk download is resumed.
    if (is.null(path)) unlink(file)
    abort_connection(response, file)
  }
  status <- httr2::resp_status(response)
  if (status == 407L) abort_proxy()
  found <- headers_of(response)
  if (!is.null(path) && status %in% 200:299) return(list(status = status, headers = found, path = path))
  body <- if (file.exists(file)) readBin(file, "raw", min(file.size(file), MAX_DOCUMENT_BYTES)) else raw()
  unlink(file)
  list(status = status, headers = found, body = body)
}

# `request` with `headers`; newer versions of httr2 hide the key in what they print.
add_headers <- function(request, headers) {
  if (length(headers) == 0) return(request)
  hidden <- if (".redact" %in% names(formals(httr2::req_headers))) list(.redact = "X-API-Key")
  do.call(httr2::req_headers, c(list(request), headers, hidden))
}

# httr2 keeps the last request for `last_request()`, and its older versions print every header of
# it; so the key is taken out.
forget_request <- function() {
  state <- environment(httr2::last_request)$the
  if (is.environment(state) && !is.null(state$last_request)) {
    state$last_request$headers[["X-API-Key"]] <- NULL
  }
}

# Messages of libcurl about bodies that ended too early or stalled. Neither httr2 nor curl for R
# hands its numbers on.
CUT_MESSAGES <- paste(
  "transfer closed", "outstanding read data", "partial file", "ended prematurely",
  "stream.*(reset|closed)", "Recv failure", "reset by peer", "chunk hex", "Empty reply",
  "bad content.encod", "incorrect data check", "too slow", "Operation timed out", sep = "|"
)

abort_proxy <- function(message = "The proxy refuses the user name and password, or wants them.") {
  abort_usage(message, paste(
    "Set HTTPS_PROXY, or http_proxy for an http service, to http://user:password@host:port with",
    "special characters percent-encoded, as %40 for @; NO_PROXY names hosts that need no proxy."
  ))
}

abort_connection <- function(error, file) {
  # The outermost message of a newer httr2 does not tell; its parent's does.
  texts <- conditionMessage(error)
  if (inherits(error$parent, "condition")) texts <- c(texts, conditionMessage(error$parent))
  text <- paste(texts, collapse = " ")
  if (grepl("Fail(ed|ure) writing|Failed to open file", text)) abort_disk(file)
  if (grepl("(response|HTTP code) 407", text)) abort_proxy()
  if (grepl("proxy (syntax|scheme)|resolve proxy", text)) abort_proxy("The proxy's address cannot be used.")
  if (grepl(CUT_MESSAGES, text, ignore.case = TRUE)) {
    abort_cut("The connection ended too early")
  }
  reason <- sub("\\s*$", "", gsub("\\s+", " ", text))
  abort(
    "yb_error_connection",
    sprintf("The service at %s cannot be reached: %s", base_url(), substr(reason, 1, 300)),
    "Check SERVICE_BASE_URL and your network."
  )
}

# Headers by lower-case name. Their bytes are UTF-8; repeated ones are joined by commas.
headers_of <- function(response) {
  headers <- unclass(httr2::resp_headers(response))
  values <- vapply(headers, function(value) utf8(paste(as.character(value), collapse = ", ")), "")
  names <- tolower(names(headers))
  joined <- lapply(unique(names), function(name) paste(values[names == name], collapse = ", "))
  names(joined) <- unique(names)
  joined
}

# `?a=b&...` in the order of `query`, without its NULLs; several values repeat their name. Only RFC 3986's unreserved characters are
# left as they are.
query_text <- function(query) {
  query <- Filter(Negate(is.null), query)
  if (length(query) == 0) return("")
  names <- rep(names(query), lengths(query))
  values <- vapply(unlist(lapply(query, as.character)), percent_encoded, "")
  paste0("?", paste0(names, "=", values, collapse = "&"))
}

percent_encoded <- function(text) {
  bytes <- charToRaw(enc2utf8(text))
  plain <- grepl("[A-Za-z0-9._~-]", rawToChar(bytes, multiple = TRUE), useBytes = TRUE) & bytes < 0x80
  encoded <- sprintf("%%%02X", as.integer(bytes))
  encoded[plain] <- rawToChar(bytes, multiple = TRUE)[plain]
  paste(encoded, collapse = "")
}
