-- name: refine/outsiders
-- List the tuples without a class as movers that go wherever they cost least.
-- reads: open (id, n)
-- holes: $open relation, $most value
-- gives: id, own (rows), class (one of its own for each), dirty, most, place
SELECT
  o.id, o.n AS own, -o.id AS class, TRUE AS dirty, $most AS most,
  ROW_NUMBER() OVER (ORDER BY o.n DESC, o.id) AS place
FROM $open AS o
