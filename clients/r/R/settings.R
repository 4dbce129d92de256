# Settings: environment variables and options, read at each call.
#
# Owns their names and defaults. Nothing is read when the package is loaded, and nothing is kept.

#' Settings
#'
#' The package reads these environment variables at each call:
#'
#' - `SERVICE_BASE_URL`: the address of the service, with a path where it has one. A `/v1` at its
#'   end is left away.
#' - `SERVICE_API_KEY`: your key. It is sent to that address alone, and never printed.
#' - `SERVICE_CACHE_DIR`: the folder of the cache. Unset, it is `tools::R_user_dir("yearbook",
#'   "cache")`; empty, nothing is kept.
#' - `HTTPS_PROXY`, `http_proxy`, `ALL_PROXY` and `NO_PROXY`: proxies, as libcurl reads them. Name and
#'   password are part of the address, percent-encoded, and are never printed.
#'
#' And these options:
#'
#' - `yearbook.cache_bytes`: size of the cache, 2 GiB unless set. The oldest entries go first.
#' - `yearbook.stall_seconds`: seconds with less than 128 bytes each after which a transfer counts
#'   as cut off, 30 unless set.
#' - `yearbook.progress`: `TRUE` or `FALSE` to show or hide progress bars; unset, they are shown in
#'   interactive sessions.
#'
#' @name yb_settings
#' @examples
#' Sys.getenv("SERVICE_BASE_URL")
NULL

base_url <- function() {
  # Every request has its own /v1; that of a copied address goes, and no host of this name.
  url <- sub("([^/:])(/+v1)?/*$", "\\1", trimws(Sys.getenv("SERVICE_BASE_URL")))
  if (!grepl("^https?://[^/?#[:space:]]+[^?#[:space:]]*$", url, ignore.case = TRUE)) {
    abort_usage(
      if (nzchar(url)) sprintf("SERVICE_BASE_URL is \"%s\", which is no address.", url)
      else "SERVICE_BASE_URL is not set.",
      "Set it to the address of the service: Sys.setenv(SERVICE_BASE_URL = \"https://...\")."
    )
  }
  if (grepl("@", sub("^[^/]*//([^/]*).*", "\\1", url), fixed = TRUE)) {
    abort_usage("SERVICE_BASE_URL holds a user name.", "Take it out; the key goes into SERVICE_API_KEY.")
  }
  url
}

api_key <- function() {
  key <- Sys.getenv("SERVICE_API_KEY")
  if (!nzchar(key)) {
    abort("yb_error_key", "SERVICE_API_KEY is not set.",
          "Set it to your key: Sys.setenv(SERVICE_API_KEY = \"yb_...\"), or in ~/.Renviron.")
  }
  # What cannot stand in a header would end it, and begin another.
  if (!grepl("^[!-~]+$", key)) {
    abort("yb_error_key", "SERVICE_API_KEY has spaces or control characters.",
          "Copy the key again, without quotes and line ends.")
  }
  key
}

# Folder of the cache; NULL where it is switched off.
cache_folder <- function() {
  folder <- Sys.getenv("SERVICE_CACHE_DIR", unset = NA)
  if (is.na(folder)) folder <- tools::R_user_dir("yearbook", "cache")
  if (nzchar(folder)) folder
}

cache_bytes <- function() getOption("yearbook.cache_bytes", 2 * 1024^3)

stall_seconds <- function() getOption("yearbook.stall_seconds", 30)

shows_progress <- function() getOption("yearbook.progress", interactive())

# Scheme, host and port of an address, for comparison.
origin_of <- function(url) {
  parts <- regmatches(url, regexec("^([a-zA-Z]+)://([^/?#]*)", url))[[1]]
  if (length(parts) < 3) return(NA_character_)
  scheme <- tolower(parts[2])
  host <- tolower(sub("^.*@", "", parts[3]))
  if (!grepl(":[0-9]+$", host)) host <- paste0(host, if (scheme == "https") ":443" else ":80")
  paste0(scheme, "://", host)
}

check_name <- function(name) {
  name <- plain_text(name)
  if (!is.character(name) || length(name) != 1 || is.na(name) || !grepl("^[a-z][a-z0-9_]*$", name)) {
    abort_usage(
      sprintf("\"%s\" is no name of a dataset.", paste(format(name), collapse = ", ")),
      "Names are snake_case; look them up with `yb_search()`."
    )
  }
  name
}
