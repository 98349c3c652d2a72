-- name: refine/loose
-- Choose the tuples that leave their classes together: those that save most first, as many as leave a class `k` rows, but one at least.
-- reads: movers (id, own rows, class, most: what leaving saves), classes (class, n rows)
-- holes: $movers relation, $classes relation, $k value
-- gives: id, class, most, place (in its class)
SELECT l.id, l.class, l.most, l.place
FROM (
  SELECT
    m.id, m.class, m.most, c.n,
    ROW_NUMBER() OVER (PARTITION BY m.class ORDER BY m.most * 1.0 / m.own DESC, m.id) AS place,
    SUM(m.own) OVER (PARTITION BY m.class ORDER BY m.most * 1.0 / m.own DESC, m.id) AS reached
  FROM $movers AS m
  JOIN $classes AS c ON c.class = m.class
) AS l
WHERE l.place = 1 OR l.n - l.reached >= $k
