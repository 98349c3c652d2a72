-- name: mondrian/widths
-- Hand down widths to the new partitions: its own of an attribute that was tried first, the inherited one of others.
-- reads: medians (class, attribute, width: inherited, own), chosen (class, attribute), moves (class, next_class)
-- holes: $medians relation, $chosen relation, $moves relation
-- gives: class, attribute, width (none for the attribute that was cut)
-- engines: duckdb
SELECT
  n.class, m.attribute,
  CASE WHEN m.width > c.width OR (m.width = c.width AND m.attribute < c.attribute) THEN m.own ELSE m.width END AS width
FROM (SELECT class AS parent, next_class AS class FROM $moves GROUP BY class, next_class) AS n
INNER JOIN $chosen AS h ON h.class = n.parent
INNER JOIN $medians AS c ON c.class = n.parent AND c.attribute = h.attribute
INNER JOIN $medians AS m ON m.class = n.parent AND m.attribute <> h.attribute
