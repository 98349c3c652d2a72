-- name: kaca/pieces
-- Put every tuple into its piece of the table.
-- reads: tuples (tuple, class, the values' codes, those above, n), members (class: the tuple, goes_to: its piece)
-- holes: $tuples relation, $members relation, $columns columns
-- gives: tuple, class, piece, the columns, n
-- engines: duckdb
SELECT t.tuple, t.class, CAST(m.goes_to AS INTEGER) AS piece, $columns, t.n
FROM $tuples AS t
JOIN $members AS m ON m.class = t.tuple
