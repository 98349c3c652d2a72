-- name: attack/numbered_people
-- Say whose the places of values are, as attack/dealt_places numbers them.
-- reads: held (as attack/held_values gives them)
-- holes: $held relation, $labels columns
-- gives: place, person
SELECT ROW_NUMBER() OVER (ORDER BY $labels, h.row_id) AS place, h.person FROM $held AS h
