# Data frames to files that a policy reads, and released files to data frames.

#' Writes a data frame in the format that the policy says of its data: all columns as text that reads back exactly.
write_data <- function(frame, name, format, options) {
  if (format %in% c("parquet", "frame") && requireNamespace("arrow", quietly = TRUE)) {
    path <- tempfile("sdc", fileext = ".parquet")
    arrow::write_parquet(frame, path)
    return(path)
  }
  if (!format %in% c("csv", "frame")) {
    more <- if (format == "parquet") "install the package arrow, or say `frame`" else "say `frame` in the policy, or name a file"
    stop(sprintf("the policy reads %s as `%s`, which a data frame cannot be written in: %s", name, format, more), call. = FALSE)
  }
  path <- tempfile("sdc", fileext = ".csv")
  missing <- option(options, "missing", "")
  columns <- lapply(frame, as_text, decimal = option(options, "decimal", "."))
  if (nzchar(missing)) {
    taken <- vapply(columns, function(x) any(x == missing, na.rm = TRUE), NA)
    if (any(taken)) {
      stop(sprintf("column %s of %s has the entry \"%s\", which is the policy's word for a missing value",
                   names(frame)[taken][1], name, missing), call. = FALSE)
    }
  }
  text <- as.data.frame(columns, stringsAsFactors = FALSE, optional = TRUE)
  names(text) <- names(frame)
  connection <- file(path, "w", encoding = encoding_of(option(options, "encoding", "UTF-8")))
  on.exit(close(connection))
  utils::write.table(text, connection, sep = option(options, "delimiter", ","), na = missing, row.names = FALSE,
                     col.names = TRUE, quote = TRUE, qmethod = "double", eol = "\n")
  path
}

#' As R names an encoding that a policy names as Python does.
encoding_of <- function(name) {
  plain <- gsub("[-_ ]", "", tolower(name))
  if (plain %in% c("latin1", "iso88591", "l1")) return("latin1")
  if (plain == "utf8") return("UTF-8")
  sub("^cp", "CP", plain)
}

#' Codes stay what they are; numbers have all the digits it takes, and whole ones no decimals.
as_text <- function(x, decimal) {
  if (is.factor(x)) x <- as.character(x)
  if (is.logical(x)) return(ifelse(is.na(x), NA_character_, ifelse(x, "true", "false")))
  if (is.integer(x)) return(ifelse(is.na(x), NA_character_, as.character(x)))
  if (inherits(x, c("Date", "POSIXt"))) return(as.character(x))
  if (!is.numeric(x)) return(enc2utf8(as.character(x)))
  out <- rep(NA_character_, length(x))
  there <- !is.na(x)
  whole <- there & is.finite(x) & x == round(x) & abs(x) < 1e15
  out[whole] <- sprintf("%.0f", x[whole])
  rest <- there & !whole
  short <- sprintf("%.15g", x[rest])
  out[rest] <- ifelse(suppressWarnings(as.numeric(short)) == x[rest], short, sprintf("%.17g", x[rest]))
  if (decimal != ".") out[rest] <- sub(".", decimal, out[rest], fixed = TRUE)
  out
}

#' Codes as text, figures as numbers.
read_released <- function(path, format, options) {
  if (format == "parquet") {
    if (!requireNamespace("arrow", quietly = TRUE)) return(NULL)
    return(as.data.frame(arrow::read_parquet(path)))
  }
  if (format != "csv") return(NULL)
  frame <- utils::read.table(
    path, header = TRUE, sep = option(options, "delimiter", ","), quote = "\"", colClasses = "character",
    check.names = FALSE, encoding = "UTF-8", comment.char = "", na.strings = character(), stringsAsFactors = FALSE
  )
  decimal <- option(options, "decimal", ".")
  for (column in intersect(c("value", "low", "high"), names(frame))) {
    frame[[column]] <- as.numeric(sub(decimal, ".", ifelse(nzchar(frame[[column]]), frame[[column]], NA), fixed = TRUE))
  }
  frame
}

#' One of the options of a file in a policy.
option <- function(options, name, otherwise) {
  for (one in options) {
    if (identical(one$name, name) && length(one$values)) {
      said <- one$values[[1]]
      return(if (!is.null(said$value)) said$value else if (!is.null(said$text)) said$text else said$name)
    }
  }
  otherwise
}
