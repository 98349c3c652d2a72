-- name: core/released_sum
-- Add up a weight of each value of one attribute over the rows that one node releases.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level), weights (weighed_code, weight)
-- holes: $frequency_set relation, $weights relation, $code columns, $levels columns, $sensitive columns, $safe predicate
-- gives: total
SELECT COALESCE(SUM(released.total), 0) AS total
FROM (
  SELECT SUM(c.n * COALESCE(w.weight, 0)) AS total
  FROM (SELECT $levels, $sensitive, $code, f.n FROM $frequency_set AS f) AS c
  LEFT JOIN $weights AS w ON w.weighed_code = c.code
  GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released
