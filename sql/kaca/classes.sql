-- name: kaca/classes
-- Describe every class: its rows, whether it may be released, its distortion, its block, its place by chance, its seat.
-- reads: generalized (class, piece, codes), counted (class, n, what the model counts by)
-- holes: $generalized relation, $counted relation, $codes columns, $by columns, $own steps, $safe predicate, $salt value
-- gives: class, n, safe, distortion (of one row), block, place (another order of all classes every round), seat (from 1, among the safe ones and among the others: by piece and place), the codes
-- engines: duckdb
SELECT
  class, n, safe, distortion, block, place,
  ROW_NUMBER() OVER (PARTITION BY safe ORDER BY piece, place) AS seat,
  $codes
FROM (
  SELECT
    g.class,
    p.n,
    p.safe,
    CAST($own AS DOUBLE) AS distortion,
    DENSE_RANK() OVER (ORDER BY $by) AS block,
    ROW_NUMBER() OVER (ORDER BY MD5(CONCAT_WS('|', $salt, g.class)), g.class) AS place,
    $codes
  FROM $generalized AS g
  JOIN (
    SELECT class, CAST(SUM(n) AS BIGINT) AS n, COALESCE($safe, FALSE) AS safe FROM $counted GROUP BY class
  ) AS p ON p.class = g.class
) AS described
