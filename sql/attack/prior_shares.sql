-- name: attack/prior_shares
-- Give what each row of the priors says: a value, by a key that NULL has too, and how common it is.
-- reads: priors (a copy of a table)
-- holes: $priors relation, $value columns, $share columns
-- gives: row_id, value (a key), share
SELECT p.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value, CAST($share AS DOUBLE) AS share FROM $priors AS p
