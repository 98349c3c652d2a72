-- name: joining/examples
-- Give an example of each class: the codes of one of its largest tuples, on every level.
-- reads: members (class, n = rows, one integer column per attribute and level)
-- holes: $members relation, $levels columns
-- gives: class, the level columns
-- engines: duckdb
SELECT class, $levels
FROM (
  SELECT class, $levels, ROW_NUMBER() OVER (PARTITION BY class ORDER BY n DESC, $levels) AS place
  FROM $members
) AS members
WHERE place = 1
