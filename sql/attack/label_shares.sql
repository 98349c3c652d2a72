-- name: attack/label_shares
-- Tell how frequent each value is among the people whose value a label may stand for.
-- reads: covers (label, value: keys), targets (target, and what is known of each)
-- holes: $covers relation, $targets relation, $value columns
-- gives: label, value, raw, share
SELECT c.label, c.value, v.raw, v.n / CAST(SUM(v.n) OVER (PARTITION BY c.label) AS DOUBLE) AS share
FROM $covers AS c
JOIN (
  SELECT $value AS raw, COALESCE('=' || CAST($value AS TEXT), '') AS value, COUNT(*) AS n FROM $targets AS t GROUP BY $value
) AS v ON v.value = c.value
