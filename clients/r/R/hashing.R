# SHA-256 of texts, bytes and files, by openssl, which httr2 needs anyway.

hexadecimal <- function(bytes) paste(as.character(unclass(bytes)), collapse = "")

sha256_bytes <- function(bytes) as.raw(unclass(openssl::sha256(bytes)))

sha256_text <- function(text) hexadecimal(sha256_bytes(charToRaw(enc2utf8(text))))

# Reads the file in blocks.
sha256_file <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  hexadecimal(as.raw(unclass(openssl::sha256(connection))))
}
