-- name: core/in_one_writing
-- Take a column of a relation as texts, each text that stands for the same value as another as the first of those.
-- reads: relation (any shape), writings (_text, _first)
-- holes: $relation relation, $writings relation, $column columns, $columns columns
-- gives: the column as text, the other columns
SELECT
  COALESCE((SELECT MIN(w._first) FROM $writings AS w WHERE w._text = CAST($column AS TEXT)), CAST($column AS TEXT)),
  $columns
FROM $relation AS r
