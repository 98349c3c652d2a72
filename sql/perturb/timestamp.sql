-- name: perturb/timestamp
-- Move points in time by noise of a stated scale in days, rounded to whole seconds.
-- reads: draws (row_id, value, and standard noise by its distribution)
-- holes: $scale value, $draw columns, $draws relation
-- gives: row_id, value (TIMESTAMP, with or without time zone)
-- engines: duckdb, postgresql
SELECT d.row_id, d.value + CAST(ROUND(86400 * $scale * $draw) AS BIGINT) * INTERVAL '1' SECOND AS value FROM $draws AS d
