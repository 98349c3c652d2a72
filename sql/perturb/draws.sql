-- name: perturb/draws
-- Draw what chance needs for every cell that is not NULL, from a secret key and the row alone.
-- reads: rows (one row per row of the source; row_id = text that no other row has), key (one row; key = text)
-- holes: $column columns, $rows relation, $key relation
-- gives: row_id, value, u and v (independent, uniform between 0 and 1, from 32 bits of MD5 each), normal (mean 0, standard deviation 1), laplace (mean 0, scale 1), uniform (between -1 and 1)
SELECT
  row_id,
  value,
  u,
  v,
  SQRT(-2 * LN(u)) * COS(2 * PI() * v) AS normal,
  CASE WHEN u < 0.5 THEN LN(2 * u) ELSE -LN(2 * (1 - u)) END AS laplace,
  2 * u - 1 AS uniform
FROM (
  SELECT
    row_id,
    value,
    (
      268435456 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 1, 1)) - 1 AS DOUBLE) +
      16777216 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 2, 1)) - 1 AS DOUBLE) +
      1048576 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 3, 1)) - 1 AS DOUBLE) +
      65536 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 4, 1)) - 1 AS DOUBLE) +
      4096 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 5, 1)) - 1 AS DOUBLE) +
      256 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 6, 1)) - 1 AS DOUBLE) +
      16 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 7, 1)) - 1 AS DOUBLE) +
      1 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 8, 1)) - 1 AS DOUBLE) + 0.5
    ) / 4294967296 AS u,
    (
      268435456 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 9, 1)) - 1 AS DOUBLE) +
      16777216 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 10, 1)) - 1 AS DOUBLE) +
      1048576 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 11, 1)) - 1 AS DOUBLE) +
      65536 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 12, 1)) - 1 AS DOUBLE) +
      4096 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 13, 1)) - 1 AS DOUBLE) +
      256 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 14, 1)) - 1 AS DOUBLE) +
      16 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 15, 1)) - 1 AS DOUBLE) +
      1 * CAST(STRPOS('0123456789abcdef', SUBSTRING(digest, 16, 1)) - 1 AS DOUBLE) + 0.5
    ) / 4294967296 AS v
  FROM (
    SELECT row_id, value, MD5(key || row_id) AS digest
    FROM (SELECT row_id, $column AS value FROM $rows) AS cells CROSS JOIN $key AS keys
    WHERE NOT value IS NULL
  ) AS digests
) AS uniforms
