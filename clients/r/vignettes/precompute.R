# Runs the vignette against the service of SERVICE_BASE_URL and keeps what it printed.
#
# From the package's folder: Rscript vignettes/precompute.R
address <- Sys.getenv("SERVICE_BASE_URL")
knitr::knit("vignettes/yearbook.Rmd.orig", "vignettes/yearbook.Rmd", quiet = TRUE)
text <- readLines("vignettes/yearbook.Rmd", encoding = "UTF-8")
writeLines(gsub(address, "https://statistics.example", text, fixed = TRUE), "vignettes/yearbook.Rmd", useBytes = TRUE)
