-- name: attack/near_people
-- Count the people of classes that have several values, which all lie in a narrow band of the release's; NULL is in none.
-- reads: held (class, value, person), overall (value, raw, n, up_to)
-- holes: $held relation, $overall relation, $most value
-- gives: people, classes (those whose band, from their least value to their largest, holds so many values of people at most)
SELECT COUNT(DISTINCT h.person) AS people, COUNT(DISTINCT h.class) AS classes
FROM $held AS h
JOIN (
  SELECT c.class
  FROM $held AS c JOIN $overall AS o ON o.value = c.value
  GROUP BY c.class
  HAVING COUNT(DISTINCT c.value) > 1 AND COUNT(o.raw) = COUNT(*) AND MAX(o.up_to) - MIN(o.up_to - o.n) <= $most
) AS k ON k.class = h.class
