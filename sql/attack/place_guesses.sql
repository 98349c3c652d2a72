-- name: attack/place_guesses
-- Add up guesses that name the sender of a box's rows, and how many are right if one row of the box is the sender's.
-- reads: guesses (class, owner, n, weight)
-- holes: $guesses relation
-- gives: attempts, successes, people
SELECT
  COALESCE(SUM(g.weight), 0) AS attempts,
  COALESCE(SUM(g.weight / CAST(g.n AS DOUBLE)), 0) AS successes,
  COUNT(DISTINCT g.owner) AS people
FROM $guesses AS g
