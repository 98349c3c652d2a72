-- name: refine/moves_apart
-- Choose moves that together gain what they say: those best for both their classes, and others where these cost as much per row as before; fewer of a class that too many make unsafe.
-- reads: light (id, own, class, target, gain, light_out, light_in), leaders (class, id, light), crowded (class; as often as too many were tried)
-- holes: $light relation, $leaders relation, $crowded relation
-- gives: id, n (rows), class (the new one)
SELECT m.id, m.own AS n, m.target AS class
FROM (
  SELECT
    l.id, l.own, l.class, l.target,
    ROW_NUMBER() OVER (PARTITION BY l.class ORDER BY l.gain DESC, l.id) AS out_place,
    ROW_NUMBER() OVER (PARTITION BY l.target ORDER BY l.gain DESC, l.id) AS in_place
  FROM $light AS l
  JOIN $leaders AS a ON a.class = l.class
  JOIN $leaders AS b ON b.class = l.target
  WHERE (a.id = l.id OR a.light + l.light_out = 2) AND (b.id = l.id OR b.light + l.light_in = 2)
) AS m
LEFT JOIN (
  SELECT c.class, CASE COUNT(*) WHEN 1 THEN 32 WHEN 2 THEN 4 ELSE 1 END AS most FROM $crowded AS c GROUP BY c.class
) AS x ON x.class = m.class
LEFT JOIN (
  SELECT c.class, CASE COUNT(*) WHEN 1 THEN 32 WHEN 2 THEN 4 ELSE 1 END AS most FROM $crowded AS c GROUP BY c.class
) AS y ON y.class = m.target
WHERE m.out_place <= COALESCE(x.most, 256) AND m.in_place <= COALESCE(y.most, 256)
