-- name: wildcard/labels
-- Say what a released label stands for: the highest level that makes it, since it may have been made there.
-- reads: labels (attribute, rule_level, code, label, leaves, level)
-- holes: $labels relation
-- gives: attribute, label, level (of rules), code
SELECT attribute, label, rule_level AS level, code
FROM (
  SELECT attribute, label, rule_level, code, ROW_NUMBER() OVER (PARTITION BY attribute, label ORDER BY rule_level DESC, code) AS place
  FROM $labels
  WHERE code >= 0
) AS made
WHERE place = 1
