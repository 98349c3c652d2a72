-- name: attack/seats
-- Give the people of each class its slots at random, anew in every world.
-- reads: placed (row_id, home), worlds (world)
-- holes: $placed relation, $worlds relation, $seed value
-- gives: world, row_id, slot (from 1)
SELECT
  w.world,
  p.row_id,
  ROW_NUMBER() OVER (
    PARTITION BY w.world, p.home
    ORDER BY MD5(CAST(p.row_id AS TEXT) || ',' || CAST(w.world AS TEXT) || $seed), p.row_id
  ) AS slot
FROM $placed AS p CROSS JOIN $worlds AS w
