-- name: kaca/distances
-- Find the classes that may be nearest to each seeker, and what merging adds to the distortion of both.
-- reads: candidates (class, other, shared, bound), seekers (class, n, distortion, codes), classes (block, place, …)
-- holes: $candidates relation, $seekers relation, $classes relation, $between steps
-- gives: class, target, distance, place (of the target, by chance)
-- engines: duckdb
SELECT class, target, distance, place
FROM (
  SELECT
    class,
    target,
    place,
    bound,
    CASE WHEN class <> target THEN n * (joint - distortion) + other_n * (joint - other_distortion) END AS distance
  FROM (
    SELECT
      a.class,
      CAST(a.n AS DOUBLE) AS n,
      a.distortion,
      b.class AS target,
      CAST(b.n AS DOUBLE) AS other_n,
      b.distortion AS other_distortion,
      b.place,
      c.bound,
      c.shared + $between AS joint
    FROM $candidates AS c
    JOIN $seekers AS a ON a.class = c.class
    JOIN $classes AS b ON b.block = c.other
  ) AS pairs
) AS distances
WHERE distance <= bound
