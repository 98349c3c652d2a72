-- name: kaca/block_pairs
-- Bound the distance between classes of two blocks of one piece from below: a.n * rise + other_rise.
-- reads: blocks (block, classes, smallest, distortion, piece, codes), seekers (class, block, piece, codes)
-- holes: $blocks relation, $seekers relation, $columns columns, $between steps
-- gives: block, other, shared (distortion of both together, by the blocks' columns), rise, other_rise
-- engines: duckdb
SELECT
  block,
  other,
  shared,
  shared - distortion AS rise,
  smallest * (shared - other_distortion) AS other_rise
FROM (
  SELECT
    a.block,
    b.block AS other,
    own.distortion,
    b.distortion AS other_distortion,
    CAST(b.smallest AS DOUBLE) AS smallest,
    CAST($between AS DOUBLE) AS shared
  FROM (SELECT DISTINCT block, $columns FROM $seekers) AS a
  JOIN $blocks AS own ON own.block = a.block
  JOIN $blocks AS b ON b.piece = a.piece
  WHERE a.block <> b.block OR b.classes > 1
) AS pairs
