-- name: attack/label_sizes
-- Count the values that each label may stand for, with one of them.
-- reads: covers (label, value: keys)
-- holes: $covers relation
-- gives: label, value, size
SELECT c.label, MIN(c.value) AS value, COUNT(*) AS size FROM $covers AS c GROUP BY c.label
