-- name: core/kept_pairs
-- Guess a quasi-identifier by what is most frequent with a kept value, where that occurs twice or more (Goodman and Kruskal's lambda).
-- reads: cells (number, row_id, code; kept columns have the numbers below those of the quasi-identifiers)
-- holes: $cells relation, $kept value, $quasi value
-- gives: kept (the column's number), rows, told (rows guessed right), most (rows with the most frequent of all)
SELECT
  repeated.kept,
  SUM(repeated.n) AS rows,
  SUM(CASE WHEN repeated.place = 1 THEN repeated.n ELSE 0 END) AS told,
  MAX(repeated.alike) AS most
FROM (
  SELECT ranked.kept, ranked.n, ranked.place, SUM(ranked.n) OVER (PARTITION BY ranked.kept, ranked.quasi) AS alike
  FROM (
    SELECT
      counted.kept,
      counted.quasi,
      counted.n,
      ROW_NUMBER() OVER (PARTITION BY counted.kept, counted.code ORDER BY counted.n DESC) AS place,
      SUM(counted.n) OVER (PARTITION BY counted.kept, counted.code) AS class_rows
    FROM (
      SELECT k.number AS kept, k.code AS code, q.code AS quasi, COUNT(*) AS n
      FROM $cells AS k
      JOIN $cells AS q ON k.row_id = q.row_id
      WHERE k.number < $kept AND q.number = $quasi
      GROUP BY k.number, k.code, q.code
    ) AS counted
  ) AS ranked
  WHERE ranked.class_rows >= 2
) AS repeated
GROUP BY repeated.kept
