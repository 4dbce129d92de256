# The machine around the client: forks, proxies, locales and disks.

test_that("forks open connections of their own (contract-11-fork)", {
  skip_on_os("windows")
  fake <- local_fake(plan = list(row_cap = 50000), keep_alive = TRUE)
  withr::local_envvar(SERVICE_CACHE_DIR = "")
  known <- yb_get("demo")
  again <- function(turn) {
    tryCatch(identical(yb_get("demo"), known), error = function(error) conditionMessage(error))
  }
  # Two at once are as many as checks of CRAN allow.
  found <- parallel::mclapply(1:64, again, mc.cores = 2, mc.preschedule = FALSE)
  expect_identical(unique(found), list(TRUE))
  expect_true(again(0))
})

# A process that is a proxy for one request: 407, and after it what a service answers to `yb_me()`.
# It writes what it was asked into the file `asked`.
local_proxy <- function(frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  script <- file.path(folder, "proxy.R")
  program <- bquote({
    # Another program may have the port.
    repeat {
      port <- 20000 + sample(12000, 1)
      socket <- tryCatch(serverSocket(port), error = function(error) NULL)
      if (!is.null(socket)) break
    }
    writeLines(format(port), .(file.path(folder, "begun")))
    file.rename(.(file.path(folder, "begun")), .(file.path(folder, "ready")))
    body <- '{"plan": "free", "row_cap": 5, "requests": {"limit": 1, "used": 0, "left": 1}}'
    answers <- c("407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0", paste0("200 OK\r\nContent-Length: ", nchar(body)))
    asked <- character()
    for (answer in answers) {
      connection <- socketAccept(socket, blocking = TRUE, open = "r+b", timeout = 60)
      while (nzchar(line <- sub("\r$", "", readLines(connection, 1)))) asked <- c(asked, line)
      answer <- paste0("HTTP/1.1 ", answer, "\r\nConnection: close\r\n\r\n")
      writeChar(paste0(answer, if (grepl(" 200 ", answer)) body), connection, eos = NULL)
      close(connection)
    }
    writeLines(asked, .(file.path(folder, "part")))
    file.rename(.(file.path(folder, "part")), .(file.path(folder, "asked")))
  })
  writeLines(deparse(program), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), wait = FALSE, stdout = FALSE, stderr = FALSE)
  port <- as.integer(readLines(wait_for(file.path(folder, "ready"))))
  list(port = port, request = function() readLines(wait_for(file.path(folder, "asked"))))
}

wait_for <- function(path) {
  for (turn in 1:600) if (file.exists(path)) break else Sys.sleep(0.05)
  path
}

printed_error <- function(error) paste(conditionMessage(error), error$advice)

test_that("a proxy gets its user name and password, and no message has them (contract-11-proxy)", {
  clean <- c("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
  withr::local_envvar(stats::setNames(rep(NA_character_, length(clean)), clean))
  local_service("http://statistics.example.org")
  proxy <- local_proxy()
  withr::local_envvar(http_proxy = sprintf("http://us%%20er:p%%40ss%%3Aw@127.0.0.1:%d", proxy$port))
  expect_identical(yb_me()$plan, "free")
  sent <- proxy$request()
  expect_match(sent[1], "^GET http://statistics.example.org/v1/me ")
  expect_true(paste("Proxy-Authorization: Basic", openssl::base64_encode("us er:p@ss:w")) %in% sent)
  refused <- function(proxy, sentence) {
    withr::local_envvar(http_proxy = proxy)
    error <- expect_error(yb_me(), sentence, class = "yb_error")
    expect_false(grepl("secretword", printed_error(error), fixed = TRUE))
  }
  refused("http://user:secretword#@127.0.0.1:9", "proxy's address")
  refused("nothing://user:secretword@127.0.0.1:9", "proxy's address")
  refused("http://user:secretword@127.0.0.1:9", "cannot be reached")
  withr::local_envvar(http_proxy = NA)
  fake <- local_fake(faults = list("1" = "407"))
  error <- expect_error(yb_get("demo"), "proxy refuses", class = "yb_error_usage")
  expect_match(error$advice, "%40", fixed = TRUE)
  for (text in c("CONNECT tunnel failed, response 407", "Received HTTP code 407 from proxy after CONNECT")) {
    expect_error(yearbook:::abort_connection(simpleError(text), "x"), "proxy refuses", class = "yb_error_usage")
  }
  withr::local_envvar(https_proxy = "http://user:secretword@proxy.example.org:3128")
  error <- expect_error(yearbook:::abort_connection(simpleError("no route to user:secretword@proxy"), "x"))
  expect_false(grepl("secretword", printed_error(error), fixed = TRUE))
})

test_that("a refusal that HEAD meets has the service's sentence (contract-11-head)", {
  for (status in c(404L, 410L, 422L)) {
    fake <- local_fake(refuse_head = status)
    error <- expect_error(yb_get("demo"), "There is no such dataset.", class = "yb_refusal")
    expect_identical(error$status, status)
    expect_length(gets_of(fake), 1)
  }
})

test_that("every verb works where the locale is C", {
  fake <- local_fake(plan = list(row_cap = 50000))
  program <- paste(
    "library(yearbook); rows <- yb_get('demo', dimensions = 'M\\u0101ori'); stopifnot(nrow(rows) == 12)",
    "stopifnot(identical(yb_search('OTAUTAHI popul')$name, 'demo'), nrow(yb_search('maori')) == 1)",
    "path <- yb_download('demo', tempfile(), 'arrow'); print(rows); print(yb_describe('demo')); print(yb_cite(rows))",
    "cat(yb_credit(rows), '\\n'); try(yb_get('\\u014ctautahi')); yb_digest(rows)", sep = "; "
  )
  script <- withr::local_tempfile(fileext = ".R")
  writeLines(enc2utf8(program), script, useBytes = TRUE)
  libraries <- paste(.libPaths(), collapse = .Platform$path.sep)
  withr::local_envvar(LC_ALL = "C", R_LIBS = libraries)
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", script), stdout = TRUE, stderr = TRUE))
  expect_null(attr(said, "status"), info = paste(said, collapse = "\n"))
  expect_identical(gets_of(fake)[[1]]$query$dimensions, "M\u0101ori")
})

test_that("a file that does not fit on the disk is an error, and never short (contract-11-files)", {
  local_service("http://127.0.0.1:9")
  path <- withr::local_tempfile()
  writeBin(raw(9), path)
  # Whatever the operating system says: a file has the bytes that were written, or the call fails.
  expect_error(yearbook:::measured(path, 10, NULL), "cannot be written", class = "yb_error_usage")
  expect_silent(yearbook:::measured(path, 9, NULL))
  skip_if_not(file.exists("/dev/full"))
  for (bytes in c(10, 1e6)) {
    expect_error(yearbook:::write_bytes(raw(bytes), "/dev/full"), "/dev/full", class = "yb_error_usage")
    writeBin(raw(bytes), path)
    expect_error(yearbook:::copy_file(path, "/dev/full"), "/dev/full", class = "yb_error_usage")
  }
  expect_error(yearbook:::abort_connection(simpleError("Failure writing output to destination"), path), "disk is full",
               class = "yb_error_usage")
  expect_error(yearbook:::abort_connection(simpleError("Could not resolve host: writers.example.org"), path), "writers",
               class = "yb_error_connection")
})

test_that("a download that does not fit leaves nothing (contract-11-files)", {
  skip_on_os("windows")
  fake <- local_fake(plan = list(row_cap = 50000))
  folder <- withr::local_tempdir()
  # A file of more than a block of 512 bytes does not fit; one of a few bytes does.
  program <- sprintf(
    "error <- tryCatch(yearbook::%s, error = function(error) error); cat(class(error)[1], conditionMessage(error))",
    c("yb_download('demo', '%s/a', 'arrow')", "yb_sync('demo', '%s')", "yb_get('demo')", "yb_integration('large', 'demo', '%s/a')")
  )
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), SERVICE_CACHE_DIR = "")
  for (line in gsub("%s", folder, program, fixed = TRUE)) {
    command <- sprintf("trap '' XFSZ; ulimit -f 1; '%s/Rscript' --no-init-file -e \"%s\" 2>&1", R.home("bin"), line)
    said <- paste(suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE)), collapse = " ")
    expect_match(said, "^yb_error_usage .* cannot be written")
    expect_length(list.files(folder, all.files = TRUE, recursive = TRUE), 0)
  }
})

test_that("a path that is no file is refused before a request", {
  fake <- local_fake()
  folder <- withr::local_tempdir()
  for (path in c(folder, "/dev/null")) {
    if (file.exists(path)) expect_error(yb_download("demo", path, "arrow"), "no file", class = "yb_error_usage")
  }
  expect_length(fake$log(), 0)
})
