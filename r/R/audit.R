#' Attacks a released table, whoever made it
#'
#' `released` is a data frame or a file; or a list of them, by table.
sdc_audit <- function(policy, released, block = NULL) {
  if (is.data.frame(released) || is.character(released)) released <- list(released)
  given <- handed_in(policy)
  written <- given$written
  arguments <- c("audit", policy$path, given$arguments)
  for (i in seq_along(released)) {
    path <- released[[i]]
    if (is.data.frame(path)) {
      path <- write_data(path, "the release", "csv", list())
      written <- c(written, path)
    }
    table <- names(released)[i]
    named <- if (is.null(table) || !nzchar(table)) path else sprintf("%s=%s", table, path)
    arguments <- c(arguments, "--released", named)
  }
  on.exit(unlink(written))
  if (!is.null(block)) arguments <- c(arguments, "--block", block)
  document <- ask(arguments)
  if (is.null(document$verdict)) refuse(document, "the release cannot be audited")
  pairs <- lapply(document$pairs, function(p) data.frame(
    block = p$block, cell = p$cell, attacker = p$attacker, value = number_of(p$value), low = number_of(p$low),
    high = number_of(p$high), needed_low = number_of(p$needed_low), needed_high = number_of(p$needed_high),
    verdict = p$verdict, stringsAsFactors = FALSE
  ))
  structure(class = "sdc_verdict", list(
    word = document$verdict, ok = document$verdict %in% c("protected", "nothing to check"),
    pairs = do.call(rbind, pairs), diagnostics = diagnostics_of(document)
  ))
}

print.sdc_verdict <- function(x, ...) {
  cat(sprintf("<verdict: %s>\n", x$word))
  invisible(x)
}
