-- name: perturb/swap
-- Swap values with partners of near rank: blocks of 2 $half ranks, the lower half of a block with its upper half.
-- reads: draws (row_id, value, u and v), key (one row; shift = ranks that the first block lacks)
-- holes: $half value, $draws relation, $key relation
-- gives: row_id, value (of the partner; the same multiset of values; partners are fewer than 2 $half ranks apart; at most one row of the first and one of the last block keep their own)
SELECT
  row_id,
  COALESCE(
    LEAD(value) OVER (PARTITION BY block, seat ORDER BY side),
    LAG(value) OVER (PARTITION BY block, seat ORDER BY side),
    value
  ) AS value
FROM (
  SELECT
    row_id,
    value,
    block,
    side,
    CASE WHEN side = 1 THEN 0 ELSE ROW_NUMBER() OVER (PARTITION BY block, side ORDER BY v, row_id) END AS seat
  FROM (
    SELECT
      row_id,
      value,
      v,
      block,
      CASE WHEN 2 * place <= size THEN 0 WHEN 2 * place > size + 1 THEN 2 ELSE 1 END AS side
    FROM (
      SELECT
        row_id,
        value,
        v,
        block,
        ROW_NUMBER() OVER (PARTITION BY block ORDER BY rank) AS place,
        COUNT(*) OVER (PARTITION BY block) AS size
      FROM (
        SELECT row_id, value, v, rank, rank - rank % (2 * $half) AS block
        FROM (
          SELECT row_id, value, v, shift + ROW_NUMBER() OVER (ORDER BY value, u, row_id) - 1 AS rank
          FROM $draws AS draws CROSS JOIN $key AS keys
        ) AS ranked
      ) AS blocks
    ) AS places
  ) AS sides
) AS seats
