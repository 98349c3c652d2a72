-- name: pipeline/people
-- Show the rows of a release, and whose they are: by a keyed digest (NMAC, a key filling a block of MD5), the same in every release of the key.
-- reads: shown (the columns, and the column that tells people apart), key (one row; id, inner_key, outer_key = texts)
-- holes: $shown relation, $key relation, $columns columns, $unit columns
-- gives: the columns, the people's column (text: the key's id, and the digest)
SELECT
  $columns,
  (SELECT k.id FROM $key AS k) || '-' || MD5(
    (SELECT k.outer_key FROM $key AS k) || MD5((SELECT k.inner_key FROM $key AS k) || CAST($unit AS TEXT))
  )
FROM $shown AS s
