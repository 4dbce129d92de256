# Cache on disk: bodies of answers by address and ETag, shared by processes.
#
# An entry is a `.json` with headers and the digest of a `.body`. Both appear by renaming, and a
# body is named by its digest, so a reader sees whole entries only. An entry is used after the
# service has answered 304 to its ETag, never because it is young. Refusals and cut bodies are
# never stored. Other files of the folder are not the cache's.

CACHE_FILES <- "^([0-9a-f]{64}[.](json|body)|new-[0-9a-f]+[.]part(-piece)?)$"

# The file name of an address without its extension. Address and query decide it, no key does.
cache_stem <- function(address, query) {
  sha256_text(paste0(base_url(), address, query_text(query)))
}

# The entry for an address: `etag`, `headers`, `path`. NULL without one, or where its body is
# damaged or gone.
cache_find <- function(address, query) {
  folder <- cache_folder()
  if (is.null(folder)) return(NULL)
  file <- file.path(folder, paste0(cache_stem(address, query), ".json"))
  if (!file.exists(file)) return(NULL)
  entry <- read_entry(file)
  if (!is.character(entry$etag) || !is.character(entry$body) || !is.list(entry$headers) ||
      !grepl("^[0-9a-f]{64}$", entry$body)) {
    return(NULL)
  }
  path <- file.path(folder, paste0(entry$body, ".body"))
  if (!file.exists(path) || !identical(sha256_file(path), entry$body)) return(NULL)
  Sys.setFileTime(file, Sys.time())
  list(etag = entry$etag, headers = lapply(entry$headers, utf8), path = path)
}

# Stores the body in `file`, which is moved, and returns where it is now. Without a cache, or
# where the folder cannot be written, it stays where it is.
cache_store <- function(address, query, headers, file) {
  folder <- cache_folder()
  etag <- headers[["etag"]]
  if (is.null(folder) || is.null(etag)) return(file)
  digest <- sha256_file(file)
  body <- file.path(folder, paste0(digest, ".body"))
  entry <- list(etag = etag, body = digest, headers = headers)
  stored <- tryCatch({
    if (!move_file(file, body)) return(file)
    text <- jsonlite::toJSON(entry, auto_unbox = TRUE, pretty = TRUE)
    write_whole(file.path(folder, paste0(cache_stem(address, query), ".json")), text)
    TRUE
  }, error = function(error) FALSE, warning = function(warning) FALSE)
  if (stored) cache_evict(folder)
  if (file.exists(body)) body else file
}

# A new file beside the entries, so that it can be renamed into one.
cache_scratch <- function() {
  folder <- cache_folder()
  if (is.null(folder)) return(tempfile("yearbook"))
  made <- dir.exists(folder) ||
    suppressWarnings(dir.create(folder, recursive = TRUE, mode = "0700")) || dir.exists(folder)
  if (made && file.access(folder, 2) == 0) tempfile("new-", folder, ".part") else tempfile("yearbook")
}

# Removes the oldest entries until the rest fits, and files of calls that died hours ago.
cache_evict <- function(folder) {
  files <- list.files(folder, CACHE_FILES, full.names = TRUE)
  about <- file.info(files, extra_cols = FALSE)
  entries <- files[endsWith(files, ".json")]
  entries <- entries[order(about[entries, "mtime"], decreasing = TRUE)]
  bodies <- vapply(entries, body_of_entry, "")
  sizes <- about[match(bodies, basename(files)), "size"]
  sizes[is.na(sizes) | duplicated(bodies)] <- 0
  # The newest entry stays, however large it is.
  out <- cumsum(sizes) > cache_bytes() & seq_along(entries) > 1
  unlink(entries[out])
  old <- about$mtime < Sys.time() - 3600
  kept <- bodies[!out]
  loose <- !endsWith(files, ".json") & !basename(files) %in% kept
  unlink(files[loose & (old | basename(files) %in% bodies[out])])
  invisible()
}

# The object in a `.json`; NULL for one that is damaged.
read_entry <- function(file) {
  entry <- tryCatch(jsonlite::fromJSON(file, simplifyVector = FALSE), error = function(error) NULL)
  if (is.list(entry)) entry
}

body_of_entry <- function(file) {
  body <- read_entry(file)$body
  paste0(if (is.character(body)) body, ".body")
}

#' Empty the cache
#'
#' Removes all answers that [yb_get()] and the other verbs keep on disk. The cache needs no care:
#' it has a bound ([yb_settings]), and an entry is used only after the service has confirmed it.
#'
#' @return The number of bytes that were freed, invisibly.
#' @export
#' @examples
#' old <- Sys.getenv("SERVICE_CACHE_DIR", NA)
#' Sys.setenv(SERVICE_CACHE_DIR = tempfile())
#' yb_cache_clear()
#' if (is.na(old)) Sys.unsetenv("SERVICE_CACHE_DIR") else Sys.setenv(SERVICE_CACHE_DIR = old)
yb_cache_clear <- function() {
  folder <- cache_folder()
  if (is.null(folder)) return(invisible(0))
  files <- list.files(folder, CACHE_FILES, full.names = TRUE)
  freed <- sum(file.size(files), 0, na.rm = TRUE)
  unlink(files)
  invisible(freed)
}

# A GET whose body may come from the cache: `headers`, `path`, and `cached`, true after a 304.
#
# `verify(path, headers)` raises `yb_error_cut` for a body that is not whole; it is then tried
# again, and never stored.
fetch <- function(budget, address, query = list(), headers = list(), keyed = TRUE,
                  verify = function(path, headers) NULL, progress = NULL) {
  entry <- cache_find(address, query)
  scratch <- cache_scratch()
  on.exit(unlink(scratch))
  conditional <- if (!is.null(entry)) list("If-None-Match" = entry$etag)
  answer <- with_retries(budget, function() {
    answer <- exchange(address, query, headers = c(headers, conditional), keyed = keyed,
                       path = scratch, progress = progress)
    if (answer$status %in% 200:299) {
      tryCatch(verify(scratch, answer$headers), yb_error_cut = function(cut) {
        check_room(scratch)
        stop(cut)
      })
    }
    answer
  })
  if (answer$status == 304L && !is.null(entry)) {
    # What the service says now, such as the quota, over what it said then.
    entry$headers[names(answer$headers)] <- answer$headers
    return(list(headers = entry$headers, path = entry$path, cached = TRUE))
  }
  if (!answer$status %in% 200:299) abort_refusal(answer)
  path <- cache_store(address, query, answer$headers, scratch)
  if (identical(path, scratch)) {
    path <- tempfile("yearbook")
    if (!move_file(scratch, path)) abort_disk(path)
  }
  list(headers = answer$headers, path = path, cached = FALSE)
}

# Removes a body that no cache owns, after it was read.
release <- function(answer) {
  if (startsWith(basename(answer$path), "yearbook")) unlink(answer$path)
}
