notes <- c("", "\"q\"", "M\u0101ori", "NA", "a\nb", "x", "y", "z", "\u65e5\u672c")
counts <- list(-(2^40), -5, 0, 1, 2, 7, 8, 9, 10, 12, 2^40)

# Labels of a text, of numbers, of truths and of statuses.
labels_of_demo <- function(...) {
  utils::modifyList(list(
    region = list(values = list("north", "south"), labels = c(north = "Te Tai Tokerau")),
    count = list(values = counts, labels = c("0" = "None", "1099511627776" = "Many")),
    flag = list(values = list(FALSE, TRUE), labels = c(false = "Provisional", true = "Final")),
    note = list(values = as.list(notes), labels = c(x = "Normal value"))
  ), list(...))
}

test_that("labels stand in place of codes as factors (contract-15-clients-labels)", {
  fake <- local_fake(labels = labels_of_demo())
  before <- demo()
  for (to in c("data.frame", "tibble")) {
    found <- yb_get("demo", to = to, labels = TRUE)
    expect_identical(names(found), names(before))
    expect_identical(plain(found[c("date", "value")]), before[c("date", "value")])
    # Levels are of all values, in their order.
    expect_identical(levels(found$region), c("Te Tai Tokerau", "south"))
    expect_identical(levels(found$flag), c("Provisional", "Final"))
    expect_identical(levels(found$note), replace(notes, 6, "Normal value"))
    expect_identical(as.integer(found$region), match(before$region, c("north", "south")))
    expect_identical(as.character(found$flag), c("Provisional", "Final")[before$flag + 1])
    expect_identical(as.character(found$note), ifelse(before$note == "x", "Normal value", before$note))
    expect_identical(as.character(found$count[c(1, 4, 5, 11)]), c("None", NA, "Many", "-1099511627776"))
    expect_true(is.factor(found$count) && !is.ordered(found$count))
    expect_identical(yb_credit(found), "Stats \u014ctautahi, CC BY 4.0")
  }
  expect_identical(yb_get("demo")$region, before$region)
  # What nobody has labelled stays as it is.
  fake <- local_fake()
  expect_identical(plain(yb_get("demo", labels = TRUE)), before)
})

# A pull of one column, from which labels are made.
labelled_pull <- function(values, name, type) {
  pulled <- list(
    columns = list(values), about = data.frame(name = name, type = type),
    headers = list("x-service-snapshot-id" = strrep("a", 32))
  )
  yearbook:::label_columns(yearbook:::retry_budget(), "demo", pulled, name, NULL)$columns[[1]]
}

test_that("a column with labels is a factor whatever a release holds (contract-15-clients-labels)", {
  # Values without a label, and none at all.
  fake <- local_fake(labels = list(flag = list(values = list(FALSE, TRUE)), note = list(values = list())))
  found <- labelled_pull(c(TRUE, NA), "flag", "boolean")
  expect_identical(found, factor(c("true", NA), c("false", "true")))
  for (rows in c(0, 3)) {
    found <- labelled_pull(rep(NA_character_, rows), "note", "string")
    expect_identical(found, factor(rep(NA, rows), character()))
  }
})

test_that("large integers and early dates have their labels (contract-15-clients-labels)", {
  codes <- c(
    "-9223372036854775808", "-9007199254740993", "-1000000000000000", "100000", "2147483648", "1000000000000000",
    "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807"
  )
  values <- lapply(codes, structure, class = "json")
  labels <- stats::setNames(paste("Code", seq_along(codes)), codes)
  fake <- local_fake(labels = list(
    count = list(values = values, labels = labels), date = list(values = list("0001-01-01"), labels = c("0001-01-01" = "First"))
  ))
  expect_identical(yb_values("demo", "count")$value, codes)
  found <- labelled_pull(yearbook:::int64_from_text(c(codes, NA)), "count", "integer")
  expect_identical(found, factor(unname(c(labels, NA)), unname(labels)))
  expect_identical(as.character(labelled_pull(structure(-719162, class = "Date"), "date", "date")), "First")
  # Those that share a label, or have none, show every digit.
  fake <- local_fake(labels = list(count = list(values = values, labels = stats::setNames(rep("One", 9), codes[-10]))))
  found <- labelled_pull(yearbook:::int64_from_text(codes), "count", "integer")
  expect_identical(as.character(found), c(sprintf("One (%s)", codes[-10]), codes[10]))
})

test_that("two values never get one text (contract-15-clients-labels)", {
  shown <- function(values, labels) names(table(yearbook:::label_texts(Map(function(value, label) {
    list(value = value, label = if (!is.na(label)) label)
  }, values, labels))))
  expect_setequal(shown(list(1, 2, 3, 4), c("House", "Flat", "House", NA)), c("House (1)", "Flat", "House (3)", "4"))
  expect_setequal(shown(list("A", "B"), c("B", NA)), c("B (A)", "B (B)"))
  # Labels that were written to look like others.
  both <- list(values = list("north", "south", "west"), labels = c(north = "X", south = "X", west = "X (north)"))
  fake <- local_fake(labels = list(region = both))
  warned <- expect_warning(found <- yb_get("demo", labels = TRUE), "`region` look alike", class = "yb_warning_labels")
  expect_null(conditionCall(warned))
  expect_identical(plain(found), demo())
})

test_that("labels are of the version of the rows and cost the metadata (contract-15-clients-labels)", {
  fake <- local_fake(labels = labels_of_demo(), snapshots = c("a", "b"))
  found <- yb_get("demo", labels = TRUE, lang = "mi", where = list(value.ge = 1))
  asked <- Filter(function(one) one$path == "/v1/datasets/demo/values", fake$log())
  expect_identical(
    vapply(asked, `[[`, "", "text"),
    sprintf("columns=%s&limit=10000&snapshot=%s&lang=mi", c("region", "count", "flag", "note"), attr(found, "yearbook")$snapshot)
  )
  expect_identical(levels(found$region)[1], "miTe Tai Tokerau")
  about <- Filter(function(one) one$path == "/v1/datasets/demo", fake$log())
  expect_length(about, 1)
  expect_identical(yb_describe("demo")$columns$labelled, c(FALSE, TRUE, TRUE, TRUE, FALSE))
  expect_identical(yb_values("demo", "flag", lang = "mi", snapshot = "a")$label, c("miProvisional", "miFinal"))
  fake <- local_fake(labels = list(flag = list(values = list(FALSE, TRUE), labels = c(true = "Final"), snapshot = "c")))
  expect_error(yb_get("demo", labels = TRUE), "another version", class = "yb_error_snapshot")
})

test_that("a column of too many values keeps them with a warning (contract-15-clients-labels)", {
  labels <- labels_of_demo()
  labels$region[["next"]] <- "south"
  fake <- local_fake(labels = labels)
  warned <- expect_warning(found <- yb_get("demo", labels = TRUE), "`region` has more than 10,000", class = "yb_warning_labels")
  expect_identical(found$region, demo()$region)
  expect_true(is.factor(found$flag))
})

test_that("what has labels is cited and not verified (contract-15-clients-labels)", {
  fake <- local_fake(labels = labels_of_demo())
  found <- yb_get("demo", labels = TRUE)
  expect_identical(format(yb_cite(found, online = FALSE)), format(yb_cite(yb_get("demo"), online = FALSE)))
  for (verify in list(yb_digest, yb_verify)) {
    refused <- expect_error(verify(found), "`region` has labels", class = "yb_error_usage")
    expect_match(refused$advice, "without `labels`", fixed = TRUE)
  }
  expect_match(yb_digest(yb_get("demo")), "^yb1:")
  wide <- yb_pivot_wider(found[c("date", "region", "value")], names_from = "region")
  expect_setequal(names(wide), c("date", "Te Tai Tokerau", "south"))
})

test_that("answers that are no labels are errors (contract-15-clients-labels)", {
  fake <- local_fake(labels = labels_of_demo())
  for (lang in list("mi", "", 5)) expect_error(yb_get("demo", lang = lang), "^`lang`", class = "yb_error_usage")
  for (labels in list(NA, 1, "TRUE")) expect_error(yb_get("demo", labels = labels), "^`labels`", class = "yb_error_usage")
  expect_length(fake$log(), 0)
  fake <- local_fake(labels = list(flag = list(values = list(FALSE, TRUE), labels = list("Final", 1))))
  expect_error(yb_get("demo", labels = TRUE), "a label is none", class = "yb_error_unreadable")
  # Rows with a value that the service does not list.
  fake <- local_fake(labels = list(flag = list(values = list(FALSE), labels = c(false = "Provisional"))))
  expect_error(yb_get("demo", labels = TRUE), "all values of the column `flag`", class = "yb_error_unreadable")
})
