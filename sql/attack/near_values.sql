-- name: attack/near_values
-- Count the rows of classes that have several values, which all lie in a narrow band of the release's; NULL is in none.
-- reads: counted (class, value, n), overall (value, raw, n, up_to)
-- holes: $counted relation, $overall relation, $most value
-- gives: rows, classes (those whose band, from their least value to their largest, holds so many rows at most)
SELECT COALESCE(SUM(k.size), 0) AS rows, COUNT(*) AS classes
FROM (
  SELECT SUM(c.n) AS size
  FROM $counted AS c JOIN $overall AS o ON o.value = c.value
  GROUP BY c.class
  HAVING COUNT(*) > 1 AND COUNT(o.raw) = COUNT(*) AND MAX(o.up_to) - MIN(o.up_to - o.n) <= $most
) AS k
