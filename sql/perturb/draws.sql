-- name: perturb/draws
-- Draw random numbers for every cell that is not NULL, from a secret key and the row alone.
-- reads: rows (one row per row of the source; row_id = text that no other row has), key (one row; key = text)
-- holes: $column columns, $rows relation, $key relation
-- gives: row_id, value, u and v (independent, uniform between 0 and 1, from 32 bits of MD5 each), normal (mean 0, standard deviation 1), laplace (mean 0, scale 1), uniform (between -1 and 1)
SELECT
  uniforms.row_id,
  uniforms.value,
  uniforms.u,
  uniforms.v,
  SQRT(-2 * LN(uniforms.u)) * COS(2 * PI() * uniforms.v) AS normal,
  CASE WHEN uniforms.u < 0.5 THEN LN(2 * uniforms.u) ELSE -LN(2 * (1 - uniforms.u)) END AS laplace,
  2 * uniforms.u - 1 AS uniform
FROM (
  SELECT
    d.row_id,
    d.value,
    (
      268435456 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 1, 1)) - 1 AS DOUBLE) +
      16777216 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 2, 1)) - 1 AS DOUBLE) +
      1048576 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 3, 1)) - 1 AS DOUBLE) +
      65536 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 4, 1)) - 1 AS DOUBLE) +
      4096 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 5, 1)) - 1 AS DOUBLE) +
      256 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 6, 1)) - 1 AS DOUBLE) +
      16 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 7, 1)) - 1 AS DOUBLE) +
      1 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 8, 1)) - 1 AS DOUBLE) + 0.5
    ) / 4294967296 AS u,
    (
      268435456 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 9, 1)) - 1 AS DOUBLE) +
      16777216 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 10, 1)) - 1 AS DOUBLE) +
      1048576 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 11, 1)) - 1 AS DOUBLE) +
      65536 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 12, 1)) - 1 AS DOUBLE) +
      4096 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 13, 1)) - 1 AS DOUBLE) +
      256 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 14, 1)) - 1 AS DOUBLE) +
      16 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 15, 1)) - 1 AS DOUBLE) +
      1 * CAST(STRPOS('0123456789abcdef', SUBSTRING(d.digest, 16, 1)) - 1 AS DOUBLE) + 0.5
    ) / 4294967296 AS v
  FROM (
    SELECT c.row_id, c.value, MD5(k.key || c.row_id) AS digest
    FROM (SELECT r.row_id, $column AS value FROM $rows AS r) AS c CROSS JOIN $key AS k
    WHERE NOT c.value IS NULL
  ) AS d
) AS uniforms
