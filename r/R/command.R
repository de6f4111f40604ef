# The command: how it is found and called, and what its answers are as values of R.

#' The program: the environment variable SDCDSL, or the command of that name.
command <- function() {
  named <- Sys.getenv("SDCDSL")
  found <- if (nzchar(named)) named else unname(Sys.which("sdcdsl"))
  if (!nzchar(found)) {
    stop("the command `sdcdsl` is not on the PATH: install it, or name it by Sys.setenv(SDCDSL = \"...\")", call. = FALSE)
  }
  found
}

#' Runs it, and gives its JSON document; `progress` shows what it says on the way.
ask <- function(arguments, progress = FALSE) {
  answer <- tempfile("sdc", fileext = ".json")
  talk <- if (progress) "" else tempfile("sdc", fileext = ".txt")
  on.exit(unlink(c(answer, talk[nzchar(talk)])))
  code <- suppressWarnings(
    system2(command(), vapply(c(arguments, "--json"), shQuote, ""), stdout = answer, stderr = talk)
  )
  text <- readLines(answer, warn = FALSE, encoding = "UTF-8")
  document <- tryCatch(
    jsonlite::fromJSON(paste(text, collapse = "\n"), simplifyVector = FALSE),
    error = function(e) NULL
  )
  if (is.null(document)) {
    said <- if (progress) "" else paste(readLines(talk, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
    stop(sprintf("sdcdsl ended with code %s and gave no answer\n%s", code, said), call. = FALSE)
  }
  document$exit <- code
  document
}

#' A row for each diagnostic.
diagnostics_of <- function(document) {
  rows <- lapply(document$diagnostics, function(d) {
    place <- if (length(d$marks)) d$marks[[1]] else list()
    data.frame(
      severity = text_of(d$severity), code = text_of(d$code), headline = text_of(d$headline),
      file = text_of(place$file), line = whole_of(place$line), help = text_of(d$help), stringsAsFactors = FALSE
    )
  })
  none <- data.frame(
    severity = character(), code = character(), headline = character(), file = character(), line = integer(),
    help = character(), stringsAsFactors = FALSE
  )
  do.call(rbind, c(list(none), rows))
}

text_of <- function(x) if (is.null(x)) NA_character_ else as.character(x)[1]
whole_of <- function(x) if (is.null(x)) NA_integer_ else as.integer(x)[1]

# JSON has no infinity, and the command writes it as a word.
number_of <- function(x) {
  if (is.null(x)) return(NA_real_)
  if (is.character(x)) return(if (grepl("^-", x)) -Inf else Inf)
  as.numeric(x)
}

#' Ends with all diagnostics: a condition of class `sdc_refused`, which holds them.
refuse <- function(document, what) {
  found <- diagnostics_of(document)
  lines <- sprintf("%s[%s]: %s", found$severity, found$code, found$headline)
  message <- paste(c(what, lines), collapse = "\n")
  stop(structure(
    class = c("sdc_refused", "error", "condition"),
    list(message = message, call = NULL, diagnostics = found, exit = document$exit)
  ))
}
