-- name: wildcard/labels
-- Say what a released label stands for: the highest level that makes it, since it may have been made there.
-- reads: labels (attribute, rule_level, code, label, leaves, level)
-- holes: $labels relation
-- gives: attribute, label, level (of rules), code
SELECT made.attribute, made.label, made.rule_level AS level, made.code
FROM (
  SELECT
    l.attribute,
    l.label,
    l.rule_level,
    l.code,
    ROW_NUMBER() OVER (PARTITION BY l.attribute, l.label ORDER BY l.rule_level DESC, l.code) AS place
  FROM $labels AS l
  WHERE l.code >= 0
) AS made
WHERE made.place = 1
