-- name: attack/fitting_pairs
-- Keep the pairs of rows of which one shows a label that may stand for what the other shows.
-- reads: pairs (way, row_id, other), here (row_id, the column), there (row_id, the column), covers (label, value: keys)
-- holes: $pairs relation, $here relation, $there relation, $covers relation, $column columns
-- gives: way, row_id, other
SELECT p.way, p.row_id, p.other
FROM $pairs AS p
JOIN (SELECT h.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS label FROM $here AS h) AS a ON a.row_id = p.row_id
JOIN (SELECT t.row_id, COALESCE('=' || CAST($column AS TEXT), '') AS value FROM $there AS t) AS b ON b.row_id = p.other
JOIN $covers AS c ON c.label = a.label AND c.value = b.value
