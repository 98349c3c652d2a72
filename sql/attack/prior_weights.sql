-- name: attack/prior_weights
-- Give how many times as common a value is among people like somebody as in the whole release.
-- reads: people (id, key: whom a person is like), priors (the same of the priors), shares (row_id, value, share), overall (value, share)
-- holes: $people relation, $priors relation, $shares relation, $overall relation
-- gives: target, value (a key), weight
SELECT p.id AS target, s.value, s.share / o.share AS weight
FROM $people AS p
JOIN $priors AS q ON q.key = p.key
JOIN $shares AS s ON s.row_id = q.id
JOIN $overall AS o ON o.value = s.value
