-- name: core/read_parquet
-- Show a Parquet file, or several by a glob, as the source.
-- reads: the files
-- holes: $path value
-- gives: the files' columns
-- engines: duckdb
SELECT * FROM READ_PARQUET($path, union_by_name = TRUE)
