-- name: core/masked_class
-- Say whether the rows that one node leaves at risk would meet the privacy model as a class of their own, all masked.
-- reads: frequency_set (one row per distinct tuple; n = rows; one integer column per attribute and level)
-- holes: $frequency_set relation, $levels columns, $sensitive columns, $safe predicate, $size figure
-- gives: safe, size (rows or people)
SELECT COALESCE($safe, FALSE) AS safe, $size AS size
FROM (SELECT $sensitive, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
WHERE numbered.class IN (
  SELECT numbered.class
  FROM (SELECT $sensitive, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
  GROUP BY numbered.class HAVING NOT COALESCE($safe, FALSE)
)
