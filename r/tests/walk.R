# Data frames in, protected tables out. The command is SDCDSL, or `sdcdsl` on the PATH.
library(sdcdsl)

policy_text <- '
sdc 1
policy "Turnover by region and size"

param title = "first"

data enterprises {
  %s
  column unit = "id"
}

dimension region {
  codes "\u00d8st", "01"
  total Total
}

dimension size {
  codes 1, 2
  total Total
}

table turnover {
  from enterprises
  by region, size
  sum turnover
}

sensitive by threshold(2)

attacker external {
  bounds 0 .. inf
}

protect turnover {
  lpl 1
  upl 1
  against external
  cost value
  method suppression
  release csv "{title}.csv" { delimiter ";"; decimal "," }
}
'
enterprises <- data.frame(
  id = c("a", "b", "c", "d", "e", "f", "g"),
  region = factor(c("\u00d8st", "\u00d8st", "\u00d8st", "01", "01", "01", "01")),
  size = c(1, 1, 2, 1, 1, 2, 2),
  turnover = c(10.1, 6.25, 8, 7, 9, 4, 5),
  stringsAsFactors = FALSE
)

for (origin in c('frame "enterprises"', 'csv "none.csv" { delimiter ";"; decimal ","; missing "NA"; encoding "latin-1" }')) {
  policy <- sdc_load(sprintf(policy_text, origin), data = list(enterprises = enterprises))
  stopifnot(nrow(sdc_check(policy)) == 0)
  run <- sdc_protect(policy)
  stopifnot(run$blocks$verdict == "protected", run$blocks$sensitive == 1)
  table <- as.data.frame(run)
  cell <- function(region, size) table[table$region == region & table$size == size, ]
  # By hand: 10.1 + 6.25 + 8 in the first region, 25 in the second; one contributor in its size 2.
  stopifnot(all.equal(cell("\u00d8st", "Total")$value, 24.35), cell("01", "Total")$value == 25)
  stopifnot(cell("\u00d8st", "2")$status == "hidden", is.na(cell("\u00d8st", "2")$value))
  stopifnot(nrow(table) == 9, sum(table$status == "hidden") == 4)

  verdict <- sdc_audit(policy, table)
  stopifnot(verdict$ok, nrow(verdict$pairs) == 1, verdict$pairs$value == 8)
  weak <- table
  weak[weak$region == "01" & weak$size == "2", c("value", "status")] <- list(9, "published")
  weak[weak$region == "01" & weak$size == "1", c("value", "status")] <- list(16, "published")
  stopifnot(sdc_audit(policy, weak)$word == "exposed")
}

# Parameters, files, and a folder of one's own.
out <- tempfile("out")
policy <- sdc_load(sprintf(policy_text, 'frame "enterprises"'), list(enterprises = enterprises), set = list(title = "again"))
run <- sdc_protect(policy, out = out, time_limit = "60s")
stopifnot(file.exists(file.path(out, "again.csv")), file.exists(run$report), file.exists(run$lock))
stopifnot(length(run$files) == 1, sdc_audit(policy, run$files)$ok)

# Mistakes are conditions that hold the diagnostics.
wrong <- tryCatch(sdc_load("sdc 1\npolicy \"x\"\nprotect t { }\n"), sdc_refused = function(e) e)
stopifnot(inherits(wrong, "sdc_refused"), nrow(wrong$diagnostics) > 0, all(grepl("^SDC", wrong$diagnostics$code)))
few <- sdc_load(sprintf(policy_text, 'frame "enterprises"'), list(enterprises = enterprises[, c("id", "region")]))
missing <- tryCatch(sdc_protect(few), sdc_refused = function(e) e)
stopifnot(missing$exit == 3, "SDC303" %in% missing$diagnostics$code)
stopifnot(inherits(try(sdc_load(sprintf(policy_text, 'frame "x"'), list(other = 1)), silent = TRUE), "try-error"))

# Numbers read back as they were.
numbers <- c(0.1, 1 / 3, 1e-300, 123456789012345678, -2.5, 1e22)
stopifnot(identical(as.numeric(sdcdsl:::as_text(numbers, ".")), numbers))
stopifnot(identical(sdcdsl:::as_text(c(4711, NA, 1L), "."), c("4711", NA, "1")))
cat("done\n")
