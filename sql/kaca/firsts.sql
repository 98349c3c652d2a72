-- name: kaca/firsts
-- Find the first of all wanted merges that touches a class, at either end.
-- reads: turns (turn, class, target)
-- holes: $turns relation
-- gives: class, turn
-- engines: duckdb
SELECT class, MIN(turn) AS turn
FROM (SELECT class, turn FROM $turns UNION ALL SELECT target AS class, turn FROM $turns) AS touching
GROUP BY class
