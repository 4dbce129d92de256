# Retries: which failures are tried again, and for how long.
#
# One page costs five requests at most, and one call of the package waits 60 s at most. 502, 503,
# 504, cut bodies and 429s of a burst are tried again, by `Retry-After` or with growing pauses with
# jitter. Everything else is raised at once, a used-up month first of all.

MAX_TRIES <- 5L
MAX_WAIT_SECONDS <- 60

# Seconds that one call of the package has waited so far.
retry_budget <- function() {
  budget <- new.env(parent = emptyenv())
  budget$waited <- 0
  budget
}

# The pause, replaced by tests.
clock <- new.env(parent = emptyenv())
clock$sleep <- function(seconds) Sys.sleep(seconds)

# Seconds that `Retry-After` asks for, in either of its forms; NULL without it.
retry_after <- function(answer) {
  text <- answer$headers[["retry-after"]]
  if (is.null(text)) return(NULL)
  seconds <- suppressWarnings(as.numeric(text))
  if (is.na(seconds)) seconds <- http_date(text) - as.numeric(Sys.time())
  if (is.na(seconds)) NULL else max(0, seconds)
}

# Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, in any locale.
http_date <- function(text) {
  pattern <- "^[A-Za-z]{3}, ([0-9]{2}) ([A-Za-z]{3}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT$"
  parts <- regmatches(text, regexec(pattern, text))[[1]]
  if (length(parts) == 0) return(NA_real_)
  months <- c("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
  days <- days_of(as.integer(parts[4]), match(parts[3], months), as.integer(parts[2]))
  days * 86400 + sum(as.integer(parts[5:7]) * c(3600, 60, 1))
}

is_transient <- function(answer) {
  answer$status %in% c(502L, 503L, 504L) || (answer$status == 429L && !is_month_used_up(answer))
}

# Runs `attempt` until it returns an answer that is not transient. A `yb_error_cut` that it raises
# counts as transient.
with_retries <- function(budget, attempt) {
  for (try in seq_len(MAX_TRIES)) {
    began <- as.numeric(Sys.time())
    answer <- tryCatch(attempt(), yb_error_cut = function(error) error)
    cut <- inherits(answer, "yb_error_cut")
    if (!cut && !is_transient(answer)) return(answer)
    # A transfer that stalled has been waited for.
    stalled <- as.numeric(Sys.time()) - began
    if (cut && stalled > stall_seconds()) budget$waited <- budget$waited + stalled
    asked <- if (!cut) retry_after(answer)
    pause <- if (is.null(asked)) jittered(0.5 * 2^(try - 1)) else asked + jittered(0.1)
    if (try == MAX_TRIES || budget$waited + pause > MAX_WAIT_SECONDS) break
    budget$waited <- budget$waited + pause
    clock$sleep(pause)
  }
  if (cut) stop(answer)
  answer
}

# Between half of `seconds` and all of them. Leaves the session's random numbers as they are.
jittered <- function(seconds) {
  fraction <- (as.numeric(Sys.time()) * 1e4 + Sys.getpid()) %% 1009 / 1009
  seconds * (0.5 + fraction / 2)
}

# An answer with status 2xx or 304, or a typed error.
ask <- function(budget, ...) {
  answer <- with_retries(budget, function() exchange(...))
  if (answer$status %in% c(200:299, 304L)) answer else abort_refusal(answer)
}
