-- name: population/sampled
-- Keep the tuples that a table itself has, with the rows of the population that are equal to them: by one row of each tuple.
-- reads: frequency_set (one row per distinct tuple, or several; n = rows of the table, population = those of the population)
-- holes: $frequency_set relation, $keys columns, $columns columns
-- gives: the columns, n, population
SELECT $columns, ranked.n, CASE WHEN ranked._place = 1 THEN ranked._alike ELSE 0 END AS population
FROM (
  SELECT
    $columns, f.n,
    ROW_NUMBER() OVER (PARTITION BY $keys ORDER BY f.n DESC) AS _place,
    SUM(f.population) OVER (PARTITION BY $keys) AS _alike
  FROM $frequency_set AS f
) AS ranked
WHERE ranked.n > 0
