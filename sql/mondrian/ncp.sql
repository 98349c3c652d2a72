-- name: mondrian/ncp
-- Add up the normalized widths of all rows' cells: the range of numbers, or the leaves under the lowest common node.
-- reads: cells (class, attribute, position, number (NULL: not ordered), range, n = rows), nodes (attribute, position, level, high, width)
-- holes: $cells relation, $nodes relation
-- gives: penalty (over the rows times the attributes: the normalized certainty penalty)
-- engines: duckdb
SELECT COALESCE(SUM(n * width), 0) AS penalty
FROM (
  SELECT s.n, MIN(COALESCE(a.width, LEAST(1, (s.highest - s.lowest) / s.range))) AS width
  FROM (
    SELECT
      class, attribute, CAST(SUM(n) AS BIGINT) AS n, MIN(position) AS low, MAX(position) AS high,
      MIN(number) AS lowest, MAX(number) AS highest, MIN(range) AS range
    FROM $cells
    GROUP BY class, attribute
  ) AS s
  LEFT JOIN $nodes AS a ON a.attribute = s.attribute AND a.position = s.low AND a.high >= s.high
  GROUP BY s.class, s.attribute, s.n
) AS boxes
