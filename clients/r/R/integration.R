# yb_integration(): projects for data tools, made by the service.

#' Fetch a project for a data tool
#'
#' Costs one request. No file contains a key.
#'
#' @param tool Name of the tool, such as `"meltano"`, `"fivetran"` or `"azure-data-factory"`.
#' @param datasets Names of the datasets.
#' @param folder Folder to write the files to; unless given, they are only returned. No file that
#'   is there is replaced.
#' @return A list: `tool`, `files` (texts by path), `media_types`, `attribution` and `warnings`;
#'   invisibly where files were written.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) {
#'   try(yb_integration("meltano", "us_macro_quarterly")$warnings)
#' }
yb_integration <- function(tool, datasets, folder = NULL) {
  if (!is.character(tool) || length(tool) != 1 || !isTRUE(grepl("^[a-z0-9][a-z0-9-]*$", tool))) {
    abort_usage("`tool` is no name of a tool.", "Try \"meltano\", \"fivetran\" or \"azure-data-factory\".")
  }
  for (name in datasets) check_name(name)
  answer <- ask(
    retry_budget(), paste0("/v1/integrations/", tool),
    list(datasets = paste(datasets, collapse = ",")), headers = list(Accept = "application/json")
  )
  project <- answer_document(answer)
  project$attribution <- as.character(unlist(project$attribution))
  project$warnings <- as.character(unlist(project$warnings))
  if (is.null(folder)) return(project)
  write_project(project$files, folder)
  invisible(project)
}

# Writes the files below `folder`, all or none of whose paths leave it.
write_project <- function(files, folder) {
  paths <- names(files)
  parts <- strsplit(paths, "/", fixed = TRUE)
  safe <- vapply(parts, function(part) {
    length(part) > 0 && all(nzchar(part)) && !any(part %in% c(".", "..")) && !any(grepl("[\\:]", part))
  }, NA)
  if (!all(safe)) abort_unreadable(sprintf("the path %s leaves its folder", paths[!safe][1]))
  targets <- file.path(folder, paths)
  there <- file.exists(targets)
  if (any(there)) abort_usage(sprintf("%s is there already.", targets[there][1]), "Choose an empty folder.")
  for (i in seq_along(paths)) {
    dir.create(dirname(targets[i]), recursive = TRUE, showWarnings = FALSE)
    write_whole(targets[i], files[[i]])
  }
}
