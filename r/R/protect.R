#' Searches, audits, and gives what may be published
#'
#' Without `out`, files are written to a temporary folder. Ends with a condition of class `sdc_refused` where nothing was
#' found protected.
sdc_protect <- function(policy, out = NULL, time_limit = NULL, block = NULL, report = !is.null(out), progress = FALSE) {
  given <- handed_in(policy)
  on.exit(unlink(given$written))
  folder <- if (is.null(out)) tempfile("release") else out
  arguments <- c("protect", policy$path, given$arguments, "--out", folder, "--progress", if (progress) "lines" else "none")
  if (!is.null(time_limit)) arguments <- c(arguments, "--time-limit", as.character(time_limit))
  if (!is.null(block)) arguments <- c(arguments, "--block", block)
  if (!report) arguments <- c(arguments, "--no-report")
  document <- ask(arguments, progress)
  if (document$exit != 0) refuse(document, sprintf("%s was not protected", policy$path))
  tables <- list()
  for (one in document$blocks) {
    said <- Filter(function(b) identical(b$name, one$name), blocks_of(policy, "protect"))[[1]]
    tables <- c(tables, tables_of(said, unlist(one$outputs)))
  }
  structure(class = "sdc_run", list(
    blocks = summary_of(document$blocks), tables = tables, files = unlist(lapply(document$blocks, `[[`, "outputs")),
    report = document$report, lock = document$lock, diagnostics = diagnostics_of(document)
  ))
}

#' Data frames by table: the first release of the block that R can read.
tables_of <- function(block, outputs) {
  found <- list()
  for (release in statements_of(block, "Release")) {
    ending <- sub(".*(\\.[^.]+)$", "\\1", release$file$path)
    stem <- sub("\\.[^.]+$", "", basename(release$file$path))
    for (table in unlist(block$tables)) {
      name <- if (length(block$tables) > 1) paste0(stem, "-", table, ending) else paste0(stem, ending)
      path <- outputs[basename(outputs) == name]
      if (!length(path) || !is.null(found[[table]])) next
      found[[table]] <- read_released(path[1], release$file$format, release$file$options)
    }
  }
  found
}

summary_of <- function(blocks) {
  do.call(rbind, lapply(blocks, function(b) data.frame(
    block = b$name, method = b$method, status = b$status, cost = number_of(b$objective), bound = number_of(b$bound),
    cells = b$counts$cells, sensitive = b$counts$sensitive, touched = b$counts$touched, verdict = text_of(b$verdict),
    stringsAsFactors = FALSE
  )))
}

print.sdc_run <- function(x, ...) {
  for (i in seq_len(nrow(x$blocks))) {
    b <- x$blocks[i, ]
    cat(sprintf("<protected %s: %s, %s, %s>\n", b$block, b$method, b$status, b$verdict))
  }
  invisible(x)
}

as.data.frame.sdc_run <- function(x, ...) {
  if (length(x$tables) != 1) stop("several tables: run$tables has them by name", call. = FALSE)
  x$tables[[1]]
}
