-- name: refine/far
-- Count the movers that save more per row than some attribute costs at its top; they are the first in place.
-- reads: movers (id, own rows, most)
-- holes: $movers relation, $near value
-- gives: movers
SELECT COUNT(*) AS movers FROM $movers AS m WHERE m.most > m.own * $near
