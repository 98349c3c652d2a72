-- name: attack/checked_guesses
-- Add up guesses that name the sender of a box's rows, and how many are right by the rows that the sender had there.
-- reads: guesses (class, owner, n, weight), present (class, owner, n)
-- holes: $guesses relation, $present relation
-- gives: attempts, successes, people
SELECT
  COALESCE(SUM(g.weight), 0) AS attempts,
  COALESCE(SUM(g.weight * own.n / CAST(whole.n AS DOUBLE)), 0) AS successes,
  COUNT(DISTINCT g.owner) AS people
FROM $guesses AS g
LEFT JOIN $present AS own ON own.class = g.class AND own.owner = g.owner
LEFT JOIN (SELECT p.class, SUM(p.n) AS n FROM $present AS p GROUP BY p.class) AS whole ON whole.class = g.class
