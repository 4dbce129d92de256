#' Client for Yearbook, a service of public statistics
#'
#' Set `SERVICE_BASE_URL` and `SERVICE_API_KEY` ([yb_settings]), then:
#'
#' | Verb | Does | Costs |
#' |---|---|---|
#' | [yb_datasets()], [yb_search()] | list and search datasets | a request when the list changed |
#' | [yb_preview()] | the newest ten rows, columns and roles | nothing |
#' | [yb_describe()] | columns, dates, licence, snapshots | a request when they changed |
#' | [yb_get()] | rows | a request for each page that is not on disk yet |
#' | [yb_link()] | an address of rows that needs no key | nothing |
#' | [yb_revisions()] | rows as often as they were published differently, or vintages | a request for each page |
#' | [yb_changes()] | revisions between snapshots | a request for each page |
#' | [yb_download()] | a file in any format | a request for each page |
#' | [yb_sync()], [yb_library()] | local copies, kept up to date | nothing while nothing changed |
#' | [yb_cite()], [yb_credit()] | citation and credit | nothing |
#' | [yb_verify()] | compares values with the service's digest | a request for a selection |
#' | [yb_integration()] | a project for a data tool | a request |
#' | [yb_me()] | plan and what is left of the month | nothing |
#'
#' Errors are typed: [yb_errors].
#'
#' @keywords internal
"_PACKAGE"
