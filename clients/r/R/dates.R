# Dates: `YYYY-MM-DD` texts to R's `Date` and back, for the years 1 to 9999; and moments in UTC.
#
# Uses no time zone and no locale. Every distinct text is converted once.

# Days since 1970-01-01 in the proleptic Gregorian calendar. A year that begins in March has its
# leap day last.
days_of <- function(year, month, day) {
  shifted <- month <= 2
  year <- year - shifted
  era <- year %/% 400
  of_era <- year - era * 400
  of_year <- (153 * (month + ifelse(shifted, 9, -3)) + 2) %/% 5 + day - 1
  era * 146097 + of_era * 365 + of_era %/% 4 - of_era %/% 100 + of_year - 719468
}

# Dates of `text`. NULL where a text is not a date of the calendar, so that none becomes NA.
dates_from_text <- function(text) {
  distinct <- unique(text)
  present <- !is.na(distinct)
  if (!all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", distinct[present]))) return(NULL)
  part <- function(first, last) as.integer(substr(distinct, first, last))
  days <- days_of(part(1, 4), part(6, 7), part(9, 10))
  if (!identical(text_from_days(days[present]), distinct[present])) return(NULL)
  structure(days[match(text, distinct)], class = "Date")
}

# `YYYY-MM-DD` of days since 1970-01-01, years in four digits.
text_from_days <- function(days) {
  shifted <- days + 719468
  era <- shifted %/% 146097
  of_era <- shifted - era * 146097
  year <- (of_era - of_era %/% 1460 + of_era %/% 36524 - of_era %/% 146096) %/% 365
  of_year <- of_era - (365 * year + year %/% 4 - year %/% 100)
  index <- (5 * of_year + 2) %/% 153
  day <- of_year - (153 * index + 2) %/% 5 + 1
  month <- index + ifelse(index < 10, 3, -9)
  year <- year + era * 400 + (month <= 2)
  text <- sprintf("%04d-%02d-%02d", as.integer(year), as.integer(month), as.integer(day))
  text[is.na(days)] <- NA_character_
  text
}

# A bound of a query as text; NULL stays NULL.
bound_text <- function(value, name) {
  if (is.null(value)) return(NULL)
  one <- (is.atomic(value) || inherits(value, "POSIXlt")) && length(value) == 1 && !is.na(value)
  if (!one) abort_usage(sprintf("`%s` must be one date.", name), "Give a Date or \"YYYY-MM-DD\".")
  text <- if (inherits(value, c("yearmon", "yearqtr"))) {
    text_from_days(day_of_period(value, name))
  } else if (inherits(value, c("Date", "POSIXt"))) {
    # The day in the time zone of the value; as.Date() of older versions of R takes UTC.
    if (inherits(value, "POSIXt")) value <- as.Date(as.POSIXlt(value))
    if (is.finite(value)) text_from_days(floor(as.double(value))) else "infinite"
  } else {
    as.character(value)
  }
  if (is.null(dates_from_text(text))) {
    abort_usage(
      sprintf("`%s` is \"%s\", which is no date.", name, text), "Give a Date or \"YYYY-MM-DD\"."
    )
  }
  text
}

# The first day of a month or a quarter as the package zoo has them, years and their fraction; as
# `end` its last day.
day_of_period <- function(value, name) {
  months <- round(as.double(unclass(value)) * 12)
  if (name == "start") return(days_of(months %/% 12, months %% 12 + 1, 1))
  months <- months + if (inherits(value, "yearqtr")) 3 else 1
  days_of(months %/% 12, months %% 12 + 1, 1) - 1
}

MOMENT <- paste0(
  "^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.][0-9]+)?",
  "(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$"
)

# Seconds since 1970 of texts such as `2026-08-20T22:45:00Z`, in whole seconds; of a day its last one in
# UTC. NA where a text is no moment.
seconds_of <- function(text) {
  distinct <- unique(text)
  days <- grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", distinct)
  whole <- ifelse(days, paste0(distinct, "T23:59:59Z"), distinct)
  seconds <- vapply(regmatches(whole, regexec(MOMENT, whole, perl = TRUE)), function(parts) {
    date <- if (length(parts)) dates_from_text(parts[2])
    if (is.null(date)) return(NA_real_)
    clock <- as.integer(parts[3:5])
    zone <- if (nzchar(parts[6])) as.integer(parts[7:8]) else c(0, 0)
    if (any(c(clock, zone) > c(23, 59, 59, 23, 59))) return(NA_real_)
    offset <- sum(zone * c(3600, 60)) * if (parts[6] == "-") -1 else 1
    as.double(date) * 86400 + sum(clock * c(3600, 60, 1)) - offset
  }, 0)
  seconds[match(text, distinct)]
}

# `2026-08-20T22:45:00Z` of seconds since 1970.
text_of_seconds <- function(seconds) {
  of_day <- seconds %% 86400
  clock <- sprintf("T%02.0f:%02.0f:%02.0fZ", of_day %/% 3600, of_day %% 3600 %/% 60, of_day %% 60)
  paste0(text_from_days(seconds %/% 86400), clock)
}

# A day or a moment as text; NULL stays NULL. What R calls a moment has its time zone.
moment_text <- function(value, name) {
  if (is.null(value)) return(NULL)
  one <- (is.atomic(value) || inherits(value, "POSIXlt")) && length(value) == 1 && !is.na(value)
  text <- if (!one) NA_character_ else if (inherits(value, "POSIXt")) {
    seconds <- floor(as.double(as.POSIXct(value)))
    if (is.finite(seconds)) text_of_seconds(seconds) else NA_character_
  } else if (inherits(value, "Date")) {
    if (is.finite(value)) text_from_days(floor(as.double(value))) else NA_character_
  } else if (is.character(value)) value else NA_character_
  if (is.na(text) || is.na(seconds_of(text))) {
    abort_usage(
      sprintf("`%s` must be one day or one moment with a time zone.", name),
      "Give a Date, which is its end in UTC, a POSIXct, or a text such as \"2026-10-01T09:00:00+13:00\"."
    )
  }
  text
}
