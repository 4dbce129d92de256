# yb_prove(): proofs that a snapshot was published, from the log of the service.
#
# Owns the form of proofs (C2SP tlog-proof and signed-note); believes nothing but the key that it is
# given. Ed25519 is openssl's, which httr2 needs anyway.

#' Prove that a snapshot was published
#'
#' The service keeps a log of what it published, to which it only adds. `yb_prove()` fetches the
#' entry of a result's snapshot with a proof, and checks it; `yb_check_proof()` checks a proof that
#' was kept, without the service. Neither costs a request.
#'
#' The proof shows that the log whose head was signed holds the entry. It does not show that the
#' times in the entry are right, or the figures; compare the `digest` with [yb_verify()].
#'
#' @param x A result of [yb_get()], [yb_changes()] or [yb_sync()].
#' @param log_key The key of the service's log, which reached you another way: text like
#'   `data.example.org/log+1a2b3c4d+AY...`.
#' @param proof Text of a proof.
#' @return A list of class `yb_proof`: `dataset`, `version`, `snapshot`, `digest`, `committed` and
#'   `released` (the entry), `index` and `size` (its place in the log), `log` and `proof`. A proof
#'   that does not hold is an error.
#' @export
#' @examples
#' key <- Sys.getenv("YEARBOOK_LOG_KEY")
#' if (nzchar(key)) try(yb_prove(yb_get("us_macro_quarterly"), key))
yb_prove <- function(x, log_key) {
  from <- provenance(x)
  same_service(from)
  path <- paste0(cite_path(from), "/proof")
  answer <- ask(retry_budget(), path, list(format = "tlog-proof"), keyed = FALSE)
  found <- yb_check_proof(utf8(rawToChar(answer$body)), log_key)
  if (!identical(c(found$dataset, found$snapshot), c(from$name, from$snapshot))) {
    abort_usage("The proof is of another snapshot.", "Do not believe this service.")
  }
  found
}

#' @rdname yb_prove
#' @export
yb_check_proof <- function(proof, log_key) {
  key <- parse_log_key(log_key)
  holds <- function(so, why) {
    if (!isTRUE(so)) {
      abort_usage(
        sprintf("The proof does not hold: %s.", why), "Compare the key with one that came another way."
      )
    }
  }
  holds(is.character(proof) && length(proof) == 1 && !is.na(proof), "it is no text")
  parts <- cut_at(proof, "\n\n")
  lines <- strsplit(paste0(parts[1], "\n"), "\n", fixed = TRUE)[[1]]
  form <- length(lines) >= 3 && lines[1] == "c2sp.org/tlog-proof@v1" &&
    startsWith(lines[2], "extra ") && startsWith(lines[3], "index ")
  holds(form, "it is no tlog-proof")
  text <- signed_text(parts[2], key)
  holds(is.character(text), "the checkpoint is not signed by the key")
  head <- strsplit(text, "\n", fixed = TRUE)[[1]]
  leaf <- base64_bytes(substring(lines[2], 7))
  steps <- lapply(lines[-(1:3)], base64_bytes)
  root <- if (length(head) >= 3) base64_bytes(head[3])
  index <- whole_count(substring(lines[3], 7))
  size <- if (length(head) >= 3) whole_count(head[2]) else NA
  holds(!anyNA(c(index, size)) && !is.null(leaf) && !any(vapply(steps, is.null, NA)), "it is no tlog-proof")
  holds(head[1] == key$name, "it is of another log than the key")
  found <- inclusion_root(sha256_bytes(c(as.raw(0), leaf)), index, size, steps)
  holds(!is.null(root) && identical(found, root), "the log that was signed does not hold the entry")
  entry <- tryCatch(jsonlite::fromJSON(utf8(rawToChar(leaf))), error = function(error) NULL)
  members <- c("dataset", "version", "snapshot", "digest", "committed", "released")
  holds(is.list(entry) && identical(names(entry), members), "the entry is none of a publication")
  structure(
    class = "yb_proof",
    c(entry, list(index = index, size = size, log = key$name, proof = proof))
  )
}

#' @export
print.yb_proof <- function(x, ...) {
  cat(sprintf(
    "Entry %.0f of %.0f in %s: version %.0f of %s, published at %s\n%s\n",
    x$index, x$size, x$log, x$version, x$dataset, x$released, x$digest
  ))
  invisible(x)
}

# Name, id and bytes of a verifier key.
parse_log_key <- function(text) {
  wrong <- function() {
    abort_usage("`log_key` is no key of a log.", "It looks like data.example.org/log+1a2b3c4d+AY...")
  }
  if (!is.character(text) || length(text) != 1 || is.na(text)) wrong()
  parts <- regmatches(trimws(text), regexec("^([^+[:space:]]+)[+]([0-9a-f]{8})[+](.+)$", trimws(text)))[[1]]
  bytes <- if (length(parts) == 4) base64_bytes(parts[4])
  if (length(bytes) != 33 || bytes[1] != as.raw(1)) wrong()
  id <- sha256_bytes(c(charToRaw(enc2utf8(parts[2])), as.raw(10), bytes))[1:4]
  if (hexadecimal(id) != parts[3]) wrong()
  list(name = parts[2], id = id, public = bytes[-1])
}

# The text of a note that the key has signed; NULL for any other note.
signed_text <- function(note, key) {
  ends <- gregexpr("\n\n", note, fixed = TRUE)[[1]]
  if (is.na(note) || ends[1] < 0) return(NULL)
  end <- ends[length(ends)]
  text <- substring(note, 1, end)
  signed <- FALSE
  for (line in strsplit(substring(note, end + 2), "\n", fixed = TRUE)[[1]]) {
    words <- strsplit(line, " ", fixed = TRUE)[[1]]
    if (length(words) != 3 || words[1] != "\u2014") return(NULL)
    bytes <- base64_bytes(words[3])
    if (words[2] != key$name || !identical(bytes[1:4], key$id)) next
    message <- charToRaw(enc2utf8(text))
    good <- tryCatch(
      openssl::ed25519_verify(message, bytes[-(1:4)], openssl::read_ed25519_pubkey(key$public)),
      error = function(error) FALSE
    )
    if (!isTRUE(good)) return(NULL)
    signed <- TRUE
  }
  if (signed) text
}

# The root that an inclusion proof leads to (RFC 9162, section 2.1.3.2); NULL where it leads nowhere.
inclusion_root <- function(hash, index, size, steps) {
  last <- size - 1
  rise <- function() {
    index <<- index %/% 2
    last <<- last %/% 2
  }
  for (step in steps) {
    if (last <= 0) return(NULL)
    if (index %% 2 == 1 || index == last) {
      hash <- sha256_bytes(c(as.raw(1), step, hash))
      while (index %% 2 == 0 && index > 0) rise()
    } else {
      hash <- sha256_bytes(c(as.raw(1), hash, step))
    }
    rise()
  }
  if (last == 0 && index == 0) hash
}

# The two sides of the first `mark`; the second is NA without one.
cut_at <- function(text, mark) {
  at <- regexpr(mark, text, fixed = TRUE)
  if (at < 0) return(c(text, NA_character_))
  c(substring(text, 1, at - 1), substring(text, at + nchar(mark)))
}

# A number as it is written without zeros before it; NA for anything else, and beyond 2^53.
whole_count <- function(text) {
  if (grepl("^(0|[1-9][0-9]{0,14})$", text)) as.numeric(text) else NA_real_
}

# Bytes of base64 as it is written; NULL for anything else.
base64_bytes <- function(text) {
  bytes <- tryCatch(openssl::base64_decode(text), error = function(error) NULL)
  if (!is.null(bytes) && identical(openssl::base64_encode(bytes), text)) bytes
}
