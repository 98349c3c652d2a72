-- name: perturb/transition
-- Randomize categories (PRAM) by a transition matrix.
-- reads: draws (row_id, value, u), matrix (value, target, low, high: from value to target if low <= u < high)
-- holes: $draws relation, $matrix relation
-- gives: row_id, value (text; rows whose value the matrix does not hold are missing)
SELECT d.row_id, m.target AS value
FROM $draws AS d JOIN $matrix AS m ON m.value = CAST(d.value AS TEXT) AND d.u >= m.low AND d.u < m.high
