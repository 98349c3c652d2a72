-- Adaptive cloaking: the smallest quadrants that k people share (Gruteser and Grunwald, 2003).
-- engines: duckdb

-- name: keys
-- Interleave the bits of the quadtree cells (Morton order), below the number of the time slice.
-- columns: row, unit, key (t_cell * 4 ^ depth + the interleaved bits; key >> 2 is the parent quadrant)
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
) AS spread_2;

-- name: leaves
-- Count the rows of every unit in every leaf of the quadtree, and find the deepest level at which k pairs of a leaf and a unit share a quadrant.
-- columns: key, unit, rows, entry (that level, or $coarse - 1 if it is above level $coarse)
SELECT key, unit, rows, CAST(COALESCE(MAX(shared) OVER near, $coarse - 1) AS TINYINT) AS entry
FROM (
  SELECT
    key, unit, rows,
    -- k neighbours in Morton order lie in one quadrant if the first and the last of them do
    CASE WHEN differing = 0 THEN $depth ELSE $depth - (LENGTH(BIN(differing)) + 1) // 2 END AS shared
  FROM (
    SELECT key, unit, rows, XOR(key, LEAD(key, $others) OVER near) AS differing
    FROM (SELECT key, unit, CAST(COUNT(*) AS INTEGER) AS rows FROM $keys GROUP BY key, unit) AS counted
    -- partitioned by quadrants of a coarse level, so that no sort needs all leaves in memory
    WINDOW near AS (PARTITION BY key >> (2 * ($depth - $coarse)) ORDER BY key, unit)
  ) AS compared
) AS measured
WINDOW near AS (
  PARTITION BY key >> (2 * ($depth - $coarse)) ORDER BY key, unit ROWS BETWEEN $others PRECEDING AND CURRENT ROW
);

-- name: owners
-- Cut the Morton order wherever a taken quadrant begins or ends, and find the deepest taken quadrant that contains each stretch.
-- columns: start (the first key of the stretch), class_level (the level that this quadrant is released at; NULL if no quadrant was taken)
SELECT c.start, ARG_MAX(g.class_level, g.level) AS class_level
FROM (
  SELECT node << (2 * ($depth - level)) AS start FROM $groups
  UNION
  SELECT (node + 1) << (2 * ($depth - level)) AS start FROM $groups
) AS c
CROSS JOIN (SELECT DISTINCT level FROM $groups) AS l
LEFT JOIN $groups AS g ON g.level = l.level AND g.node = c.start >> (2 * ($depth - l.level))
GROUP BY c.start;

-- name: quadrants
-- Number the quadrants that rows are released in, and compute the box and time slice of each.
-- columns: box (from 1), level, node (the quadrant), x_min, x_max, y_min, y_max, t_min, t_max
SELECT
  ROW_NUMBER() OVER (ORDER BY level, node) AS box, level, node,
  CAST($x_from AS DOUBLE) + x_cell * CAST($x_width AS DOUBLE) AS x_min,
  CAST($x_from AS DOUBLE) + (x_cell + cells) * CAST($x_width AS DOUBLE) AS x_max,
  CAST($y_from AS DOUBLE) + y_cell * CAST($y_width AS DOUBLE) AS y_min,
  CAST($y_from AS DOUBLE) + (y_cell + cells) * CAST($y_width AS DOUBLE) AS y_max,
  CAST($t_from AS DOUBLE) + t_cell * CAST($t_width AS DOUBLE) AS t_min,
  CAST($t_from AS DOUBLE) + (t_cell + 1) * CAST($t_width AS DOUBLE) AS t_max
FROM (
  -- Undo the interleaving of cloak_adaptive/keys.
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
) AS decoded;

-- name: in_quadrants
-- Find the quadrant that every row is released in.
-- columns: row, box (as in cloak_adaptive/quadrants); without the rows that no quadrant took
SELECT k.row, o.box
FROM $keys AS k
ASOF JOIN (
  SELECT o.start, CAST(q.box AS INTEGER) AS box
  FROM $owners AS o
  LEFT JOIN $quadrants AS q ON o.class_level = q.level AND o.start >> (2 * ($depth - o.class_level)) = q.node
) AS o ON k.key >= o.start
WHERE NOT o.box IS NULL;

-- name: inside_quadrants
-- Count the units inside every released quadrant and time slice, whatever box they are released with, and return the fewest.
-- columns: smallest (units)
SELECT MIN(units) AS smallest
FROM (
  SELECT q.level, q.node, COUNT(*) AS units
  FROM $quadrants AS q
  JOIN (
    SELECT DISTINCT l.level, k.key >> (2 * ($depth - l.level)) AS node, k.unit
    FROM $keys AS k
    CROSS JOIN (SELECT DISTINCT level FROM $quadrants) AS l
  ) AS k ON q.level = k.level AND q.node = k.node
  GROUP BY q.level, q.node
) AS counted;

-- name: pending
-- Collect what waits in the quadrants of a level: the units left over from the level below, and the leaves that enter at this level.
-- columns: node, unit, n (1: a unit counts once), rows
SELECT node, unit, 1 AS n, CAST(SUM(rows) AS BIGINT) AS rows
FROM (
  SELECT w.node >> 2 AS node, w.unit, w.rows
  FROM $waiting AS w JOIN $round AS r ON w.node = r.node
  WHERE NOT r.taken
  UNION ALL
  SELECT key >> $shift AS node, unit, rows FROM $leaves WHERE entry = $level
) AS arriving
GROUP BY node, unit;

-- name: nodes
-- Check for every quadrant of a level whether its waiting units are safe.
SELECT node, CAST(SUM(rows) AS BIGINT) AS rows, COALESCE($safe, FALSE) AS safe FROM $waiting GROUP BY node;

-- name: pulls
-- Find, for every quadrant with too few waiting units, the class below it that is cheapest to pull up to them.
-- columns: node, class_level, class_node (that class, if it adds no more area than moving the units to the parent quadrant; always at the root)
SELECT node, class_level, class_node
FROM (
  SELECT
    node, class_level, class_node, added, allowed,
    ROW_NUMBER() OVER (PARTITION BY node ORDER BY added, class_level DESC, class_node) AS place
  FROM (
    -- In areas of a quadrant of this level: the class's rows grow to 1; the waiting rows would grow from 1 to at least 4.
    SELECT
      n.node, c.class_level, c.class_node, 3 * n.rows AS allowed,
      c.rows * (1 - POWER(0.25, c.class_level - $level)) AS added
    FROM $nodes AS n
    JOIN (
      SELECT class_level, class_node, SUM(rows) AS rows FROM $groups GROUP BY class_level, class_node
    ) AS c ON n.node = c.class_node >> (2 * (c.class_level - $level))
    WHERE NOT n.safe
  ) AS priced
) AS ranked
WHERE place = 1 AND (added <= allowed OR $level = 0);

-- name: round
-- Settle a level: a quadrant is taken if its waiting units are safe or a class was pulled up to it.
SELECT n.node, n.rows, n.safe OR NOT p.node IS NULL AS taken
FROM $nodes AS n LEFT JOIN $pulls AS p ON n.node = p.node;

-- name: groups
-- Add the quadrants taken at this level to those taken below, and move the classes that were pulled up.
-- columns: level, node (the quadrant that took its waiting rows), rows, class_level, class_node (the quadrant that they are released as)
SELECT
  g.level, g.node, g.rows,
  CASE WHEN p.node IS NULL THEN g.class_level ELSE $level END AS class_level,
  COALESCE(p.node, g.class_node) AS class_node
FROM $groups AS g LEFT JOIN $pulls AS p ON g.class_level = p.class_level AND g.class_node = p.class_node
UNION ALL
SELECT $level AS level, node, rows, $level AS class_level, node AS class_node FROM $round WHERE taken;

-- name: open_round
-- Settle a level of the published algorithm: a safe quadrant still passes its units on to the quadrants above.
-- columns: node, rows, taken (always false)
SELECT node, rows, FALSE AS taken FROM $nodes;
