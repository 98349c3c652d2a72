-- name: attack/truths
-- Give the value that each target has in truth, as a key that NULL has too.
-- reads: targets (target: a row's number), people (the copy that they come from)
-- holes: $targets relation, $people relation, $value columns
-- gives: target, value (a key)
SELECT t.target, p.value
FROM $targets AS t
JOIN (SELECT q.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $people AS q) AS p
  ON p.row_id = t.target
