# R's rsdmx, unmodified, against the adapter `sdmx`: the table with labels and statuses, its structure, and labels in rows.
# Called by main.py with the address of the service; the key comes in YEARBOOK_KEY.
suppressMessages(library(rsdmx))

base <- paste0(commandArgs(trailingOnly = TRUE)[[1]], "/api/sdmx/2.1")
headers <- list("X-API-Key" = Sys.getenv("YEARBOOK_KEY"))

rows <- as.data.frame(readSDMX(paste0(base, "/data/LABELLED_RENTS/all"), headers = headers))
stopifnot(
  identical(as.numeric(rows$OBS_VALUE), c(540.5, 610, 480.25, NA, 455)),
  identical(rows$OBS_STATUS, c("A", "A", "P", "M", NA)),
  identical(rows$REGION, c("02", "02", "09", "09", "99"))
)

structures <- readSDMX(paste0(base, "/datastructure/all/LABELLED_RENTS/latest?references=children"))
regions <- as.data.frame(slot(structures, "codelists"), codelistId = "LABELLED_RENTS-REGION")
stopifnot(identical(regions$id, c("02", "09", "99")), identical(regions$label.en, c("Auckland", "Wellington", "99")))

builder <- SDMXREST21RequestBuilder(regUrl = base, repoUrl = base, compliant = TRUE)
addSDMXServiceProvider(SDMXServiceProvider(agencyId = "YEARBOOK", name = "Yearbook", builder = builder))
chosen <- readSDMX(
  providerId = "YEARBOOK", resource = "data", flowRef = "LABELLED_RENTS", key = list("09", "1"), dsd = TRUE, headers = headers
)
labelled <- as.data.frame(chosen, labels = TRUE)
stopifnot(nrow(labelled) == 1, labelled$REGION_label.en == "Wellington", labelled$OBS_STATUS == "P")
