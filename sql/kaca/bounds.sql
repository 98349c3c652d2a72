-- name: kaca/bounds
-- Bound the distance to the nearest class from above, by the classes of the nearest block.
-- reads: seekers (class, n, distortion, block, codes), classes (the same), pairs (block, other, shared, rise, …)
-- holes: $seekers relation, $classes relation, $pairs relation, $between steps
-- gives: class, bound
-- engines: duckdb
SELECT
  class,
  MIN(CASE WHEN class <> target THEN n * (joint - distortion) + other_n * (joint - other_distortion) END) AS bound
FROM (
  SELECT
    a.class,
    CAST(a.n AS DOUBLE) AS n,
    a.distortion,
    b.class AS target,
    CAST(b.n AS DOUBLE) AS other_n,
    b.distortion AS other_distortion,
    p.shared + $between AS joint
  FROM $seekers AS a
  JOIN (
    SELECT block, ARG_MIN(other, rise + other_rise) AS other, ARG_MIN(shared, rise + other_rise) AS shared
    FROM $pairs GROUP BY block
  ) AS p ON p.block = a.block
  JOIN $classes AS b ON b.block = p.other
) AS distances
GROUP BY class
