-- name: core/level_labels
-- Number the labels of a level in the order in which they first appear, and count the values under each.
-- reads: labelled (code_0, and a label per level)
-- holes: $label columns, $labelled relation
-- gives: label, code, leaves
SELECT l.label, CAST(ROW_NUMBER() OVER (ORDER BY l.first) - 1 AS INTEGER) AS code, CAST(l.leaves AS INTEGER) AS leaves
FROM (
  SELECT $label AS label, MIN(v.code_0) AS first, COUNT(*) AS leaves FROM $labelled AS v GROUP BY $label
) AS l
