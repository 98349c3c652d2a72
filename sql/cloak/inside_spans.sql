-- name: cloak/inside_spans
-- Count the units that visit every row's cell within its interval, whatever their own intervals, and give the fewest.
-- reads: boxed (row, box), boxes (box, x_min, y_min, t_min, t_max), points (row, unit, t)
-- holes: $boxed relation, $boxes relation, $points relation
-- gives: smallest (units)
-- engines: duckdb
SELECT MIN(units) AS smallest
FROM (
  -- Places are whole numbers; of times that are not, t - (t - t_min) need not be t_min.
  SELECT
    COUNT(DISTINCT unit) OVER (
      PARTITION BY x_min, y_min ORDER BY place RANGE BETWEEN (place - since) PRECEDING AND (till - place) FOLLOWING
    ) AS units
  FROM (
    SELECT
      row, x_min, y_min, MIN(unit) AS unit,
      MIN(place) FILTER (WHERE part = 't') AS place,
      MIN(place) FILTER (WHERE part = 'since') AS since,
      MIN(place) FILTER (WHERE part = 'till') AS till
    FROM (
      SELECT row, x_min, y_min, unit, part, DENSE_RANK() OVER (PARTITION BY x_min, y_min ORDER BY time) AS place
      FROM (
        SELECT r.row, b.x_min, b.y_min, p.unit, 't' AS part, p.t AS time FROM $boxed AS r JOIN $boxes AS b ON r.box = b.box JOIN $points AS p ON r.row = p.row
        UNION ALL
        SELECT r.row, b.x_min, b.y_min, NULL AS unit, 'since' AS part, b.t_min AS time FROM $boxed AS r JOIN $boxes AS b ON r.box = b.box
        UNION ALL
        SELECT r.row, b.x_min, b.y_min, NULL AS unit, 'till' AS part, b.t_max AS time FROM $boxed AS r JOIN $boxes AS b ON r.box = b.box
      ) AS stacked
    ) AS placed
    GROUP BY row, x_min, y_min
  ) AS told
) AS counted
