-- name: attack/believed
-- Count the targets of whom a value becomes certain by priors, and the classes that they fit.
-- reads: beliefs (target, told, alone, gain), fits (target, class)
-- holes: $beliefs relation, $fits relation
-- gives: told, classes, alone (told without priors), worst, mean (gain)
SELECT
  COALESCE(SUM(b.told), 0) AS told,
  (SELECT COUNT(DISTINCT f.class) FROM $fits AS f JOIN $beliefs AS c ON c.target = f.target WHERE c.told = 1) AS classes,
  COALESCE(SUM(b.alone), 0) AS alone,
  MAX(b.gain) AS worst,
  AVG(b.gain) AS mean
FROM $beliefs AS b
