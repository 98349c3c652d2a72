-- name: cloak/most_instants
-- Say how many instants the busiest cell has.
-- reads: visits (instant)
-- holes: $visits relation
-- gives: instants
-- engines: duckdb
SELECT COALESCE(MAX(instant), 0) AS instants FROM $visits
