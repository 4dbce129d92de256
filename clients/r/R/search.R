# yb_search(): datasets by words, ranked here over the list of datasets.

# Letters with marks that the list folds, so that a search without marks finds them.
FOLD_FROM <- paste0(
  "\u00e0\u00e1\u00e2\u00e3\u00e4\u00e5\u0101\u0103\u0105\u00e7\u0107\u010d\u010f",
  "\u00e8\u00e9\u00ea\u00eb\u0113\u0119\u011b\u00ec\u00ed\u00ee\u00ef\u012b\u0142",
  "\u00f1\u0144\u0148\u00f2\u00f3\u00f4\u00f5\u00f6\u014d\u00f8\u0159\u015b\u0161\u0165",
  "\u00f9\u00fa\u00fb\u00fc\u016b\u016f\u00fd\u00ff\u017a\u017c\u017e"
)
FOLD_TO <- "aaaaaaaaacccdeeeeeeeiiiiilnnnooooooorsstuuuuuuyyzzz"

# Their capitals, which tolower() knows in some locales only: 32 places before them in Latin-1, but
# for that of \u00ff, and one place before them after that.
FOLD_CAPITALS <- local({
  places <- utf8ToInt(FOLD_FROM)
  intToUtf8(ifelse(places == 255, 376, places - ifelse(places < 256, 32, 1)))
})

fold <- function(text) {
  text <- chartr(FOLD_CAPITALS, FOLD_TO, enc2utf8(text))
  chartr(FOLD_FROM, FOLD_TO, tolower(text))
}

# Text as words with a blank between them; letters and digits of every script, in every locale.
words_of <- function(text) gsub("[^\\p{L}\\p{N}]+", " ", fold(text), perl = TRUE)

#' Search the datasets
#'
#' Ranks the datasets by the words in their name, title, agency and description. Case and marks on
#' letters do not count, and a word finds those that begin with it. Costs what [yb_datasets()]
#' costs: nothing while the list is unchanged.
#'
#' @param query Words; a dataset must have all of them.
#' @return The rows of [yb_datasets()] that match, the best first.
#' @export
#' @examples
#' if (nzchar(Sys.getenv("SERVICE_API_KEY"))) try(yb_search("unemployment"))
yb_search <- function(query) {
  check_text(query, "query")
  found <- yb_datasets()
  words <- strsplit(trimws(words_of(query)), " ")[[1]]
  words <- words[nzchar(words)]
  if (length(words) == 0) abort_usage("`query` has no word.", "Name what you look for.")
  found[search_order(found, words), ]
}

# Weights of the columns: a word in the title tells more than one in the description.
SEARCH_WEIGHTS <- c(name = 5, title = 4, source = 2, description = 1)

search_order <- function(found, words) {
  texts <- lapply(names(SEARCH_WEIGHTS), function(column) {
    text <- found[[column]]
    paste0(" ", words_of(ifelse(is.na(text), "", text)), " ")
  })
  score <- 0
  all_words <- rep(TRUE, nrow(found))
  for (word in words) {
    # A whole word counts twice as much as the beginning of one.
    hits <- Map(function(text, weight) {
      starts <- grepl(paste0(" ", word), text, fixed = TRUE)
      weight * (starts + grepl(paste0(" ", word, " "), text, fixed = TRUE))
    }, texts, SEARCH_WEIGHTS)
    hit <- Reduce(`+`, hits)
    all_words <- all_words & hit > 0
    score <- score + hit
  }
  best <- order(-score, found$name, method = "radix")
  best[all_words[best]]
}
