-- name: attack/equal_pairs
-- Keep the pairs of rows that show the same value; NULL is one.
-- reads: pairs (way, row_id, other), here (row_id, the column), there (row_id, the column)
-- holes: $pairs relation, $here relation, $there relation, $column columns
-- gives: way, row_id, other
SELECT p.way, p.row_id, p.other
FROM $pairs AS p
JOIN (SELECT h.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS value FROM $here AS h) AS a ON a.row_id = p.row_id
JOIN (SELECT t.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS value FROM $there AS t) AS b
  ON b.row_id = p.other AND b.value = a.value
