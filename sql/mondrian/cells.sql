-- name: mondrian/cells
-- Put every value of every open partition in its place.
-- reads: counted (class, attribute, code, n = rows), places (attribute, code, position, number, range, most, weight)
-- holes: $counted relation, $places relation
-- gives: class, attribute, code, position, number, range, most, weight, n
-- engines: duckdb
SELECT c.class, c.attribute, c.code, p.position, p.number, p.range, p.most, p.weight, c.n
FROM $counted AS c
INNER JOIN $places AS p ON p.attribute = c.attribute AND p.code = c.code
