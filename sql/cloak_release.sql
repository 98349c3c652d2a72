-- The released boxes and their equivalence classes.
-- engines: duckdb

-- name: places
-- Number the boxes in the order of their released values; boxes that look the same share a place.
-- columns: box, place (from 1), t_min, t_max, the released columns
SELECT box, CAST(DENSE_RANK() OVER (ORDER BY $shown) AS INTEGER) AS place, t_min, t_max, $shown FROM $boxes;

-- name: shown
-- Return the released box and interval of every place once.
SELECT
  place,
  MIN(x_min) AS x_min, MIN(x_max) AS x_max, MIN(y_min) AS y_min, MIN(y_max) AS y_max,
  MIN(t_min) AS t_min, MAX(t_max) AS t_max, MIN(since) AS since, MIN(until) AS until
FROM $places
GROUP BY place;

-- name: released
-- Join every row that has a box with the place of its box, and keep the columns that the checks need.
SELECT b.place, p.unit, p.x, p.y, p.t, p.moment, $columns
FROM $points AS p
JOIN (SELECT r.row, s.place FROM $boxed AS r JOIN $places AS s ON r.box = s.box) AS b ON p.row = b.row;

-- name: classes
-- Count the rows and units that share each released box and interval, and measure what the box costs them.
-- columns: x_min, x_max, y_min, y_max, since, until, length, n (rows), units, needed (the largest own k), shares (sum of 1 / own k), outside (rows outside their box), beyond (rows whose box exceeds their tolerances), extent, delay (sums of tolerances)
SELECT
  MIN(x_min) AS x_min, MIN(x_max) AS x_max, MIN(y_min) AS y_min, MIN(y_max) AS y_max, MIN(since) AS since, MIN(until) AS until,
  MAX(t_max - t_min) AS length,
  COUNT(*) AS n,
  COUNT(DISTINCT unit) AS units,
  MAX(own_k) AS needed,
  SUM(1.0 / own_k) AS shares,
  COUNT(*) FILTER (
    WHERE NOT COALESCE(x BETWEEN x_min AND x_max AND y BETWEEN y_min AND y_max AND moment BETWEEN since AND until, FALSE)
  ) AS outside,
  COUNT(*) FILTER (
    WHERE x - x_min > dx OR x_max - x > dx OR y - y_min > dy OR y_max - y > dy OR t - t_min > dt OR t_max - t > dt
  ) AS beyond,
  SUM(SQRT(4 * dx * dy)) AS extent,
  SUM(2 * dt) AS delay
FROM $released AS r JOIN $shown AS s ON r.place = s.place
GROUP BY r.place;

-- name: summary
-- Check in one row whether every released box is shared by enough units, contains its rows and stays within their tolerances, and measure how fine the boxes are.
-- columns: rows, classes, smallest (units), unsafe_classes, unsafe_rows, outside, beyond, relative_anonymity, mean_area, mean_length, relative_space, relative_time
SELECT
  COALESCE(SUM(n), 0) AS rows,
  COUNT(*) AS classes,
  MIN(units) AS smallest,
  COUNT(*) FILTER (WHERE NOT COALESCE(units >= needed, FALSE)) AS unsafe_classes,
  COALESCE(SUM(n) FILTER (WHERE NOT COALESCE(units >= needed, FALSE)), 0) AS unsafe_rows,
  COALESCE(SUM(outside), 0) AS outside,
  COALESCE(SUM(beyond), 0) AS beyond,
  SUM(units * shares) / SUM(n) AS relative_anonymity,
  SUM(area * n) / SUM(n) AS mean_area,
  SUM(length * n) / SUM(n) AS mean_length,
  SUM(extent / SQRT(area)) FILTER (WHERE area > 0) / SUM(n) FILTER (WHERE area > 0) AS relative_space,
  SUM(delay / length) FILTER (WHERE length > 0) / SUM(n) FILTER (WHERE length > 0) AS relative_time
FROM (
  SELECT n, units, needed, shares, outside, beyond, extent, delay, length, (x_max - x_min) * (y_max - y_min) AS area
  FROM $classes
) AS measured;

-- name: shuffled
-- Return the released columns, ordered by a seeded hash of the whole row.
SELECT kanon_released.*
FROM (SELECT $columns FROM $released AS r JOIN $shown AS s ON r.place = s.place) AS kanon_released
ORDER BY MD5(CONCAT($seed, '|', CAST(kanon_released AS VARCHAR)));

-- name: release
-- Return the released columns in an order that only the released values decide: by place, then by the kept columns and their texts.
SELECT $columns
FROM $released AS r JOIN $shown AS s ON r.place = s.place
ORDER BY r.place, $kept, MD5(CAST([COALESCE(CAST($unlike AS TEXT), '')] AS TEXT));

-- name: differences
-- Count the boxes that were written more or less often than planned.
SELECT COUNT(*) AS differences
FROM (
  (
    SELECT CAST($columns AS VARCHAR), n FROM $planned
    EXCEPT
    SELECT CAST($columns AS VARCHAR), n FROM $written
  )
  UNION ALL
  (
    SELECT CAST($columns AS VARCHAR), n FROM $written
    EXCEPT
    SELECT CAST($columns AS VARCHAR), n FROM $planned
  )
) AS unequal;

-- name: identifying
-- Count the released rows whose value in a column belongs to a single unit, and so identifies that unit's rows.
SELECT COALESCE(SUM(rows), 0) AS rows
FROM (SELECT $column, COUNT(*) AS rows FROM $released GROUP BY $column HAVING MIN(unit) = MAX(unit)) AS counted;

-- name: different
-- Number the distinct boxes assigned to rows.
-- columns: box (from 1), x_min, x_max, y_min, y_max, t_min, t_max
SELECT ROW_NUMBER() OVER (ORDER BY x_min, x_max, y_min, y_max, t_min, t_max) AS box, x_min, x_max, y_min, y_max, t_min, t_max
FROM (SELECT DISTINCT x_min, x_max, y_min, y_max, t_min, t_max FROM $given) AS found;

-- name: in_boxes
-- Find the number of every row's box.
SELECT g.row, CAST(b.box AS INTEGER) AS box
FROM $given AS g
JOIN $boxes AS b
  ON g.x_min = b.x_min AND g.x_max = b.x_max
  AND g.y_min = b.y_min AND g.y_max = b.y_max
  AND g.t_min = b.t_min AND g.t_max = b.t_max;
