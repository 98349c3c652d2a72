-- name: refine_best
-- Keep every tuple's best move.
-- reads: gains (id, own, class, target, gain)
-- holes: $gains relation
-- gives: id, own, class, target, gain
SELECT id, own, class, target, gain
FROM (
  SELECT id, own, class, target, gain, ROW_NUMBER() OVER (PARTITION BY id ORDER BY gain DESC, target) AS place
  FROM $gains
) AS ranked
WHERE place = 1
