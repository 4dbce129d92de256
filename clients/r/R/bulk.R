# Bulk files: a whole dataset as the stored Parquet file, resumed by range, its digest checked.
#
# Owns the choice between the file and pages. Reads Parquet only by a package that is installed.

# Rows above which a table is worth its file.
BULK_ROWS <- 100000

# Datasets for which plan or licence refused the file in this session.
refused_bulk <- new.env(parent = emptyenv())

bulk_mark <- function(name, account) paste(base_url(), name, account$plan)

bulk_address <- function(namespace, name) sprintf("/v1/bulk/%s/%s", namespace, name)

# Plans without a cap of rows are those that include bulk files; the service has the last word.
may_use_bulk <- function(name, account) {
  is.na(account$row_cap) && is.null(refused_bulk[[bulk_mark(name, account)]])
}

# Headers of the bulk file of `freshness`; NULL where plan or licence refuse it, which is
# remembered.
bulk_headers <- function(budget, namespace, name, account, freshness = NULL) {
  answer <- with_retries(budget, function() {
    exchange(bulk_address(namespace, name), list(freshness = freshness), "HEAD")
  })
  if (answer$status %in% c(402L, 403L)) {
    assign(bulk_mark(name, account), answer$status, envir = refused_bulk)
    return(NULL)
  }
  if (!answer$status %in% 200:299) abort_refusal(answer)
  answer$headers
}

# The file that belongs to `headers`, from the cache or the service.
bulk_file <- function(budget, namespace, name, headers, freshness = NULL) {
  address <- bulk_address(namespace, name)
  query <- list(freshness = freshness)
  entry <- cache_find(address, query)
  if (!is.null(entry) && identical(entry$etag, headers[["etag"]])) {
    return(list(headers = headers, path = entry$path, cached = TRUE))
  }
  scratch <- cache_scratch()
  on.exit(unlink(scratch))
  download_ranges(budget, address, query, headers, scratch)
  path <- cache_store(address, query, headers, scratch)
  if (identical(path, scratch)) {
    path <- tempfile("yearbook")
    if (!move_file(scratch, path)) abort_disk(path)
  }
  list(headers = headers, path = path, cached = FALSE)
}

# Downloads the file into `path`. A transfer that is cut off goes on where it ended.
download_ranges <- function(budget, address, query, headers, path) {
  size <- count_in(headers, "content-length")
  piece <- paste0(path, "-piece")
  on.exit(unlink(piece))
  bar <- progress_bar(size, !is.na(size) && size > 8 * 1024^2)
  on.exit(bar$close(), add = TRUE)
  file.create(path)
  answer <- with_retries(budget, function() {
    have <- file.size(path)
    if (have > 0 && isTRUE(have >= size) && size > 0) return(list(status = 200L, headers = headers))
    condition <- c(list("If-Match" = headers[["etag"]]),
                   if (have > 0) list(Range = sprintf("bytes=%.0f-", have)))
    unlink(piece)
    answer <- tryCatch(
      exchange(address, query, headers = condition, path = piece,
               progress = function(done, total) bar$update(have + done)),
      yb_error_cut = function(cut) {
        # Bytes of a refusal would be none of the file; these are few, and the digest tells.
        if (file.exists(piece)) append_file(path, piece)
        stop(cut)
      }
    )
    if (answer$status == 206L) append_file(path, piece)
    else if (answer$status %in% 200:299) copy_file(piece, path)
    if (answer$status %in% 200:299 && !is.na(size) && file.size(path) < size) {
      abort_cut("The file is shorter than announced")
    }
    answer
  })
  if (!answer$status %in% 200:299) abort_refusal(answer)
  check_file_digest(path, headers)
}

# Compares with `Repr-Digest` (RFC 9530), which the service sends for every file.
check_file_digest <- function(path, headers) {
  text <- or_default(headers[["repr-digest"]], "")
  expected <- regmatches(text, regexec("sha-256=:([A-Za-z0-9+/=]+):", text))[[1]][2]
  if (is.na(expected)) abort_unreadable("the file has no digest to compare it with")
  expected <- hexadecimal(openssl::base64_decode(expected))
  if (!identical(sha256_file(path), expected)) {
    abort("yb_error_digest", "The file differs from the digest that the service announced.",
          "Nothing was kept of it. Try again.")
  }
}

# The package that reads Parquet here; NULL without one.
parquet_reader <- function() {
  Find(function(package) requireNamespace(package, quietly = TRUE), c("arrow", "nanoparquet"))
}

# Columns of a Parquet file and their number of rows. arrow rewrites the file as a stream, which is
# read as any other.
read_parquet <- function(path, reader) {
  if (reader == "arrow") {
    stream <- tempfile("yearbook")
    on.exit(unlink(stream))
    arrow::write_ipc_stream(arrow::read_parquet(path, as_data_frame = FALSE), stream)
    return(read_arrow_stream(stream)[c("columns", "rows")])
  }
  frame <- nanoparquet::read_parquet(path)
  list(columns = as.list(frame), rows = nrow(frame))
}

# Columns of the stored file as a preview describes them; NULL where it does not know all of them. It
# never shows geometry.
stored_columns <- function(preview) {
  about <- data.frame(name = preview$columns$name, type = preview$columns$type,
                      role = preview$columns$role, unit = NA_character_)
  hidden <- setdiff(preview$hidden_columns, about$name)
  if (!all(hidden == "geometry_wkt")) return(NULL)
  if (length(hidden)) about[nrow(about) + 1, ] <- list(hidden, "string", "geometry", NA)
  about
}

# What `read_parquet()` found, as `read_arrow_stream()` returns it: the file itself tells no dates from
# texts, and has no roles. nanoparquet makes doubles of integers, so that those beyond 2^53 end in
# NULL, as do other columns than `about` has: the caller then takes pages.
describe_stored <- function(found, about) {
  if (!setequal(names(found$columns), about$name)) return(NULL)
  about <- about[match(names(found$columns), about$name), ]
  row.names(about) <- NULL
  columns <- Map(function(values, type) {
    if (is_int64(values)) return(values)
    switch(
      type,
      integer = if (all(abs(as.double(values)) < 2^53, na.rm = TRUE)) int64_from_numbers(as.double(values)),
      string = , date = enc2utf8(as.character(values)),
      values
    )
  }, found$columns, about$type)
  if (any(vapply(columns, is.null, NA))) return(NULL)
  list(columns = columns, about = about, rows = found$rows, metadata = list())
}

# The whole table from its bulk file, as `pull_pages()` returns it. NULL where the file is not worth
# it, not of the current snapshot, refused, or cannot be read here.
pull_bulk <- function(budget, name, plan, reader = parquet_reader(), read = read_parquet) {
  if (is.null(reader) || !may_use_bulk(name, plan$account)) return(NULL)
  preview <- preview_document(budget, name)
  about <- stored_columns(preview)
  spatial <- "geometry" %in% about$role
  if (is.null(about) || (!spatial && !isTRUE(plan$total > BULK_ROWS))) return(NULL)
  namespace <- plan$headers[["x-service-namespace"]]
  headers <- bulk_headers(budget, namespace, name, plan$account)
  if (is.null(headers) || !identical(headers[["x-service-snapshot-id"]], plan$snapshot)) return(NULL)
  file <- bulk_file(budget, namespace, name, headers)
  on.exit(release(file))
  found <- describe_stored(read(file$path, reader), about)
  if (is.null(found)) return(NULL)
  if (found$rows != plan$total) abort_short(found$rows, plan$total)
  c(found, list(headers = headers))
}
