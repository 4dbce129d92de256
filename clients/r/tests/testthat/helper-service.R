# A service that answers as told: pages of the fixtures, and faults in their place.

FIXTURES <- normalizePath("fixtures")

fixture <- function(name) file.path(FIXTURES, name)

fixture_bytes <- function(name) readBin(fixture(name), "raw", file.size(fixture(name)))

TEST_KEY <- "yb_testkey0123456789"

TEST_TOKEN <- "AQx3sealedsealedsealed"

# Sets the environment of a call, without pauses, and undoes that at the end of the test.
local_service <- function(url, key = TEST_KEY, cache = NULL, frame = parent.frame()) {
  if (is.null(cache)) {
    cache <- tempfile("cache")
    withr::defer(unlink(cache, recursive = TRUE), envir = frame)
  }
  withr::local_envvar(
    SERVICE_BASE_URL = url, SERVICE_API_KEY = key, SERVICE_CACHE_DIR = cache, .local_envir = frame
  )
  clock <- yearbook:::clock
  old <- clock$sleep
  clock$sleep <- function(seconds) slept$seconds <- c(slept$seconds, seconds)
  slept$seconds <- numeric()
  withr::defer(clock$sleep <- old, envir = frame)
  refused <- yearbook:::refused_bulk
  rm(list = ls(refused), envir = refused)
  invisible(url)
}

# Pauses that the retries asked for.
slept <- new.env()

# An app that is a service with one dataset, `demo`, of three pages.
#
# `plan`: the answer of /v1/me. `faults`: by number of the GET on rows, a fault in place of the
# answer. `snapshots`: by number of the GET, a letter; the last one counts for all later ones.
# `labels`: by column a list of `values`, `labels` of some of them by their text, and what else the
# answer has: `next`, or a `snapshot` that was not asked for. Values of class `json` are sent as they are.
fake_service <- function(plan = list(), faults = list(), snapshots = "a", total = 12, other = NULL,
                         bulk = list(status = 402), cite = NULL, refuse_head = NULL, totals = TRUE, ignored = NULL,
                         labels = NULL, revisions = NULL) {
  app <- webfakes::new_app()
  app$locals$log <- list()
  app$locals$token <- TEST_TOKEN
  app$locals$fixtures <- FIXTURES
  app$locals$gets <- 0L
  app$locals$bulk_gets <- 0L
  # New settings for the next test.
  app$use(webfakes::mw_raw())
  app$post("/configure", function(req, res) {
    req$app$locals$settings <- unserialize(req$raw)
    req$app$locals$log <- list()
    req$app$locals$gets <- 0L
    req$app$locals$bulk_gets <- 0L
    res$send("")
  })
  app$locals$settings <- list(
    plan = utils::modifyList(list(plan = "free", row_cap = 5, limit = 10, left = 10), plan),
    faults = faults, snapshots = snapshots, total = total, other = other, bulk = bulk, cite = cite,
    refuse_head = refuse_head, totals = totals, ignored = ignored, labels = labels, revisions = revisions
  )
  names <- c(a = "demo", b = "demo_next")
  app$locals$streams <- lapply(names, function(name) {
    lapply(1:3, function(page) fixture_bytes(sprintf("%s_%d.arrows", name, page)))
  })
  app$locals$whole <- lapply(names, function(name) fixture_bytes(paste0(name, ".arrows")))
  app$locals$changes <- lapply(1:2, function(page) fixture_bytes(sprintf("changes_%d.arrows", page)))
  app$locals$parquet <- fixture_bytes("demo.parquet")

  app$use(function(req, res) {
    if (req$path != "/log") {
      key <- req$get_header("x-api-key")
      app <- req$app
      app$locals$log <- c(app$locals$log, list(list(
        method = req$method, path = req$path, query = req$query, text = req$query_string,
        key = if (is.null(key)) "" else key,
        tag = req$get_header("if-none-match"), range = req$get_header("range"),
        proxy = req$get_header("proxy-authorization")
      )))
    }
    "next"
  })
  app$get("/log", function(req, res) res$send_json(req$app$locals$log, auto_unbox = TRUE, null = "null"))

  app$locals$refuse <- function(res, status, code, headers = list(), detail = paste("Refused:", code)) {
    res$set_status(status)
    res$set_header("X-Service-Error-Code", code)
    for (name in names(headers)) res$set_header(name, headers[[name]])
    res$send_json(list(detail = detail), auto_unbox = TRUE)
  }

  app$get("/v1/me", function(req, res) {
    plan <- req$app$locals$settings$plan
    unlimited <- function(value) if (is.na(value)) NULL else value
    res$send_json(auto_unbox = TRUE, null = "null", list(
      plan = plan$plan, row_cap = unlimited(plan$row_cap),
      requests = list(limit = unlimited(plan$limit), used = 0, left = unlimited(plan$left),
                      resets_at = "2026-12-01T00:00:00+00:00")
    ))
  })
  app$get("/v1/datasets", function(req, res) {
    if (identical(req$get_header("if-none-match"), "\"list\"")) return(res$send_status(304L))
    res$set_header("ETag", "\"list\"")
    res$send_json(auto_unbox = TRUE, list(
      list(name = "demo", namespace = "tests", source = "Stats \u014ctautahi",
           title = "M\u0101ori population", description = "Rows for tests"),
      list(name = "other", namespace = "tests", source = "Nobody", title = "Prices",
           description = "Population is a word of it")
    ))
  })
  app$get("/v1/datasets/demo", function(req, res) {
    res$set_header("ETag", "\"about\"")
    res$send_json(auto_unbox = TRUE, null = "null", list(
      name = "demo", title = "Rows for tests", source = "Stats", licence = "CC-BY-4.0",
      licence_title = "CC", licence_url = NULL, date_filter_column = "date",
      primary_key = I(c("date", "region")), dimensions = I("region"), bbox = NULL,
      row_count_at_last_refresh = 12, current_snapshot_id = strrep("a", 32),
      date_range = list(first = "0001-01-01", last = "9999-12-31"),
      columns = c(
        list(list(name = "date", type = "date", nullable = FALSE, role = "date", unit = NULL, description = NULL)),
        lapply(names(req$app$locals$settings$labels), function(name) {
          list(name = name, type = "string", nullable = TRUE, role = if (name == "note") "status" else "attribute",
               unit = NULL, description = NULL, labelled = if (name != "note") TRUE)
        })
      ),
      snapshots = list(list(id = strrep("a", 32), created_at = "2026-01-01T00:00:00Z", rows = 12))
    ))
  })
  app$get("/v1/datasets/demo/preview", function(req, res) {
    column <- function(name, type, role) list(name = name, type = type, role = role)
    spatial <- isTRUE(req$app$locals$settings$bulk$spatial)
    res$send_json(auto_unbox = TRUE, null = "null", digits = NA, list(
      name = "demo", snapshot_id = strrep("a", 32), row_count = 12,
      columns = list(
        column("date", "date", "date"), column("region", "string", "dimension"),
        column("value", "number", "value"), column("count", "integer", "value"),
        column("flag", "boolean", "attribute"), column("note", "string", "attribute")
      ),
      hidden_columns = if (spatial) list("geometry_wkt") else list(),
      rows = list(
        list(date = "9999-12-31", region = "south", value = 0.125, count = 12,
             flag = TRUE, note = NULL),
        list(date = "2021-01-01", region = "north", value = NULL, count = NULL, flag = NULL, note = "")
      )
    ))
  })

  app$get("/v1/datasets/demo/values", function(req, res) {
    settings <- req$app$locals$settings$labels
    if (!is.null(settings)) {
      column <- settings[[req$query$columns]]
      entries <- lapply(column$values, function(value) {
        code <- if (is.logical(value)) tolower(value) else format(value, scientific = FALSE)
        label <- if (is.list(column$labels)) column$labels else unname(column$labels[code])
        if (is.character(label)) label <- if (!is.na(label)) paste0(req$query$lang, label)
        list(value = value, label = label, rows = 1)
      })
      shown <- if (is.null(column$snapshot)) req$query$snapshot else column$snapshot
      return(res$send_json(auto_unbox = TRUE, null = "null", json_verbatim = TRUE, list(
        name = "demo", snapshot_id = shown, selection = "", rows = 12, columns = list(
          list(name = req$query$columns, role = "attribute", distinct = 3, nulls = 1, "next" = column[["next"]], values = entries)
        )
      )))
    }
    value <- function(value, rows) {
      list(value = value, label = NULL, rows = rows, first = "2020-01-01", last = "2021-01-01")
    }
    res$send_json(auto_unbox = TRUE, null = "null", list(
      name = "demo", snapshot_id = strrep("a", 32), selection = "", rows = 12, columns = list(
        list(name = "region", role = "dimension", distinct = 3, nulls = 1, "next" = "south",
             values = list(value("north", 5), value("south", 6))),
        list(name = "flag", role = "attribute", distinct = NULL, nulls = 11, "next" = NULL,
             values = list(value(TRUE, 1)))
      )
    ))
  })

  app$get("/v1/datasets/demo/link", function(req, res) {
    url <- paste0("https://stats.example/l/", req$app$locals$token, ".csv")
    end <- if (!identical(req$query$days, "366")) "2026-12-03T09:00:00Z"
    text <- jsonlite::toJSON(auto_unbox = TRUE, null = "null", list(
      url = url, expires_at = end, format = "csv", selection = "last=1"
    ))
    if (identical(req$query$days, "365")) text <- substr(text, 1, 60)
    res$set_header("Cache-Control", "no-store")$set_type("application/json")$send(text)
  })

  # Rows: page by cursor, `c2a` for the second page of snapshot a.
  app$locals$rows <- function(req, res) {
    if (!is.null(req$app$locals$settings$ignored)) {
      res$set_header("X-Service-Ignored", req$app$locals$settings$ignored)
    }
    locals <- req$app$locals
    settings <- locals$settings
    get <- req$method == "get"
    if (get) {
      req$app$locals$gets <- locals$gets + 1L
      number <- as.character(locals$gets)
    } else {
      number <- "head"
    }
    cursor <- req$query$cursor
    page <- if (is.null(cursor)) 1L else as.integer(substr(cursor, 2, 2))
    # The number of the GET chooses the snapshot; HEAD sees that of the next one.
    turn <- min(locals$gets + !get, length(settings$snapshots))
    snapshot <- if (is.null(cursor)) settings$snapshots[[turn]] else substr(cursor, 3, 3)
    fault <- settings$faults[[number]]
    if (is.null(fault)) fault <- ""
    if (!get && !is.null(settings$refuse_head)) return(locals$refuse(res, settings$refuse_head, "no_such_dataset"))
    if (get && !is.null(settings$refuse_head)) {
      return(locals$refuse(res, settings$refuse_head, "no_such_dataset", detail = "There is no such dataset."))
    }
    refusal <- switch(
      fault,
      burst = list(429L, "slow_down", list("Retry-After" = "2")),
      busy = list(429L, "too_many_open", list("Retry-After" = "1")),
      month = list(429L, "quota_used_up", list("Retry-After" = "800000", "X-RateLimit-Reset" = "1796083200")),
      long_wait = list(503L, "busy", list("Retry-After" = "600")),
      "503" = list(503L, "busy", list()), "503 after" = list(503L, "busy", list("Retry-After" = "1")),
      "502" = list(502L, "bad", list()), "504" = list(504L, "late", list()), "500" = list(500L, "internal", list("X-Request-Id" = "r1")),
      "401" = list(401L, "unknown_key", list()), "407" = list(407L, "", list()), "403" = list(403L, "licence", list()), "410" = list(410L, "gone", list()),
      "413" = list(413L, "unbounded_pull", list()), "not yet" = list(404L, "not_published_yet", list()),
      forgotten = list(410L, "history_gone", list()), versions = list(413L, "too_many_versions", list()),
      rebuilding = list(503L, "rebuilding", list("Retry-After" = "7")), "rebuilding long" = list(503L, "rebuilding", list("Retry-After" = "600"))
    )
    if (!is.null(refusal)) return(locals$refuse(res, refusal[[1]], refusal[[2]], refusal[[3]]))
    if (fault == "away") return(res$set_status(302L)$set_header("Location", settings$other)$send(""))
    if (fault == "file away") return(res$set_status(307L)$set_header("Location", settings$other)$send(""))
    if (fault == "echo") return(locals$refuse(res, 401L, "unknown_key", detail = paste("unknown", req$get_header("x-api-key"))))

    size <- as.numeric(req$query$limit)
    whole <- size >= 12
    body <- if (whole) locals$whole[[snapshot]] else locals$streams[[snapshot]][[page]]
    last <- whole || page == 3L
    rows <- if (whole) 12 else if (page == 3L) 2 else 5
    tag <- sprintf("\"%s-%d-%s\"", snapshot, page, if (whole) "whole" else "page")
    res$set_header("ETag", tag)
    res$set_header("X-Service-Snapshot-Id", strrep(if (fault == "mixed") "b" else snapshot, 32))
    res$set_header("X-Service-Attribution", "Stats \u014ctautahi, CC BY 4.0")
    res$set_header("X-Service-Source", "Stats \u014ctautahi")
    res$set_header("X-Service-Licence", "CC-BY-4.0")
    res$set_header("X-Service-Namespace", "tests")
    res$set_header("Last-Modified", "Sun, 22 Nov 2026 21:02:00 GMT")
    if (settings$totals) {
      res$set_header("X-Service-Total-Rows", settings$total)
      res$set_header("X-Service-Rows", rows)
    }
    if (!last && fault != "no next") {
      res$set_header("X-Next-Page", if (fault == "same next") cursor else sprintf("c%d%s", page + 1L, snapshot))
    }
    if (identical(req$get_header("if-none-match"), tag)) return(res$send_status(304L))
    if (!get) return(res$send(""))
    res$set_type("application/vnd.apache.arrow.stream")
    size <- length(body)
    switch(
      fault,
      cut = {
        res$set_header("Content-Length", size)$set_header("Connection", "close")
        res$send(body[seq_len(size %/% 2)])
      },
      reset = {
        res$send_chunk(body[seq_len(size %/% 2)])
        stop("the connection is closed here")
      },
      marker = res$send(body[seq_len(size - 8)]),
      short = res$send(locals$streams[["a"]][[3]]),
      html = res$send("<html>Bad gateway</html>"),
      empty = res$send(raw()),
      slow = {
        res$set_header("Content-Length", size)
        res$write(body[1:10])
        Sys.sleep(6)
        res$send(body[-(1:10)])
      },
      res$send(body)
    )
  }
  app$get("/v1/datasets/demo/data", function(req, res) req$app$locals$rows(req, res))
  app$head("/v1/datasets/demo/data", function(req, res) req$app$locals$rows(req, res))

  app$locals$feed <- function(req, res) {
    second <- identical(req$query$since, "w1")
    if (identical(req$query$since, "gone")) return(req$app$locals$refuse(res, 410L, "gone"))
    res$set_header("ETag", if (second) "\"changes-2\"" else "\"changes-1\"")
    res$set_header("X-Service-Watermark", if (second) "w2" else "w1")
    res$set_header("X-Service-Has-More", if (second) "false" else "true")
    res$set_header("X-Service-Snapshot-Id", strrep("b", 32))
    res$set_header("X-Service-Attribution", if (second) "Second" else "First")
    res$set_header("X-Service-Licence", "CC-BY-4.0")
    res$set_header("X-Service-Rows", 2)
    res$send(req$app$locals$changes[[if (second) 2 else 1]])
  }
  app$get("/v1/datasets/demo/changes", function(req, res) req$app$locals$feed(req, res))
  app$head("/v1/datasets/demo/changes", function(req, res) req$app$locals$feed(req, res))

  # Rows with the moments between which they stood, on two pages; with `columns` on one, or the file that
  # is told.
  app$locals$revisions <- function(req, res) {
    columns <- req$query$columns
    told <- req$app$locals$settings$revisions
    file <- if (!is.null(told)) told else if (is.null(columns)) {
      if (is.null(req$query$cursor)) "revisions_1" else "revisions_2"
    } else if (identical(columns, "date,value,_valid_from,_valid_to")) "vintages_alike" else {
      paste0("vintages_", sub("^date,region,([a-z]*),_valid_from,_valid_to$", "\\1", columns))
    }
    tag <- sprintf("\"%s\"", file)
    res$set_header("ETag", tag)
    res$set_header("X-Service-Snapshot-Id", strrep("b", 32))
    res$set_header("X-Service-Attribution", "Stats \u014ctautahi, CC BY 4.0")
    if (file == "revisions_1") res$set_header("X-Next-Page", "second")
    if (identical(req$get_header("if-none-match"), tag)) return(res$send_status(304L))
    if (req$method == "head") return(res$send(""))
    res$send(readBin(file.path(req$app$locals$fixtures, paste0(file, ".arrows")), "raw", 1e6))
  }
  app$get("/v1/datasets/demo/revisions", function(req, res) req$app$locals$revisions(req, res))
  app$head("/v1/datasets/demo/revisions", function(req, res) req$app$locals$revisions(req, res))

  app$locals$file <- function(req, res) {
    settings <- req$app$locals$settings$bulk
    if (!is.null(settings$status)) return(req$app$locals$refuse(res, settings$status, "plan"))
    body <- req$app$locals$parquet
    digest <- openssl::base64_encode(as.raw(openssl::sha256(if (isTRUE(settings$wrong)) charToRaw("x") else body)))
    res$set_header("ETag", "\"file\"")
    res$set_header("X-Service-Snapshot-Id", strrep(if (isTRUE(settings$older)) "0" else "a", 32))
    res$set_header("X-Service-Attribution", "Stats")
    res$set_header("Repr-Digest", sprintf("sha-256=:%s:", digest))
    if (req$method == "head") {
      res$set_header("Content-Length", length(body))
      return(res$send(""))
    }
    number <- req$app$locals$bulk_gets + 1L
    req$app$locals$bulk_gets <- number
    range <- req$get_header("range")
    from <- if (is.null(range)) 1L else as.integer(sub("bytes=([0-9]+)-", "\\1", range)) + 1L
    rest <- body[from:length(body)]
    if (!is.null(range)) res$set_status(206L)
    if (isTRUE(number <= settings$cuts)) {
      res$set_header("Content-Length", length(rest))$set_header("Connection", "close")
      return(res$send(rest[seq_len(length(rest) %/% 2)]))
    }
    res$send(rest)
  }
  app$get("/v1/bulk/tests/demo", function(req, res) req$app$locals$file(req, res))
  app$head("/v1/bulk/tests/demo", function(req, res) req$app$locals$file(req, res))

  app$get(webfakes::new_regexp("^/cite/demo/"), function(req, res) {
    cite <- req$app$locals$settings$cite
    if (is.null(cite)) return(req$app$locals$refuse(res, 404L, "no_such_page"))
    if (identical(req$query$format, "csl-json")) return(res$send_json(list(title = cite$title), auto_unbox = TRUE))
    res$send(paste0("Stats (2026). ", cite$title, " [data set]. Digest: ", cite$digest, "\n"))
  })
  app$get("/v1/integrations/meltano", function(req, res) {
    res$send_json(auto_unbox = TRUE, list(
      tool = "meltano", files = list("meltano.yml" = "a: 1\n", "plugins/x.yml" = "b"),
      media_types = list("meltano.yml" = "text/yaml"), attribution = list("Stats"), warnings = list()
    ))
  })
  app$get("/v1/integrations/large", function(req, res) {
    res$send_json(auto_unbox = TRUE, list(tool = "large", files = list("large.sql" = strrep("x", 5000))))
  })
  app$get("/v1/integrations/bad", function(req, res) {
    res$send_json(auto_unbox = TRUE, list(tool = "bad", files = list("../outside" = "x")))
  })
  app
}

# Fakes that run, one of them for all tests that need one. A process takes longer to start than a
# test to run.
fakes <- new.env()
fakes$idle <- list()

start_fake <- function(keep_alive = FALSE) {
  # On a busy machine a session of R may miss its deadline.
  for (try in 1:20) {
    options <- webfakes::server_opts(enable_keep_alive = keep_alive, num_threads = if (keep_alive) 8 else 1)
    process <- webfakes::new_app_process(fake_service(), opts = options, process_timeout = 60000)
    started <- tryCatch(is.character(process$url()), error = function(error) FALSE)
    if (started) return(process)
  }
  stop("webfakes cannot start a process")
}

# A running fake with these settings; `log()` returns its requests. With `keep_alive` it is one of its
# own, which keeps connections open.
local_fake <- function(..., cache = NULL, keep_alive = FALSE, frame = parent.frame()) {
  settings <- fake_service(...)$locals$settings
  if (keep_alive) {
    process <- start_fake(keep_alive)
    withr::defer(process$stop(), envir = frame)
  } else {
    process <- if (length(fakes$idle)) fakes$idle[[1]] else start_fake()
    fakes$idle <- fakes$idle[-1]
    withr::defer(fakes$idle <- c(fakes$idle, list(process)), envir = frame)
  }
  url <- sub("/$", "", process$url())
  configure <- httr2::req_body_raw(
    httr2::request(paste0(url, "/configure")), serialize(settings, NULL), "application/octet-stream"
  )
  httr2::req_perform(configure)
  local_service(url, cache = cache, frame = frame)
  list(url = url, log = function() {
    jsonlite::fromJSON(rawToChar(curl_bytes(paste0(url, "/log"))), simplifyVector = FALSE)
  })
}

curl_bytes <- function(url) httr2::resp_body_raw(httr2::req_perform(httr2::request(url)))

# Charged requests on rows.
gets_of <- function(fake, path = "/v1/datasets/demo/data") {
  Filter(function(one) one$method == "get" && one$path == path, fake$log())
}

demo <- function(name = "demo.arrows") {
  pulled <- yearbook:::read_arrow_stream(fixture(name))
  pulled$headers <- list()
  plain(yearbook:::as_table(pulled, "demo", list(), "data.frame", "auto", base = ""))
}

# A result without its attributes.
plain <- function(frame) {
  frame <- as.data.frame(frame)
  attr(frame, "yearbook") <- NULL
  attr(frame, "watermark") <- NULL
  frame
}
