-- name: cloak/quadrants
-- Number the quadrants that rows are released in, and give the box and the slice of time of each.
-- reads: owners (start: a key of the quadrant, class_level: its level, or NULL)
-- holes: $owners relation, $depth value, $x_from value, $x_width value, $y_from value, $y_width value, $t_from value, $t_width value
-- gives: box (from 1), level, node (the quadrant), x_min, x_max, y_min, y_max, t_min, t_max
-- engines: duckdb
SELECT
  ROW_NUMBER() OVER (ORDER BY level, node) AS box, level, node,
  CAST($x_from AS DOUBLE) + x_cell * CAST($x_width AS DOUBLE) AS x_min,
  CAST($x_from AS DOUBLE) + (x_cell + cells) * CAST($x_width AS DOUBLE) AS x_max,
  CAST($y_from AS DOUBLE) + y_cell * CAST($y_width AS DOUBLE) AS y_min,
  CAST($y_from AS DOUBLE) + (y_cell + cells) * CAST($y_width AS DOUBLE) AS y_max,
  CAST($t_from AS DOUBLE) + t_cell * CAST($t_width AS DOUBLE) AS t_min,
  CAST($t_from AS DOUBLE) + (t_cell + 1) * CAST($t_width AS DOUBLE) AS t_max
FROM (
  -- The bits of cloak/keys, each put back into its place.
  SELECT level, node, cells, t_cell, (x | (x >> 16)) & 4294967295 AS x_cell, (y | (y >> 16)) & 4294967295 AS y_cell
  FROM (
    SELECT level, node, cells, t_cell, (x | (x >> 8)) & 281470681808895 AS x, (y | (y >> 8)) & 281470681808895 AS y
    FROM (
      SELECT level, node, cells, t_cell, (x | (x >> 4)) & 71777214294589695 AS x, (y | (y >> 4)) & 71777214294589695 AS y
      FROM (
        SELECT level, node, cells, t_cell, (x | (x >> 2)) & 1085102592571150095 AS x, (y | (y >> 2)) & 1085102592571150095 AS y
        FROM (
          SELECT level, node, cells, t_cell, (x | (x >> 1)) & 3689348814741910323 AS x, (y | (y >> 1)) & 3689348814741910323 AS y
          FROM (
            SELECT
              level, node,
              1 << ($depth - level) AS cells,
              node >> (2 * level) AS t_cell,
              (((node - ((node >> (2 * level)) << (2 * level))) << (2 * ($depth - level))) >> 1) & 6148914691236517205 AS x,
              ((node - ((node >> (2 * level)) << (2 * level))) << (2 * ($depth - level))) & 6148914691236517205 AS y
            FROM (
              SELECT DISTINCT class_level AS level, start >> (2 * ($depth - class_level)) AS node
              FROM $owners
              WHERE NOT class_level IS NULL
            ) AS taken
          ) AS bits_1
        ) AS bits_2
      ) AS bits_4
    ) AS bits_8
  ) AS bits_16
) AS decoded
