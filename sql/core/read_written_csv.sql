-- name: core/read_written_csv
-- Read a written CSV file back as text, NULL and the empty string kept apart, to check what a reader will see.
-- reads: the file
-- holes: $path value, $separator value
-- gives: the file's columns, all text
-- engines: duckdb
SELECT *
FROM READ_CSV(
  $path, header = TRUE, all_varchar = TRUE, allow_quoted_nulls = FALSE,
  delim = $separator, quote = '"', escape = '"', comment = ''
)
