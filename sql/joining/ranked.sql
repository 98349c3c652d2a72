-- name: joining/ranked
-- Put the classes in order: first those that do not meet the privacy model, then the others, the largest first.
-- reads: members (class, n = rows, and the sensitive columns that the model counts)
-- holes: $members relation, $safe predicate
-- gives: class, unsafe (1, or 0), place (from 1)
SELECT c.class, c.unsafe, ROW_NUMBER() OVER (ORDER BY c.unsafe DESC, c.rows DESC, c.class) AS place
FROM (
  SELECT m.class AS class, SUM(m.n) AS rows, CASE WHEN COALESCE($safe, FALSE) THEN 0 ELSE 1 END AS unsafe
  FROM $members AS m
  GROUP BY m.class
) AS c
