-- What an attacker would learn by chance: the released values dealt out again at random.

-- name: shares_of_people
-- Count the people who have each value, by the number that it has among the places.
-- gives: value, n (people)
SELECT p.value, COUNT(DISTINCT n.person) AS n FROM $places AS p JOIN $numbered AS n ON n.place = p.place GROUP BY p.value;

-- name: placed_people
-- Show who has which value in which class.
SELECT p.class, p.value, n.person FROM $places AS p JOIN $numbered AS n ON n.place = p.place;

-- name: dealt_people
-- Show who would have which value in which class, had the values been dealt in the order of their turns, by strides.
SELECT p.class, t.value, n.person
FROM $places AS p
JOIN $places AS t ON t.turn = (p.place * $stride + $shift) % $rows
JOIN $numbered AS n ON n.place = p.place;

-- name: values_of_places
-- Count the rows of each class by their value.
SELECT p.class, p.value, COUNT(*) AS n FROM $places AS p GROUP BY p.class, p.value;

-- name: dealt_values
-- Count the rows of each class by value, had the values been dealt to them in the order of their turns, by strides.
SELECT p.class, t.value, COUNT(*) AS n
FROM $places AS p
JOIN $places AS t ON t.turn = (p.place * $stride + $shift) % $rows
GROUP BY p.class, t.value;

-- name: class_count
-- Count the classes among the places.
SELECT MAX(p.class) AS classes FROM $places AS p;

-- name: held_values
-- List the values that each person has in each class, once; rows of nobody are left out.
-- gives: row_id (of the first such row), the columns (labels and value), person
SELECT MIN(h.row_id) AS row_id, $columns, h.person
FROM (SELECT r.row_id, $columns, $unit AS person FROM $release AS r) AS h
WHERE h.person IS NOT NULL
GROUP BY $columns, h.person;

-- name: numbered_people
-- Say whose the places of values are, as attack/dealt_places numbers them.
SELECT ROW_NUMBER() OVER (ORDER BY $labels, h.row_id) AS place, h.person FROM $held AS h;

-- name: dealt_places
-- Number the rows of a release by class, with class and value as numbers, and give each a turn in an order of chance.
-- gives: class, value, place (from 1, class by class), turn (from 0)
SELECT
  DENSE_RANK() OVER (ORDER BY $labels) AS class,
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  ROW_NUMBER() OVER (ORDER BY $labels, r.row_id) AS place,
  ROW_NUMBER() OVER (ORDER BY MD5(CAST(r.row_id AS TEXT) || $seed), r.row_id) - 1 AS turn
FROM $release AS r;

-- name: overall_values
-- Count the rows of each value in the whole release, and those up to it, with the number that it has among the places.
-- gives: value (a number, in the order of the values), raw (the value itself), n, up_to
SELECT
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  $value AS raw,
  COUNT(*) AS n,
  CAST(SUM(COUNT(*)) OVER (ORDER BY $value) AS BIGINT) AS up_to
FROM $release AS r
GROUP BY $value;
