-- name: prioprivacy/matching_cells
-- Find the levels on which a tuple that is left over is equal to all tuples of a class.
-- reads: common (class, attribute, level, code, n, loss), cells (attribute, level, tuple, code), left_over (tuple, n)
-- holes: $common relation, $cells relation, $left_over relation
-- gives: class, tuple, attribute, level, n (rows of the class), rows (of the tuple), loss
-- engines: duckdb
SELECT k.class, l.tuple, k.attribute, k.level, k.n, l.n AS rows, k.loss
FROM $left_over AS l
JOIN $cells AS x ON x.tuple = l.tuple
JOIN $common AS k ON k.attribute = x.attribute AND k.level = x.level AND k.code = x.code
