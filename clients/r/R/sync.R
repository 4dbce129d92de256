# yb_sync() and yb_library(): local copies, brought up to date.
#
# A copy is an `.rds` file with the data frame and a `.json` file about it, both replaced by
# renaming. Owns the decision between reading all rows and applying changes.

#' Keep a local copy up to date
#'
#' The first call reads the whole dataset into a file. Later calls ask for the current snapshot,
#' which is free, and do nothing while it is the one on disk. Otherwise the copy is brought up to
#' date by the changes, where that may take fewer requests than all rows, and is read whole where
#' not. The file is replaced at once, so readers see one snapshot or the other.
#'
#' Read a copy with [readRDS()]: it is the data frame that [yb_get()] returns.
#'
#' @param name Name of the dataset.
#' @param folder Folder of the copies; made if need be.
#' @param how `"auto"`, `"whole"` to read all rows, or `"changes"` to apply changes.
#' @return The path of the `.rds` file, invisibly. The attribute `outcome` is `"new"`,
#'   `"unchanged"`, `"whole"` or `"changes"`.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   try(yb_sync("us_macro_quarterly", folder = tempfile()))
#' }
yb_sync <- function(name, folder = yb_library_folder(), how = "auto") {
  check_name(name)
  check_choice(how, c("auto", "whole", "changes"), "how")
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE)) {
    abort_usage(sprintf("The folder %s cannot be made.", folder), "Choose another folder.")
  }
  budget <- retry_budget()
  query <- selection()
  plan <- plan_pull(budget, name, query, Inf)
  path <- file.path(folder, paste0(name, ".rds"))
  copy <- read_manifest(folder, name)
  if (identical(copy$snapshot, plan$snapshot)) return(synced(path, "unchanged"))
  applied <- if (!is.null(copy) && changes_pay(how, plan)) apply_sync(budget, name, path, copy, plan)
  frame <- applied
  if (is.null(frame)) {
    pulled <- pull(budget, name, query, Inf)
    frame <- as_table(pulled, name, query, NULL, "auto")
  }
  write_copy(folder, name, frame)
  synced(path, if (is.null(copy)) "new" else if (is.null(applied)) "whole" else "changes")
}

synced <- function(path, outcome) invisible(structure(path, outcome = outcome))

# Changes cost a request for the metadata and one for the rows, at least.
changes_pay <- function(how, plan) how == "changes" || (how == "auto" && plan$requests > 2)

# The copy with all changes applied; NULL where it must be read whole: the snapshot is no longer
# kept, the columns changed, there is no primary key, or the number of rows would be wrong.
apply_sync <- function(budget, name, path, copy, plan) {
  frame <- tryCatch(readRDS(path), error = function(error) NULL)
  if (is.null(frame) || !identical(provenance(frame)$snapshot, copy$snapshot)) return(NULL)
  about <- yb_describe(name)
  changes <- tryCatch(
    pull_changes(budget, name, list(since = copy$snapshot), plan$account),
    yb_error_gone = function(gone) NULL, yb_error_not_found = function(gone) NULL
  )
  columns <- if (!is.null(changes)) changes$about[!startsWith(changes$about$name, "_"), ]
  known <- provenance(frame)$columns
  if (is.null(columns) || length(about$primary_key) == 0 || !identical(columns$name, known$name) ||
      !identical(columns$type, known$type)) {
    return(NULL)
  }
  whole <- apply_changes(columns_of_frame(frame, known), changes, about)
  if (!is.na(plan$total) && whole$rows != plan$total) return(NULL)
  headers <- plan$headers
  metadata <- list("yearbook.licence_title" = about$licence_title, "yearbook.licence_url" = about$licence_url)
  pulled <- list(columns = whole$columns, about = known, rows = whole$rows, headers = headers,
                 metadata = Filter(Negate(is.null), metadata))
  as_table(pulled, name, selection(), NULL, "auto")
}

# Columns of the newer snapshot: rows that went or were revised out, new ones in, in its order.
apply_changes <- function(columns, changes, about) {
  kinds <- changes$columns[["_change_type"]]
  key <- about$primary_key
  identity_of <- function(columns) {
    parts <- lapply(columns[key], function(values) {
      text <- if (is_int64(values)) int64_as_text(values)
              else if (is.double(values)) sprintf("%a", values) else as.character(values)
      paste0(nchar(text, "bytes"), ":", text)
    })
    do.call(paste, c(unname(parts), list(sep = "|")))
  }
  changed <- changes$columns[names(columns)]
  # Of a row that changed several times the last word counts.
  identities <- identity_of(changed)
  last <- !duplicated(identities, fromLast = TRUE)
  stays <- !identity_of(columns) %in% identities
  added <- last & kinds %in% c("insert", "update_postimage")
  columns <- Map(function(old, new) {
    if (is_int64(old)) int64_bind(list(int64_subset(old, which(stays)), int64_subset(new, which(added))))
    else c(old[stays], new[added])
  }, columns, changed)
  sorted <- row_order(columns, c(about$date_filter_column, key))
  columns <- lapply(columns, function(values) {
    if (is_int64(values)) int64_subset(values, sorted) else values[sorted]
  })
  list(columns = columns, rows = length(sorted))
}

# The service's order: by date, then by primary key, texts by their bytes.
row_order <- function(columns, by) {
  keys <- lapply(columns[unique(by)], function(values) {
    if (is_int64(values)) list(unclass(values)$high, unclass(values)$low) else list(values)
  })
  do.call(order, c(unlist(unname(keys), recursive = FALSE), list(method = "radix")))
}

write_copy <- function(folder, name, frame) {
  from <- provenance(frame)
  path <- file.path(folder, paste0(name, ".rds"))
  scratch <- tempfile("new-", folder, ".part")
  on.exit(unlink(scratch))
  # A copy that does not fit on the disk is no error of saveRDS(), but it cannot be read.
  tryCatch({
    suppressWarnings(saveRDS(frame, scratch))
    readRDS(scratch)
  }, error = function(error) abort_disk(path))
  if (!move_file(scratch, path)) abort_disk(path)
  # The file says itself which snapshot it is; the manifest is written after it.
  about <- list(
    name = name, snapshot = from$snapshot, rows = from$rows, attribution = from$attribution,
    licence = from$licence, base_url = from$base_url, digest = sha256_file(path),
    synced_at = format(Sys.time(), "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")
  )
  text <- jsonlite::toJSON(about, auto_unbox = TRUE, pretty = TRUE, digits = NA)
  write_whole(file.path(folder, paste0(name, ".json")), text)
}

# Facts of the copy; NULL where there is none, or its file is damaged.
read_manifest <- function(folder, name) {
  path <- file.path(folder, paste0(name, ".json"))
  data <- file.path(folder, paste0(name, ".rds"))
  if (!file.exists(path) || !file.exists(data)) return(NULL)
  about <- tryCatch(jsonlite::fromJSON(path), error = function(error) NULL)
  if (is.null(about$snapshot) || !identical(about$base_url, base_url())) return(NULL)
  if (!identical(sha256_file(data), about$digest)) return(NULL)
  about
}

#' List the local copies
#'
#' @param folder Folder of the copies that [yb_sync()] keeps.
#' @return For `yb_library()` a data frame with a row for each copy: `name`, `rows`, `snapshot`,
#'   `synced_at`, `bytes` and `path`. For `yb_library_folder()` the folder that is used unless
#'   another is given.
#' @export
#' @examples
#' yb_library(folder = tempdir())
yb_library <- function(folder = yb_library_folder()) {
  files <- list.files(folder, "^[a-z][a-z0-9_]*[.]rds$", full.names = TRUE)
  read <- function(file) {
    tryCatch(jsonlite::fromJSON(sub("[.]rds$", ".json", file)), error = function(error) NULL)
  }
  abouts <- suppressWarnings(lapply(files, read))
  known <- !vapply(abouts, is.null, NA)
  abouts <- abouts[known]
  files <- files[known]
  as_result_frame(data.frame(
    name = vapply(abouts, `[[`, "", "name"),
    rows = vapply(abouts, function(about) as.numeric(about$rows), 0),
    snapshot = vapply(abouts, `[[`, "", "snapshot"),
    synced_at = as.POSIXct(vapply(abouts, `[[`, "", "synced_at"), tz = "UTC", format = "%Y-%m-%dT%H:%M:%SZ"),
    bytes = file.size(files),
    path = files
  ))
}

#' @rdname yb_library
#' @export
yb_library_folder <- function() tools::R_user_dir("yearbook", "data")
