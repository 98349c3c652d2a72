-- name: refine/far
-- Count the movers that save more per row than some attribute costs at its top, which are the first in place; and the first of them, those of dirty classes.
-- reads: movers (id, own rows, dirty, most)
-- holes: $movers relation, $near value
-- gives: movers, dirty
SELECT COUNT(*) AS movers, COUNT(CASE WHEN m.dirty THEN 1 END) AS dirty FROM $movers AS m WHERE m.most > m.own * $near
