-- name: utility/weights
-- Work out the chance that a cell of each code is in what a query asks of one of its columns.
-- reads: predicates (query, place, attribute, part: a group of values), chances (attribute, code, part, chance)
-- holes: $predicates relation, $chances relation
-- gives: query, place, code, weight
SELECT p.query, p.place, c.code, SUM(c.chance) AS weight
FROM $predicates AS p
JOIN $chances AS c ON c.attribute = p.attribute AND c.part = p.part
GROUP BY p.query, p.place, c.code
