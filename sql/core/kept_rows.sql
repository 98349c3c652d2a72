-- name: core/kept_rows
-- Count the released rows of one node whose label of one attribute is the value itself.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level), kept (kept_code: codes of such values)
-- holes: $frequency_set relation, $kept relation, $code columns, $levels columns, $sensitive columns, $safe predicate
-- gives: rows
SELECT COALESCE(SUM(released.kept_n), 0) AS rows
FROM (
  SELECT SUM(CASE WHEN k.kept_code IS NULL THEN 0 ELSE c.n END) AS kept_n
  FROM (SELECT $levels, $sensitive, $code, f.n FROM $frequency_set AS f) AS c LEFT JOIN $kept AS k ON k.kept_code = c.code
  GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released
