-- name: cloak/coarsest
-- Find the coarsest levels that any waiting row is willing to go to.
-- reads: waiting (space, time: levels, 0 the coarsest)
-- holes: $waiting relation
-- gives: space, time (NULL where nobody waits)
-- engines: duckdb
SELECT MIN(space) AS space, MIN(time) AS time FROM $waiting
