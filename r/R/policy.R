#' Reads and checks a policy
#'
#' A path, or the text itself if it has more than one line. `data` names other files than the policy does, or holds
#' data frames, by the names of the policy's data blocks; `set` gives parameters other values.
sdc_load <- function(policy, data = list(), set = list()) {
  if (length(policy) > 1 || grepl("\n", policy[1])) {
    path <- tempfile("policy", fileext = ".sdc")
    writeLines(enc2utf8(policy), path, useBytes = TRUE)
  } else {
    path <- policy
  }
  loaded <- structure(class = "sdc_policy", list(path = path, data = data, set = set, document = NULL))
  document <- ask(c("check", path, settings(loaded)))
  if (document$exit != 0) refuse(document, sprintf("%s is wrong", path))
  loaded$document <- ask(c("show", path, settings(loaded)))
  if (loaded$document$exit != 0) refuse(loaded$document, sprintf("%s cannot be shown", path))
  unknown <- setdiff(names(data), c(names_of(loaded, "data"), names_of(loaded, "dimension"), names_of(loaded, "table")))
  if (length(unknown)) stop(sprintf("the policy has no data %s", unknown[1]), call. = FALSE)
  loaded
}

#' What the command says about a policy, a row for each mistake or advice
sdc_check <- function(policy) {
  path <- if (inherits(policy, "sdc_policy")) policy$path else policy
  more <- if (inherits(policy, "sdc_policy")) settings(policy) else character()
  diagnostics_of(ask(c("check", path, more)))
}

print.sdc_policy <- function(x, ...) {
  cat(sprintf("<policy %s: protects %s>\n", x$document$title, paste(names_of(x, "protect"), collapse = ", ")))
  invisible(x)
}

settings <- function(policy) {
  given <- policy$set
  as.vector(rbind(rep("--set", length(given)), sprintf("%s=%s", names(given), vapply(given, as_setting, ""))))
}

as_setting <- function(x) if (is.numeric(x)) as_text(as.numeric(x), ".") else as.character(x)

blocks_of <- function(policy, kind) policy$document$blocks[[kind]]
names_of <- function(policy, kind) vapply(blocks_of(policy, kind), function(b) b$name, "")

#' Statements of a kind, in a block.
statements_of <- function(block, kind) Filter(function(s) identical(s$is, kind), block$statements)

#' `--data` for everything that was handed in; data frames are written to files that `clean` removes.
handed_in <- function(policy) {
  arguments <- character()
  written <- character()
  for (name in names(policy$data)) {
    given <- policy$data[[name]]
    if (is.character(given)) {
      path <- given
    } else {
      block <- Filter(function(b) identical(b$name, name), blocks_of(policy, "data"))
      if (!length(block)) stop(sprintf("%s is no data of the policy, and only those can be a data frame", name), call. = FALSE)
      file <- statements_of(block[[1]], "Origin")[[1]]$file
      path <- write_data(as.data.frame(given), name, file$format, file$options)
      written <- c(written, path)
    }
    arguments <- c(arguments, "--data", sprintf("%s=%s", name, path))
  }
  list(arguments = c(arguments, if (length(arguments)) "--allow-outside", settings(policy)), written = written)
}
