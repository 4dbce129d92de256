# Files: written whole, or an error.
#
# R only warns where a disk is full, and not even that where the last bytes of a file do not fit. So
# every file that is written is measured.

abort_disk <- function(path) {
  abort_usage(
    sprintf("%s cannot be written: the disk is full, or the folder is not yours.", path),
    "Make room, or choose another folder; SERVICE_CACHE_DIR is that of the cache."
  )
}

# Runs `write`, after which the file has `bytes` bytes.
measured <- function(path, bytes, write) {
  force(bytes)
  suppressWarnings(write)
  if (!isTRUE(file.size(path) == bytes)) abort_disk(path)
  invisible(path)
}

write_bytes <- function(bytes, path) {
  measured(path, length(bytes), {
    connection <- file(path, "wb")
    tryCatch(writeBin(bytes, connection), finally = close(connection))
  })
}

copy_file <- function(from, to) measured(to, file.size(from), file.copy(from, to, overwrite = TRUE))

append_file <- function(path, from) {
  measured(path, file.size(path) + file.size(from), file.append(path, from))
}

# An error where the disk of `path` is full. libcurl says nothing of last bytes that do not fit.
check_room <- function(path) {
  probe <- tempfile("new-", dirname(path), ".part")
  on.exit(unlink(probe))
  write_bytes(raw(65536), probe)
}

# A file with all of `text` in UTF-8, or the file that was there before.
write_whole <- function(path, text) {
  scratch <- tempfile("new-", dirname(path), ".part")
  on.exit(unlink(scratch))
  write_bytes(charToRaw(enc2utf8(as.character(text))), scratch)
  if (!move_file(scratch, path)) abort_disk(path)
  invisible(path)
}

# Renames a file, over one that is there; copies where the folders are on different disks.
move_file <- function(from, to) {
  if (suppressWarnings(file.rename(from, to))) return(TRUE)
  scratch <- tempfile("new-", dirname(to), ".part")
  on.exit(unlink(scratch))
  copy_file(from, scratch)
  if (!suppressWarnings(file.rename(scratch, to))) return(FALSE)
  unlink(from)
  TRUE
}

# True for a file that may be replaced: no folder, and no device such as /dev/null.
is_file <- function(path) !dir.exists(path) && dirname(path) != "/dev"
