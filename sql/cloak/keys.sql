-- name: cloak/keys
-- Interleave the bits of the quadtree cells (Morton order), below the number of the slice of time.
-- reads: cells (row, unit, x_cell, y_cell, t_cell; the first two below 2 ^ depth, all from 0)
-- holes: $cells relation, $depth value
-- gives: row, unit, key (t_cell * 4 ^ depth + the interleaved bits; key >> 2 is the parent quadrant)
-- engines: duckdb
SELECT
  row, unit,
  (t_cell << (2 * $depth)) | (((x | (x << 1)) & 6148914691236517205) << 1) | ((y | (y << 1)) & 6148914691236517205) AS key
FROM (
  SELECT row, unit, t_cell, (x | (x << 2)) & 3689348814741910323 AS x, (y | (y << 2)) & 3689348814741910323 AS y
  FROM (
    SELECT row, unit, t_cell, (x | (x << 4)) & 1085102592571150095 AS x, (y | (y << 4)) & 1085102592571150095 AS y
    FROM (
      SELECT row, unit, t_cell, (x | (x << 8)) & 71777214294589695 AS x, (y | (y << 8)) & 71777214294589695 AS y
      FROM (
        SELECT
          row, unit, t_cell,
          (x_cell | (x_cell << 16)) & 281470681808895 AS x, (y_cell | (y_cell << 16)) & 281470681808895 AS y
        FROM $cells
      ) AS spread_16
    ) AS spread_8
  ) AS spread_4
) AS spread_2
