-- Perturbed columns: noise, swapping and PRAM.

-- name: date
-- Shift dates by noise of a given scale in days, rounded to whole days.
-- columns: row_id, value (DATE)
SELECT d.row_id, d.value + CAST(ROUND($scale * $draw) AS INTEGER) AS value FROM $draws AS d;

-- name: timestamp
-- Shift points in time by noise of a given scale in days, rounded to whole seconds.
-- columns: row_id, value (TIMESTAMP, with or without time zone)
-- engines: duckdb, postgresql
SELECT d.row_id, d.value + CAST(ROUND(86400 * $scale * $draw) AS BIGINT) * INTERVAL '1' SECOND AS value FROM $draws AS d;

-- name: present
-- Count the values of a column that are not NULL, so that a range of ranks can be checked before any long computation.
-- columns: present (values)
SELECT COUNT(cells.value) AS present FROM (SELECT $column AS value FROM $source AS s) AS cells;

-- name: draws
-- Draw random numbers for every cell that is not NULL, determined by a secret key and the row.
-- columns: row_id, value, u and v (independent, uniform between 0 and 1, from 32 bits of MD5 each), normal (mean 0, standard deviation 1), laplace (mean 0, scale 1), uniform (between -1 and 1)
SELECT
  uniforms.row_id,
  uniforms.value,
  uniforms.u,
  uniforms.v,
  -- Box-Muller transform; the Laplace distribution by its inverse
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
) AS uniforms;

-- name: swap
-- Swap values with partners of similar rank: in blocks of 2 $half ranks, the lower half of a block with the upper half.
-- columns: row_id, value (of the partner; the multiset of values is unchanged; partners are fewer than 2 $half ranks apart; at most one row of the first and one of the last block keep their own)
SELECT
  seats.row_id,
  COALESCE(
    LEAD(seats.value) OVER (PARTITION BY seats.block, seats.seat ORDER BY seats.side),
    LAG(seats.value) OVER (PARTITION BY seats.block, seats.seat ORDER BY seats.side),
    seats.value
  ) AS value
FROM (
  SELECT
    sides.row_id,
    sides.value,
    sides.block,
    sides.side,
    CASE
      WHEN sides.side = 1 THEN 0
      ELSE ROW_NUMBER() OVER (PARTITION BY sides.block, sides.side ORDER BY sides.v, sides.row_id)
    END AS seat
  FROM (
    SELECT
      places.row_id,
      places.value,
      places.v,
      places.block,
      -- 0: lower half, 1: middle of an odd number of rows, 2: upper half
      CASE WHEN 2 * places.place <= places.size THEN 0 WHEN 2 * places.place > places.size + 1 THEN 2 ELSE 1 END AS side
    FROM (
      SELECT
        blocks.row_id,
        blocks.value,
        blocks.v,
        blocks.block,
        ROW_NUMBER() OVER (PARTITION BY blocks.block ORDER BY blocks.rank) AS place,
        COUNT(*) OVER (PARTITION BY blocks.block) AS size
      FROM (
        SELECT ranked.row_id, ranked.value, ranked.v, ranked.rank, ranked.rank - ranked.rank % (2 * $half) AS block
        FROM (
          SELECT d.row_id, d.value, d.v, k.shift + ROW_NUMBER() OVER (ORDER BY d.value, d.u, d.row_id) - 1 AS rank
          FROM $draws AS d CROSS JOIN $key AS k
        ) AS ranked
      ) AS blocks
    ) AS places
  ) AS sides
) AS seats;

-- name: whole
-- Add noise of a given scale to whole numbers; the noise is rounded, so that large numbers stay exact.
-- columns: row_id, value (a whole DECIMAL between the bounds)
SELECT
  d.row_id,
  LEAST(
    GREATEST(
      CAST(d.value AS DECIMAL(38, 0)) + CAST(ROUND($scale * $draw) AS DECIMAL(38, 0)),
      CAST($bottom AS DECIMAL(38, 0))
    ),
    CAST($top AS DECIMAL(38, 0))
  ) AS value
FROM $draws AS d;

-- name: number
-- Add noise of a given scale to numbers, and clip the results to the bounds.
-- columns: row_id, value (DOUBLE; a NULL bound means no bound)
SELECT
  d.row_id,
  LEAST(GREATEST(CAST(d.value AS DOUBLE) + $scale * $draw, CAST($bottom AS DOUBLE)), CAST($top AS DOUBLE)) AS value
FROM $draws AS d;

-- name: redraw
-- Randomize categories (PRAM): keep a value with a given probability, else draw one by the column's own frequencies.
-- columns: row_id, value (its expected frequencies are those of the column: the transition matrix is invariant)
SELECT kept.row_id, CASE WHEN kept.u < $keep THEN kept.value ELSE other.value END AS value
FROM (
  SELECT d.row_id, d.value, d.u, CAST(FLOOR(d.v * COUNT(*) OVER ()) AS BIGINT) AS place FROM $draws AS d
) AS kept
JOIN (
  SELECT d.value, ROW_NUMBER() OVER (ORDER BY d.value, d.row_id) - 1 AS place FROM $draws AS d
) AS other ON other.place = kept.place;

-- name: transition
-- Randomize categories (PRAM) by a transition matrix.
-- columns: row_id, value (text; rows whose value is not in the matrix are missing)
SELECT d.row_id, m.target AS value
FROM $draws AS d JOIN $matrix AS m ON m.value = CAST(d.value AS TEXT) AND d.u >= m.low AND d.u < m.high;
