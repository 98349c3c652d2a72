-- name: perturb/swap
-- Swap values with partners of near rank: blocks of 2 $half ranks, the lower half of a block with its upper half.
-- reads: draws (row_id, value, u and v), key (one row; shift = ranks that the first block lacks)
-- holes: $half value, $draws relation, $key relation
-- gives: row_id, value (of the partner; the same multiset of values; partners are fewer than 2 $half ranks apart; at most one row of the first and one of the last block keep their own)
SELECT
  seats.row_id,
  COALESCE(
    LEAD(seats.value) OVER (PARTITION BY seats.block, seats.seat ORDER BY seats.side),
    LAG(seats.value) OVER (PARTITION BY seats.block, seats.seat ORDER BY seats.side),
    seats.value
  ) AS value
FROM (
  SELECT
    sides.row_id,
    sides.value,
    sides.block,
    sides.side,
    CASE
      WHEN sides.side = 1 THEN 0
      ELSE ROW_NUMBER() OVER (PARTITION BY sides.block, sides.side ORDER BY sides.v, sides.row_id)
    END AS seat
  FROM (
    SELECT
      places.row_id,
      places.value,
      places.v,
      places.block,
      CASE WHEN 2 * places.place <= places.size THEN 0 WHEN 2 * places.place > places.size + 1 THEN 2 ELSE 1 END AS side
    FROM (
      SELECT
        blocks.row_id,
        blocks.value,
        blocks.v,
        blocks.block,
        ROW_NUMBER() OVER (PARTITION BY blocks.block ORDER BY blocks.rank) AS place,
        COUNT(*) OVER (PARTITION BY blocks.block) AS size
      FROM (
        SELECT ranked.row_id, ranked.value, ranked.v, ranked.rank, ranked.rank - ranked.rank % (2 * $half) AS block
        FROM (
          SELECT d.row_id, d.value, d.v, k.shift + ROW_NUMBER() OVER (ORDER BY d.value, d.u, d.row_id) - 1 AS rank
          FROM $draws AS d CROSS JOIN $key AS k
        ) AS ranked
      ) AS blocks
    ) AS places
  ) AS sides
) AS seats
