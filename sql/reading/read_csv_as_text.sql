-- name: reading/read_csv_as_text
-- Show a CSV file, or several by a glob, as text, from which every column is then read in its own way.
-- reads: the files
-- holes: $path value, $separator value
-- gives: the files' columns, all text
-- engines: duckdb
SELECT *
FROM READ_CSV(
  $path, header = TRUE, all_varchar = TRUE, union_by_name = TRUE, delim = $separator, comment = ''
)
