-- name: mondrian/inherited
-- Put the widths that partitions inherited in the place of their own.
-- reads: medians (class, attribute, allowed, split, dealt, kept, width, gain), widths (class, attribute, width)
-- holes: $medians relation, $widths relation
-- gives: class, attribute, allowed, split, dealt, kept, width (inherited where there is one), gain, own (width)
-- engines: duckdb
SELECT
  m.class, m.attribute, m.allowed, m.split, m.dealt, m.kept, COALESCE(w.width, m.width) AS width, m.gain, m.width AS own
FROM $medians AS m
LEFT JOIN $widths AS w ON w.class = m.class AND w.attribute = m.attribute
