-- name: core/read_csv
-- Show a CSV file, or several by a glob, as the source: types are settled on all rows, so 02138 stays text, and every line is a row, also one that starts with #.
-- reads: the files
-- holes: $path value
-- gives: the files' columns
-- engines: duckdb
SELECT * FROM READ_CSV($path, header = TRUE, sample_size = -1, union_by_name = TRUE, comment = '')
