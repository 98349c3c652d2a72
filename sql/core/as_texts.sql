-- name: core/as_texts
-- Take columns of a relation, some of them as texts, as a file of texts has them.
-- reads: relation (any shape)
-- holes: $relation relation, $texts columns, $columns columns
-- gives: the columns, those as texts first
SELECT CAST($texts AS TEXT), $columns FROM $relation AS r
