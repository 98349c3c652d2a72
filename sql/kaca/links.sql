-- name: kaca/links
-- Say where the rows of every class go: to the class that takes them, and what nobody takes stays.
-- reads: classes (class, n), merges (class, target, low, high)
-- holes: $classes relation, $merges relation
-- gives: class, goes_to, low, high (the rows after low up to high)
-- engines: duckdb
SELECT target AS class, class AS goes_to, low, high FROM $merges
UNION ALL
SELECT c.class, c.class AS goes_to, COALESCE(MAX(m.high), 0) AS low, c.n AS high
FROM $classes AS c
LEFT JOIN $merges AS m ON m.target = c.class
GROUP BY c.class, c.n
HAVING COALESCE(MAX(m.high), 0) < c.n
