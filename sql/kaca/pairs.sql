-- name: kaca/pairs
-- Find some classes near every seeker, the nearest among them, of equally near ones the first by chance.
-- reads: candidates (class, other, shared, bound), seekers (class, n, distortion, codes), classes (block, place, …)
-- holes: $candidates relation, $seekers relation, $classes relation, $between steps, $most value
-- gives: pair (from 1), class, target, distance, place (from 1, the nearest first)
-- engines: duckdb
SELECT ROW_NUMBER() OVER (ORDER BY class, place) AS pair, class, target, distance, place
FROM (
  SELECT class, target, distance, ROW_NUMBER() OVER (PARTITION BY class ORDER BY distance, place) AS place
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
) AS near
WHERE place <= $most
