-- name: attack/drawn_boxes
-- Draw boxes to attack: those with the smallest hashes of their number and a seed.
-- reads: boxes (class, x_min, x_max, y_min, y_max, since, until, n)
-- holes: $boxes relation, $seed value, $most value
-- gives: class, x_min, x_max, y_min, y_max, since, until, n
SELECT b.class, b.x_min, b.x_max, b.y_min, b.y_max, b.since, b.until, b.n
FROM $boxes AS b
ORDER BY MD5(CAST(b.class AS TEXT) || $seed), b.class
LIMIT $most
