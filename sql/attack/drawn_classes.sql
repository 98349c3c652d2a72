-- name: attack/drawn_classes
-- Draw classes of a release: those with the smallest hashes of their number and a seed.
-- reads: classes (class, the labels, n)
-- holes: $classes relation, $labels columns, $seed value, $most value
-- gives: class, the labels, n
SELECT k.class, $labels, k.n FROM $classes AS k
ORDER BY MD5(CAST(k.class AS TEXT) || $seed), k.class
LIMIT $most
