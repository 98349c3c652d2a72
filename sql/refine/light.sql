-- name: refine/light
-- Say of every move whether the class that is left, and the one that is joined, costs as much per row as before.
-- reads: best (id, own, class, target, gain), movers (id, most: what leaving saves), classes (class, cost of one row)
-- holes: $best relation, $movers relation, $classes relation
-- gives: id, own, class, target, gain, light_out, light_in (1 or 0)
SELECT
  b.id, b.own, b.class, b.target, b.gain,
  CASE WHEN m.most = b.own * c.cost THEN 1 ELSE 0 END AS light_out,
  CASE WHEN b.gain = m.most - b.own * d.cost THEN 1 ELSE 0 END AS light_in
FROM $best AS b
JOIN $movers AS m ON m.id = b.id
JOIN $classes AS c ON c.class = b.class
JOIN $classes AS d ON d.class = b.target
