-- name: keeping/marked
-- Say of every tuple which region it stays in: none where no region holds it, or where its class there is not safe.
-- reads: placed (one row per tuple: its codes, n = rows, class = the region), unsafe (class)
-- holes: $placed relation, $unsafe relation, $keys columns
-- gives: the keys, n, region (NULL for none)
SELECT $keys, p.n, CASE WHEN u.class IS NULL THEN p.class END AS region
FROM $placed AS p
LEFT JOIN $unsafe AS u ON u.class = p.class
