-- name: refine/outsiders
-- List the tuples without a class as movers that go wherever they cost least.
-- reads: open (id, n)
-- holes: $open relation, $most value
-- gives: id, own (rows), class (one of its own for each), dirty, most, place
SELECT id, n AS own, -id AS class, TRUE AS dirty, $most AS most, ROW_NUMBER() OVER (ORDER BY n DESC, id) AS place
FROM $open
