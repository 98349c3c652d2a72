-- name: joining/pair_members
-- List the rows that each pair of classes would have together.
-- reads: pairs (pair, class, target), members (class, n = rows, and the sensitive columns)
-- holes: $pairs relation, $members relation, $columns columns
-- gives: class (the pair), the columns
-- engines: duckdb
SELECT p.pair AS class, $columns FROM $pairs AS p INNER JOIN $members AS m ON m.class = p.class
UNION ALL
SELECT p.pair AS class, $columns FROM $pairs AS p INNER JOIN $members AS m ON m.class = p.target
