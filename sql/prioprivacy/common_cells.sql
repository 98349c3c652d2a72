-- name: prioprivacy/common_cells
-- Find the levels, from the present one up, on which all tuples of a class are equal in an attribute.
-- reads: cells (attribute, level, tuple, code), numbered (class, tuple, n), recoded (tuple, node), nodes (node, attribute, level), labels (attribute, rule_level, code, leaves), attributes (attribute, weight)
-- holes: $cells relation, $numbered relation, $recoded relation, $nodes relation, $labels relation, $attributes relation
-- gives: class, attribute, level, code, n (rows), loss (of one cell, weighted)
-- engines: duckdb
SELECT k.class, k.attribute, k.level, k.code, k.n, s.leaves * a.weight AS loss
FROM (
  SELECT
    c.class,
    x.attribute,
    x.level,
    MIN(x.code) AS code,
    CAST(SUM(c.n) AS BIGINT) AS n
  FROM $numbered AS c
  JOIN $recoded AS r ON r.tuple = c.tuple
  JOIN $nodes AS v ON v.node = r.node
  JOIN $cells AS x ON x.tuple = c.tuple AND x.attribute = v.attribute
  GROUP BY c.class, x.attribute, x.level
  HAVING MIN(x.code) = MAX(x.code) AND x.level >= MAX(v.level)
) AS k
JOIN $labels AS s ON s.attribute = k.attribute AND s.rule_level = k.level AND s.code = k.code
JOIN $attributes AS a ON a.attribute = k.attribute
