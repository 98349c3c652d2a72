-- Several tables of the same people: their links, and combinations of rows that an attacker may know of a person.

-- name: doubled_keys
-- Count the values of a key column that occur several times or are NULL.
-- columns: doubled (values), missing (rows)
SELECT
  COUNT(CASE WHEN keys.n > 1 AND NOT keys.value IS NULL THEN 1 END) AS doubled,
  COALESCE(SUM(CASE WHEN keys.value IS NULL THEN keys.n END), 0) AS missing
FROM (SELECT $column AS value, COUNT(*) AS n FROM $source AS s GROUP BY $column) AS keys;

-- name: broken_links
-- Count the rows of a copied table that refer to a row that does not exist, to two people, or to no person.
-- columns: orphans, contradicting, without_person
SELECT
  COALESCE(SUM(c.orphans), 0) AS orphans,
  COALESCE(SUM(c.contradicting), 0) AS contradicting,
  COALESCE(SUM(CASE WHEN c.unit_id IS NULL THEN 1 ELSE 0 END), 0) AS without_person
FROM $copy AS c;

-- name: people
-- Number the classes of the main table that have at least k people, and list their people.
-- columns: unit_id, class
SELECT r.row_id AS unit_id, classes.class
FROM $rows AS r
JOIN (
  SELECT $levels, ROW_NUMBER() OVER (ORDER BY $levels) AS class
  FROM $rows AS m GROUP BY $levels HAVING COUNT(*) >= $k
) AS classes ON $same;

-- name: items
-- Number the items of a table: the distinct combinations of labels of its rows, and of the rows that they refer to.
-- columns: row_id, unit_id, class, visit (the place of the row), item (a number that no other table has)
SELECT r.row_id, r.unit_id, p.class, $place AS visit, numbers.number * $tables + $table AS item
FROM $rows AS r
JOIN $people AS p ON p.unit_id = r.unit_id
JOIN (
  SELECT $levels, ROW_NUMBER() OVER (ORDER BY $levels) AS number FROM $rows AS s GROUP BY $levels
) AS numbers ON $same;

-- name: with_parent
-- Add to the rows of a table the item and the place of the row that they refer to.
-- columns: the columns, parent_item (-1 without a row that it refers to), parent_visit, child (the number of the row among those that refer to the same one)
SELECT $columns, COALESCE(parents.shown, -1) AS parent_item, parents.place AS parent_visit, $child AS child
FROM $rows AS rows
LEFT JOIN (SELECT p.row_id AS parent_row, p.item AS shown, p.visit AS place FROM $parents AS p) AS parents
  ON parents.parent_row = rows.parent_id;

-- name: most_children
-- Find the largest number of rows of a table that refer to the same row.
-- columns: most
SELECT COALESCE(MAX(children.n), 0) AS most
FROM (SELECT COUNT(*) AS n FROM $rows AS r WHERE NOT r.parent_id IS NULL GROUP BY r.parent_id) AS children;

-- name: equal_rows
-- Count the rows of a person by item, separately for every row that they refer to.
-- columns: unit_id, class, visit, item, n (rows), first_row
SELECT i.unit_id, i.class, i.visit, i.item, COUNT(*) AS n, MIN(i.row_id) AS first_row
FROM $items AS i GROUP BY i.unit_id, i.class, i.visit, i.item;

-- name: events
-- List up to m copies of the rows of a person with the same item, since the attacker has at most m rows.
-- columns: unit_id, class, visit, item, copy, event (a number that no other row has)
SELECT
  a.unit_id, a.class, a.visit, a.item, copies.copy,
  ((a.first_row * $tables + $table) * 4) + copies.copy AS event
FROM $equal_rows AS a JOIN $copies AS copies ON copies.copy <= a.n;

-- name: rare_singles
-- Find the items that fewer than k people of a class have.
-- columns: class, item, people
SELECT shown.class, shown.item, COUNT(*) AS people
FROM (SELECT DISTINCT e.class, e.item, e.unit_id FROM $events AS e) AS shown
GROUP BY shown.class, shown.item HAVING COUNT(*) < $k;

-- name: rare_changed_singles
-- Find the items that fewer than k people of a class have, among those that changed.
-- columns: class, item, people
SELECT shown.class, shown.item, COUNT(*) AS people
FROM (
  SELECT DISTINCT e.class, e.item, e.unit_id
  FROM $events AS e
  JOIN (SELECT DISTINCT c.class, c.item FROM $changed AS c) AS changed
    ON changed.class = e.class AND changed.item = e.item
) AS shown
GROUP BY shown.class, shown.item HAVING COUNT(*) < $k;

-- name: frequencies_of_pairs
-- Count the people of a class by the items of rare pairs that they have.
-- columns: class, item, people
SELECT shown.class, shown.item, COUNT(*) AS people
FROM (
  SELECT DISTINCT e.class, e.item, e.unit_id
  FROM $events AS e
  JOIN (
    SELECT r.class, r.item_1 AS item FROM $rare AS r
    UNION
    SELECT s.class, s.item_2 AS item FROM $rare AS s
  ) AS rare ON rare.class = e.class AND rare.item = e.item
) AS shown
GROUP BY shown.class, shown.item;

-- name: frequencies
-- Count the people of a class by item.
-- columns: class, item, people
SELECT shown.class, shown.item, COUNT(*) AS people
FROM (SELECT DISTINCT e.class, e.item, e.unit_id FROM $events AS e) AS shown
GROUP BY shown.class, shown.item;

-- name: unit_items
-- Count the places on the first level in which a person has the same item, or the rows if they have none.
-- columns: unit_id, class, item, places, visit (the first place; negative if the rows refer to none), share (1 / all such items of the person)
SELECT u.unit_id, u.class, u.item, u.places, u.visit, 1.0 / COUNT(*) OVER (PARTITION BY u.unit_id) AS share
FROM (
  SELECT
    e.unit_id,
    e.class,
    e.item,
    $places AS places,
    MIN($root) AS visit
  FROM $events AS e GROUP BY e.unit_id, e.class, e.item
) AS u;

-- name: renewed_unit_items
-- Recount the places of people who lost rows, and keep those of the others.
-- columns: unit_id, class, item, places, visit, share (as in unit_items)
SELECT u.unit_id, u.class, u.item, u.places, u.visit, u.share
FROM $unit_items AS u
LEFT JOIN (SELECT DISTINCT a.unit_id FROM $affected AS a) AS gone ON gone.unit_id = u.unit_id
WHERE gone.unit_id IS NULL
UNION ALL
SELECT v.unit_id, v.class, v.item, v.places, v.visit, 1.0 / COUNT(*) OVER (PARTITION BY v.unit_id) AS share
FROM (
  SELECT
    e.unit_id,
    e.class,
    e.item,
    $places AS places,
    MIN($root) AS visit
  FROM $events AS e
  JOIN (SELECT DISTINCT b.unit_id FROM $affected AS b) AS lost ON lost.unit_id = e.unit_id
  GROUP BY e.unit_id, e.class, e.item
) AS v;

-- name: units_left_out
-- List the people who lose rows.
-- columns: unit_id
SELECT DISTINCT e.unit_id FROM $events AS e JOIN $left_out AS x ON x.event = e.event;

-- name: rare_pairs
-- Find the pairs of rows that fewer than k people of a class have, in one part of the items.
-- columns: class, item_1, item_2, linked (on how many levels they belong together), share (added up over these people; at least so many rows must be left out)
SELECT a.class, a.item AS item_1, b.item AS item_2, 0 AS linked, SUM(a.share) AS share
FROM $unit_items AS a
JOIN $unit_items AS b
  ON a.unit_id = b.unit_id AND a.item < b.item AND (a.places > 1 OR b.places > 1 OR a.visit <> b.visit OR a.visit < 0)
WHERE a.item % $parts = $part
GROUP BY a.class, a.item, b.item HAVING COUNT(*) < $k
UNION ALL
SELECT u.class, u.item AS item_1, u.item AS item_2, 0 AS linked, SUM(u.share) AS share
FROM $unit_items AS u WHERE u.places > 1 AND u.item % $parts = $part
GROUP BY u.class, u.item HAVING COUNT(*) < $k
UNION ALL
SELECT shown.class, shown.item_1, shown.item_2, shown.linked, 0 AS share
FROM (
  SELECT DISTINCT c.class, c.item AS item_1, d.item AS item_2, $linked AS linked, c.unit_id
  FROM $events AS c
  JOIN $events AS d
    ON c.unit_id = d.unit_id AND $same_root AND (c.item < d.item OR (c.item = d.item AND c.event < d.event))
  WHERE c.visit >= 0 AND c.item % $parts = $part
) AS shown
GROUP BY shown.class, shown.item_1, shown.item_2, shown.linked HAVING COUNT(*) < $k;

-- name: least_left_out
-- Add up how many rows must be left out at least so that no pair is rare: one row is in a limited number of pairs.
-- columns: rows
SELECT COALESCE(SUM(r.share), 0) AS rows FROM $rare AS r;

-- name: rare_triples
-- Find the triples of rows that fewer than k people of a class have, in one part of the items.
-- columns: class, item_1, item_2, item_3, linked (which of them refer to the same row)
SELECT shown.class, shown.item_1, shown.item_2, shown.item_3, shown.linked
FROM (
  SELECT DISTINCT
    a.class,
    a.item AS item_1,
    b.item AS item_2,
    c.item AS item_3,
    $linked AS linked,
    a.unit_id
  FROM $events AS a
  JOIN $events AS b ON a.unit_id = b.unit_id AND a.item <= b.item AND a.event <> b.event
  JOIN $events AS c ON b.unit_id = c.unit_id AND b.item <= c.item AND c.event <> b.event AND c.event <> a.event
  WHERE a.item % $parts = $part
) AS shown
GROUP BY shown.class, shown.item_1, shown.item_2, shown.item_3, shown.linked HAVING COUNT(*) < $k;

-- name: victims_of_pairs
-- Choose the rows to leave out of each rare pair of a person: those with the item that fewer people have; of equal ones all but the first.
-- columns: event
SELECT e.event
FROM (
  SELECT DISTINCT a.unit_id, a.item
  FROM (
    SELECT
      r.class,
      CASE WHEN second.people <= first.people THEN r.item_2 ELSE r.item_1 END AS victim,
      CASE WHEN second.people <= first.people THEN r.item_1 ELSE r.item_2 END AS other
    FROM $rare AS r
    JOIN $frequencies AS first ON first.class = r.class AND first.item = r.item_1
    JOIN $frequencies AS second ON second.class = r.class AND second.item = r.item_2
    WHERE r.linked = 0 AND r.item_1 < r.item_2
  ) AS p
  JOIN $unit_items AS a ON a.class = p.class AND a.item = p.victim
  JOIN $unit_items AS b ON b.unit_id = a.unit_id AND b.item = p.other
    AND (a.places > 1 OR b.places > 1 OR a.visit <> b.visit OR a.visit < 0)
) AS chosen
JOIN $events AS e ON e.unit_id = chosen.unit_id AND e.item = chosen.item
UNION
SELECT e.event
FROM $rare AS r
JOIN $unit_items AS u ON u.class = r.class AND u.item = r.item_1
JOIN $events AS e ON e.unit_id = u.unit_id AND e.item = u.item
WHERE r.linked = 0 AND r.item_1 = r.item_2 AND u.places > 1 AND ($root <> u.visit OR (e.visit < 0 AND e.copy > 1))
UNION
SELECT c.event
FROM (
  SELECT
    r.class,
    r.linked,
    CASE WHEN second.people <= first.people THEN r.item_2 ELSE r.item_1 END AS victim,
    CASE WHEN second.people <= first.people THEN r.item_1 ELSE r.item_2 END AS other
  FROM $rare AS r
  JOIN $frequencies AS first ON first.class = r.class AND first.item = r.item_1
  JOIN $frequencies AS second ON second.class = r.class AND second.item = r.item_2
  WHERE r.linked > 0 AND r.item_1 < r.item_2
) AS p
JOIN $events AS c ON c.class = p.class AND c.item = p.victim
JOIN $events AS d ON d.unit_id = c.unit_id AND $same_root AND d.item = p.other
WHERE c.visit >= 0 AND p.linked = $linked
UNION
SELECT d.event
FROM $rare AS r
JOIN $events AS c ON c.class = r.class AND c.item = r.item_1
JOIN $events AS d ON d.unit_id = c.unit_id AND $same_root AND d.item = c.item AND c.event < d.event
WHERE r.linked = $linked AND r.item_1 = r.item_2 AND c.visit >= 0;

-- name: victims_of_triples
-- Choose the rows to leave out of each rare triple of a person: all with the item that the fewest people have.
-- columns: event
SELECT DISTINCT
  CASE
    WHEN third.people <= first.people AND third.people <= second.people THEN c.event
    WHEN second.people <= first.people THEN b.event
    ELSE a.event
  END AS event
FROM $rare AS r
JOIN $events AS a ON a.class = r.class AND a.item = r.item_1
JOIN $events AS b ON b.unit_id = a.unit_id AND b.item = r.item_2 AND b.event <> a.event
JOIN $events AS c ON c.unit_id = a.unit_id AND c.item = r.item_3 AND c.event <> b.event AND c.event <> a.event
  AND $linked = r.linked
JOIN $frequencies AS first ON first.class = r.class AND first.item = r.item_1
JOIN $frequencies AS second ON second.class = r.class AND second.item = r.item_2
JOIN $frequencies AS third ON third.class = r.class AND third.item = r.item_3;

-- name: unavoidable
-- Count the rows of a table that belong to people of small classes, or whose item fewer than k people of a class have.
-- columns: rows
SELECT
  (SELECT COUNT(*) FROM $rows AS r) - COALESCE(SUM(CASE WHEN rare.item IS NULL THEN a.n ELSE 0 END), 0) AS rows
FROM $equal_rows AS a LEFT JOIN $rare AS rare ON rare.class = a.class AND rare.item = a.item;

-- name: pairs
-- Count the pairs of rows that people have.
-- columns: pairs
SELECT COALESCE(SUM(people.n * (people.n - 1) / 2), 0) AS pairs
FROM (SELECT e.unit_id, COUNT(*) AS n FROM $rows AS e GROUP BY e.unit_id) AS people;

-- name: singles_left_out
-- List the rows whose item fewer than k people of a class have.
-- columns: event
SELECT e.event FROM $events AS e JOIN $rare AS r ON r.class = e.class AND r.item = e.item;

-- name: with_children
-- Add the rows that belong to rows of some tables that are left out.
-- columns: event
SELECT v.event FROM $victims AS v
UNION
SELECT e.event FROM $events AS e
JOIN (
  SELECT DISTINCT $above AS visit
  FROM $events AS x
  JOIN $victims AS w ON w.event = x.event
  JOIN $referenced AS t ON t.number = x.item % $tables
) AS gone ON gone.visit = $below;

-- name: remaining
-- List the rows that are not left out.
-- columns: unit_id, class, visit, item, copy, event
SELECT e.unit_id, e.class, e.visit, e.item, e.copy, e.event
FROM $events AS e LEFT JOIN $left_out AS x ON x.event = e.event WHERE x.event IS NULL;

-- name: rows_left_out
-- List the rows of a table that a release leaves out: those of people in small classes, and those chosen one by one.
-- columns: row_id
SELECT r.row_id FROM $rows AS r LEFT JOIN $people AS p ON p.unit_id = r.unit_id WHERE p.unit_id IS NULL
UNION ALL
SELECT ranked.row_id
FROM (
  SELECT
    i.row_id,
    fewer.copies,
    ROW_NUMBER() OVER (PARTITION BY i.unit_id, i.visit, i.item ORDER BY i.row_id) AS place
  FROM $items AS i
  JOIN (
    SELECT e.unit_id, e.visit, e.item, COUNT(left_over.event) AS copies
    FROM $events AS e LEFT JOIN $remaining AS left_over ON left_over.event = e.event
    GROUP BY e.unit_id, e.visit, e.item HAVING COUNT(left_over.event) < COUNT(*)
  ) AS fewer ON fewer.unit_id = i.unit_id AND fewer.visit = i.visit AND fewer.item = i.item
) AS ranked
WHERE ranked.place > ranked.copies;

-- name: people_left_out
-- List the people of classes that are too small.
-- columns: row_id
SELECT r.row_id FROM $rows AS r LEFT JOIN $people AS p ON p.unit_id = r.row_id WHERE p.unit_id IS NULL;

-- name: losses_left_out
-- Count the rows that are left out, and add up their losses.
-- columns: n, one sum per loss column
SELECT COUNT(*) AS n, COALESCE(SUM($losses), 0) FROM $rows AS r JOIN $left_out AS x ON x.row_id = r.row_id;

-- name: shown_by_place
-- Describe the rows of a person by their place.
-- columns: unit_id, visit, items
-- engines: duckdb
SELECT i.unit_id, i.visit, STRING_AGG(CAST(i.item AS VARCHAR), ',' ORDER BY i.item) AS items
FROM $items AS i GROUP BY i.unit_id, i.visit;

-- name: shown_by_upper_place
-- Describe the rows of a person by their place on the next higher level.
-- columns: unit_id, visit, items
-- engines: duckdb
SELECT v.unit_id, v.visit, STRING_AGG('(' || v.items || ')', ',' ORDER BY v.items) AS items
FROM (
  SELECT p.unit_id, CASE WHEN p.visit < 0 THEN p.visit ELSE p.visit // $base END AS visit, p.items
  FROM $places AS p
) AS v
GROUP BY v.unit_id, v.visit;

-- name: everything_shown
-- Describe all rows of a person: the items of each row that others refer to, in order.
-- columns: unit_id, class, shown
-- engines: duckdb
SELECT p.unit_id, p.class, COALESCE(every.shown, '') AS shown
FROM $people AS p
LEFT JOIN (
  SELECT visits.unit_id, STRING_AGG(visits.items, ';' ORDER BY visits.items) AS shown
  FROM $visits AS visits
  GROUP BY visits.unit_id
) AS every ON every.unit_id = p.unit_id;

-- name: people_with_equal_rows
-- List the people whose rows are all like those of at least k people.
-- columns: unit_id, class
SELECT s.unit_id, s.class FROM $shown AS s
JOIN (SELECT t.class, t.shown FROM $shown AS t GROUP BY t.class, t.shown HAVING COUNT(*) >= $k) AS frequent
  ON frequent.class = s.class AND frequent.shown = s.shown;

-- name: random_keys
-- Replace keys by digests with a secret, so that only those who have it can compute or sort them.
-- columns: row_id, key
SELECT keys.row_id, MD5(s.secret || MD5(s.secret || $table) || CAST(keys.value AS VARCHAR)) AS key
FROM (SELECT c.row_id, $column AS value FROM $copy AS c) AS keys CROSS JOIN $secret AS s;

-- name: offsets
-- Turn digests into numbers of days between -n and n; 28 bits of a digest are read as a number.
-- columns: unit_id, days
SELECT d.row_id AS unit_id, d.number % $width - $most AS days
FROM (
  SELECT
    k.row_id,
    (POSITION(SUBSTR(k.key, 1, 1) IN '0123456789abcdef') - 1) * 16777216
    + (POSITION(SUBSTR(k.key, 2, 1) IN '0123456789abcdef') - 1) * 1048576
    + (POSITION(SUBSTR(k.key, 3, 1) IN '0123456789abcdef') - 1) * 65536
    + (POSITION(SUBSTR(k.key, 4, 1) IN '0123456789abcdef') - 1) * 4096
    + (POSITION(SUBSTR(k.key, 5, 1) IN '0123456789abcdef') - 1) * 256
    + (POSITION(SUBSTR(k.key, 6, 1) IN '0123456789abcdef') - 1) * 16
    + (POSITION(SUBSTR(k.key, 7, 1) IN '0123456789abcdef') - 1) AS number
  FROM $keys AS k
) AS d;

-- name: all_items
-- Combine the items of two tables.
-- columns: row_id, unit_id, class, visit, item
SELECT a.row_id, a.unit_id, a.class, a.visit, a.item FROM $first AS a
UNION ALL
SELECT b.row_id, b.unit_id, b.class, b.visit, b.item FROM $second AS b;

-- name: all_events
-- Combine the rows of people in two tables.
-- columns: unit_id, class, visit, item, copy, event
SELECT a.unit_id, a.class, a.visit, a.item, a.copy, a.event FROM $first AS a
UNION ALL
SELECT b.unit_id, b.class, b.visit, b.item, b.copy, b.event FROM $second AS b;

-- name: no_events
-- An empty list of rows of people.
-- columns: unit_id, class, visit, item, copy, event
SELECT r.number AS unit_id, r.number AS class, r.number AS visit, r.number AS item, r.number AS copy, r.number AS event
FROM $referenced AS r WHERE r.number < 0;

-- name: broken_keys
-- Count the released keys that occur in several rows, of the rows of a table that they identify.
-- columns: doubled
SELECT COUNT(*) AS doubled
FROM (SELECT $column AS value, COUNT(*) AS n FROM $released AS r GROUP BY $column) AS keys
WHERE keys.n > 1 OR keys.value IS NULL;

-- name: lost_references
-- Count the released rows that refer to a row that was not released.
-- columns: lost
SELECT COUNT(*) AS lost
FROM (SELECT $column AS reference FROM $released AS r) AS rows
LEFT JOIN (SELECT $key AS referred FROM $target AS t) AS targets ON targets.referred = rows.reference
WHERE NOT rows.reference IS NULL AND targets.referred IS NULL;

-- name: smallest_classes
-- Count the classes of the released people, those with fewer than k people, and the people of the smallest.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.people < $k THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.people) AS smallest
FROM (SELECT p.class, COUNT(*) AS people FROM $people AS p GROUP BY p.class) AS c;

-- name: released_rows
-- Number the released rows of people in the other tables.
-- columns: class, person, kind, what, the carried columns (visit, and the codes of sensitive values), number
SELECT
  p.class, p.person, f.kind, f.what, $carried,
  ROW_NUMBER() OVER (ORDER BY p.person, f.kind, f.what) AS number
FROM $facts AS f JOIN $people AS p ON p.key = f.person;

-- name: rows_and_people
-- Count the released rows of every table other than that of the people, and the people who have any.
-- columns: kind, rows, people
SELECT f.kind, COUNT(*) AS rows, COUNT(DISTINCT f.person) AS people FROM $facts AS f GROUP BY f.kind;

-- name: smallest_singles
-- Count the items of classes, those that fewer than k people of a class have, and the fewest people.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.people < $k THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.people) AS smallest
FROM (
  SELECT r.class, r.kind, r.what, COUNT(DISTINCT r.person) AS people
  FROM $rows AS r GROUP BY r.class, r.kind, r.what
) AS c;

-- name: smallest_pairs
-- Count the pairs of rows that people of a class have, those that fewer than k have, and the fewest people, in one part.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.people < $k THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.people) AS smallest
FROM (
  SELECT COUNT(DISTINCT r.person) AS people
  FROM $rows AS r JOIN $rows AS s ON s.person = r.person AND r.number < s.number
  WHERE r.what % $parts = $part
  GROUP BY r.class, r.kind, r.what, s.kind, s.what, $linked
) AS c;

-- name: smallest_triples
-- Count the triples of rows that people of a class have, those that fewer than k have, and the fewest people, in one part.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.people < $k THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.people) AS smallest
FROM (
  SELECT COUNT(DISTINCT r.person) AS people
  FROM $rows AS r
  JOIN $rows AS s ON s.person = r.person AND s.number <> r.number
    AND (r.kind < s.kind OR (r.kind = s.kind AND r.what <= s.what))
  JOIN $rows AS u ON u.person = r.person AND u.number <> r.number AND u.number <> s.number
    AND (s.kind < u.kind OR (s.kind = u.kind AND s.what <= u.what))
  WHERE r.what % $parts = $part
  GROUP BY
    r.class, r.kind, r.what, s.kind, s.what, u.kind, u.what, $linked
) AS c;

-- name: released_by_place
-- Describe the released rows of a person by the rows that they belong to.
-- columns: person, the slots (the keys of these rows, level by level), shown
-- engines: duckdb, postgresql
SELECT
  r.person, $slots,
  STRING_AGG(CAST(r.kind AS VARCHAR) || ':' || CAST(r.what AS VARCHAR), ',' ORDER BY r.kind, r.what) AS shown
FROM $rows AS r GROUP BY r.person, $slots;

-- name: released_by_upper_place
-- Describe the released rows of a person by the rows that they belong to on fewer levels.
-- columns: person, the slots, shown
-- engines: duckdb, postgresql
SELECT v.person, $slots, STRING_AGG('(' || v.shown || ')', ',' ORDER BY v.shown) AS shown
FROM $places AS v GROUP BY v.person, $slots;

-- name: smallest_wholes
-- Count the different rows that people have in all, those that fewer than k people of a class have, and the fewest people.
-- columns: combinations, rare, smallest
-- engines: duckdb, postgresql
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.people < $k THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.people) AS smallest
FROM (
  SELECT COUNT(*) AS people
  FROM (
    SELECT p.class, p.person, STRING_AGG(v.shown, ';' ORDER BY v.shown) AS shown
    FROM $people AS p
    LEFT JOIN $visits AS v ON v.person = p.person
    GROUP BY p.class, p.person
  ) AS everything
  GROUP BY everything.class, everything.shown
) AS c;

-- name: pairs_of_people
-- Count the pairs of released rows that people have.
-- columns: pairs
SELECT COALESCE(SUM(people.n * (people.n - 1) / 2), 0) AS pairs
FROM (SELECT r.person, COUNT(*) AS n FROM $rows AS r GROUP BY r.person) AS people;

-- name: changed
-- List the items of rows that are left out, which fewer people have now.
-- columns: class, item
SELECT DISTINCT e.class, e.item FROM $events AS e JOIN $left_out AS x ON x.event = e.event;

-- name: changed_items
-- Choose the items that changed.
-- columns: unit_id, class, item, places, visit, share
SELECT u.unit_id, u.class, u.item, u.places, u.visit, u.share
FROM $unit_items AS u JOIN (SELECT DISTINCT c.class, c.item FROM $changed AS c) AS changed ON changed.class = u.class AND changed.item = u.item;

-- name: rare_changed_pairs
-- Find the pairs of rows that fewer than k people of a class have, among those with an item that changed.
-- columns: class, item_1, item_2, linked, share
SELECT a.class, LEAST(a.item, b.item) AS item_1, GREATEST(a.item, b.item) AS item_2, 0 AS linked, SUM(a.share) AS share
FROM $changed_items AS a
JOIN $unit_items AS b
  ON a.unit_id = b.unit_id AND a.item <> b.item AND (a.places > 1 OR b.places > 1 OR a.visit <> b.visit OR a.visit < 0)
LEFT JOIN $changed_items AS c ON c.unit_id = b.unit_id AND c.item = b.item
WHERE c.item IS NULL OR a.item < b.item
GROUP BY a.class, LEAST(a.item, b.item), GREATEST(a.item, b.item) HAVING COUNT(*) < $k
UNION ALL
SELECT u.class, u.item AS item_1, u.item AS item_2, 0 AS linked, SUM(u.share) AS share
FROM $changed_items AS u WHERE u.places > 1
GROUP BY u.class, u.item HAVING COUNT(*) < $k
UNION ALL
SELECT shown.class, shown.item_1, shown.item_2, shown.linked, 0 AS share
FROM (
  SELECT DISTINCT e.class, LEAST(e.item, d.item) AS item_1, GREATEST(e.item, d.item) AS item_2, $linked AS linked, e.unit_id
  FROM $changed_items AS v
  JOIN $events AS e ON e.unit_id = v.unit_id AND e.item = v.item
  JOIN $events AS d ON e.unit_id = d.unit_id AND $same_root AND e.event <> d.event
  WHERE e.visit >= 0
) AS shown
GROUP BY shown.class, shown.item_1, shown.item_2, shown.linked HAVING COUNT(*) < $k;

-- name: coded_values
-- Number the different values of a sensitive column, in their order; NULL counts as a value.
-- columns: row_id, unit_id, value (its number, from 1), raw, n (1)
SELECT r.row_id, r.unit_id, DENSE_RANK() OVER (ORDER BY r.raw) AS value, r.raw, r.n FROM $rows AS r;

-- name: kept_values
-- List the sensitive values of the rows that are kept; of the rows of a person that are equal in everything, up to m.
-- columns: unit_id, class, visit, item, value, event (a number that no other row has)
SELECT ranked.unit_id, ranked.class, ranked.visit, ranked.item, ranked.value, ranked.event
FROM (
  SELECT
    i.unit_id, i.class, i.visit, i.item, v.value,
    (i.row_id * $tables + $table) * 4 AS event,
    ROW_NUMBER() OVER (PARTITION BY i.unit_id, i.visit, i.item, v.value ORDER BY i.row_id) AS place
  FROM $items AS i
  JOIN $values AS v ON v.row_id = i.row_id
  LEFT JOIN $left_out AS x ON x.row_id = i.row_id
  WHERE x.row_id IS NULL
) AS ranked
WHERE ranked.place <= $most;

-- name: holders
-- List people by their sensitive values, once more with the value 0, and with -1 if they have any value.
-- columns: unit_id, value
SELECT DISTINCT v.unit_id, v.value FROM $values AS v JOIN $people AS p ON p.unit_id = v.unit_id
UNION ALL
SELECT DISTINCT v.unit_id, -1 AS value FROM $values AS v JOIN $people AS p ON p.unit_id = v.unit_id
UNION ALL
SELECT p.unit_id, 0 AS value FROM $people AS p;

-- name: sharing_a_class
-- List the people of every class.
-- columns: class, item_1, item_2, item_3, linked, unit_id
SELECT p.class, -1 AS item_1, -1 AS item_2, -1 AS item_3, 0 AS linked, p.unit_id FROM $people AS p;

-- name: sharing_a_row
-- List the people of a class by item.
-- columns: class, item_1, item_2, item_3, linked, unit_id
SELECT DISTINCT e.class, e.item AS item_1, -1 AS item_2, -1 AS item_3, 0 AS linked, e.unit_id FROM $events AS e;

-- name: sharing_a_pair
-- List the people of a class by pair of items, in one part of the items.
-- columns: class, item_1, item_2, item_3, linked (on how many levels the rows belong together), unit_id
SELECT DISTINCT
  a.class, a.item AS item_1, b.item AS item_2, -1 AS item_3,
  $linked AS linked,
  a.unit_id
FROM $events AS a
JOIN $events AS b ON a.unit_id = b.unit_id AND (a.item < b.item OR (a.item = b.item AND a.event < b.event))
WHERE a.item % $parts = $part;

-- name: sharing_a_triple
-- List the people of a class by triple of items, in one part of the items.
-- columns: class, item_1, item_2, item_3, linked (which of them refer to the same row), unit_id
SELECT DISTINCT
  a.class,
  a.item AS item_1,
  b.item AS item_2,
  c.item AS item_3,
  $linked AS linked,
  a.unit_id
FROM $events AS a
JOIN $events AS b ON a.unit_id = b.unit_id AND a.item <= b.item AND a.event <> b.event
JOIN $events AS c ON b.unit_id = c.unit_id AND b.item <= c.item AND c.event <> b.event AND c.event <> a.event
WHERE a.item % $parts = $part;

-- name: values_of_sharing
-- Count, for every combination that people share, those who have a sensitive value, those who have any, and all of them.
-- columns: class, item_1, item_2, item_3, linked, _sensitive_0 (the value), n (people with the value), valued (people with any), _people (all)
SELECT c.class, c.item_1, c.item_2, c.item_3, c.linked, c.value AS _sensitive_0, c.n, c.valued, c.people AS _people
FROM (
  SELECT
    counts.class, counts.item_1, counts.item_2, counts.item_3, counts.linked, counts.value, counts.n,
    MAX(CASE WHEN counts.value = -1 THEN counts.n END)
      OVER (PARTITION BY counts.class, counts.item_1, counts.item_2, counts.item_3, counts.linked) AS valued,
    MAX(counts.n) OVER (PARTITION BY counts.class, counts.item_1, counts.item_2, counts.item_3, counts.linked) AS people
  FROM (
    SELECT g.class, g.item_1, g.item_2, g.item_3, g.linked, h.value, COUNT(*) AS n
    FROM $sharing AS g JOIN $holders AS h ON h.unit_id = g.unit_id
    GROUP BY g.class, g.item_1, g.item_2, g.item_3, g.linked, h.value
  ) AS counts
) AS c
WHERE c.value > 0;

-- name: too_uniform
-- Find the combinations whose people have too few sensitive values; that some of them have none counts as a value.
-- columns: class, item_1, item_2, item_3, linked
SELECT v.class, v.item_1, v.item_2, v.item_3, v.linked
FROM $shared AS v
GROUP BY v.class, v.item_1, v.item_2, v.item_3, v.linked
HAVING COUNT(*) + CASE WHEN MAX(v.valued) < MAX(v._people) THEN 1 ELSE 0 END < $l;

-- name: reference_of_people
-- Compare with all people of the database, also those who have no row in the table of a sensitive column.
-- columns: the figures of the reference, overall_size (people)
SELECT $figures, whole.people AS overall_size
FROM $reference AS r CROSS JOIN (SELECT COUNT(*) AS people FROM $people AS p) AS whole;

-- name: unsafe_combinations
-- Find the combinations whose people's sensitive values violate a privacy model.
-- columns: class, item_1, item_2, item_3, linked
SELECT v.class, v.item_1, v.item_2, v.item_3, v.linked
FROM $shared AS v
GROUP BY v.class, v.item_1, v.item_2, v.item_3, v.linked HAVING NOT COALESCE($safe, FALSE);

-- name: known_rows
-- Combine the rows of other tables with those of the table of a sensitive column.
-- columns: unit_id, visit, item, event
SELECT e.unit_id, e.visit, e.item, e.event FROM $events AS e WHERE e.item % $tables <> $table
UNION ALL
SELECT v.unit_id, v.visit, v.item, v.event FROM $values AS v;

-- name: matched_rows
-- List the sensitive values of rows by item.
-- columns: class, item, other_1, other_2, linked, value, unit_id, visit
SELECT DISTINCT v.class, v.item, -1 AS other_1, -1 AS other_2, 0 AS linked, v.value, v.unit_id, v.visit
FROM $values AS v;

-- name: matched_pairs
-- List the sensitive values of rows by item, together with another row of the person, in one part of the items.
-- columns: class, item, other_1, other_2, linked (on how many levels the rows belong together), value, unit_id, visit
SELECT DISTINCT
  v.class, v.item, k.item AS other_1, -1 AS other_2,
  $linked AS linked,
  v.value, v.unit_id, v.visit
FROM $values AS v JOIN $known AS k ON k.unit_id = v.unit_id AND k.event <> v.event
WHERE v.item % $parts = $part;

-- name: matched_triples
-- List the sensitive values of rows by item, together with two other rows of the person, in one part of the items.
-- columns: class, item, other_1, other_2, linked (which of the three refer to the same row), value, unit_id, visit
SELECT DISTINCT
  v.class, v.item, k.item AS other_1, o.item AS other_2,
  $linked AS linked,
  v.value, v.unit_id, v.visit
FROM $values AS v
JOIN $known AS k ON k.unit_id = v.unit_id AND k.event <> v.event
JOIN $known AS o ON o.unit_id = v.unit_id AND o.event <> v.event AND o.event <> k.event AND k.item <= o.item
WHERE v.item % $parts = $part;

-- name: revealing
-- Find the rows whose sensitive values are too few among the people of a class who share the combination.
-- columns: unit_id, visit, item, class
SELECT DISTINCT m.unit_id, m.visit, m.item, m.class
FROM $matched AS m
JOIN (
  SELECT n.class, n.item, n.other_1, n.other_2, n.linked
  FROM $matched AS n
  GROUP BY n.class, n.item, n.other_1, n.other_2, n.linked HAVING COUNT(DISTINCT n.value) < $l
) AS few
  ON few.class = m.class AND few.item = m.item AND few.other_1 = m.other_1 AND few.other_2 = m.other_2
  AND few.linked = m.linked;

-- name: revealing_left_out
-- List the rows that reveal their sensitive values.
-- columns: event
SELECT e.event
FROM $events AS e
JOIN (SELECT DISTINCT r.unit_id, r.visit, r.item FROM $revealing AS r) AS found
  ON found.unit_id = e.unit_id AND found.visit = e.visit AND found.item = e.item;

-- name: unsafe_rows_left_out
-- List the rows with the items that people with unsafe sensitive values share.
-- columns: event
SELECT e.event FROM $events AS e JOIN $unsafe AS u ON u.class = e.class AND u.item_1 = e.item;

-- name: people_without
-- List the people of the other classes.
-- columns: unit_id, class
SELECT p.unit_id, p.class FROM $people AS p
LEFT JOIN (SELECT DISTINCT u.class FROM $unsafe AS u) AS gone ON gone.class = p.class
WHERE gone.class IS NULL;

-- name: events_of_people
-- List the rows of some people.
-- columns: unit_id, class, visit, item, copy, event
SELECT e.unit_id, e.class, e.visit, e.item, e.copy, e.event
FROM $events AS e JOIN $people AS p ON p.unit_id = e.unit_id;

-- name: wholes
-- Number the descriptions of all rows of people.
-- columns: unit_id, class (the number)
SELECT s.unit_id, DENSE_RANK() OVER (ORDER BY s.class, s.shown) AS class
FROM $shown AS s JOIN $people AS p ON p.unit_id = s.unit_id;

-- name: items_of_wholes
-- List the rows of people with the numbers of the descriptions of all their rows.
-- columns: row_id, unit_id, class, visit, item
SELECT i.row_id, i.unit_id, w.class, i.visit, i.item FROM $items AS i JOIN $wholes AS w ON w.unit_id = i.unit_id;

-- name: not_one_value
-- Count the people who have several sensitive values, or none.
-- columns: people
SELECT COUNT(*) AS people
FROM $people AS p
LEFT JOIN (SELECT v.unit_id, COUNT(DISTINCT v.value) AS n FROM $values AS v GROUP BY v.unit_id) AS own
  ON own.unit_id = p.unit_id
WHERE COALESCE(own.n, 0) <> 1;

-- name: released_codes
-- List the different values of a released sensitive column with their codes; NULL is 0.
-- columns: value, code_0
SELECT DISTINCT r.value, CASE WHEN r.value IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY r.value) END AS code_0
FROM (SELECT $column AS value FROM $released AS t) AS r;

-- name: released_holders
-- List the released people by the codes of their values of a sensitive column.
-- columns: person, value
SELECT DISTINCT h.person, h.value
FROM (SELECT r.person, $code AS value FROM $rows AS r) AS h WHERE NOT h.value IS NULL;

-- name: people_of_classes
-- List the released people by their classes.
-- columns: combination, person
SELECT p.class AS combination, p.person FROM $people AS p;

-- name: people_of_singles
-- List the released people by item.
-- columns: combination (a number), person
SELECT DISTINCT DENSE_RANK() OVER (ORDER BY r.class, r.kind, r.what) AS combination, r.person FROM $rows AS r;

-- name: people_of_pairs
-- List the released people by pair of items, in one part.
-- columns: combination (a number), person
SELECT DISTINCT
  DENSE_RANK() OVER (
    ORDER BY r.class, r.kind, r.what, s.kind, s.what, $linked
  ) AS combination,
  r.person
FROM $rows AS r JOIN $rows AS s ON s.person = r.person AND r.number < s.number
WHERE r.what % $parts = $part;

-- name: people_of_triples
-- List the released people by triple of items, in one part.
-- columns: combination (a number), person
SELECT DISTINCT
  DENSE_RANK() OVER (
    ORDER BY r.class, r.kind, r.what, s.kind, s.what, u.kind, u.what, $linked
  ) AS combination,
  r.person
FROM $rows AS r
JOIN $rows AS s ON s.person = r.person AND s.number <> r.number
  AND (r.kind < s.kind OR (r.kind = s.kind AND r.what <= s.what))
JOIN $rows AS u ON u.person = r.person AND u.number <> r.number AND u.number <> s.number
  AND (s.kind < u.kind OR (s.kind = u.kind AND s.what <= u.what))
WHERE r.what % $parts = $part;

-- name: people_of_wholes
-- List the released people by the description of all their rows.
-- columns: combination (a number), person
-- engines: duckdb, postgresql
SELECT DENSE_RANK() OVER (ORDER BY everything.class, everything.shown) AS combination, everything.person
FROM (
  SELECT p.class, p.person, STRING_AGG(v.shown, ';' ORDER BY v.shown) AS shown
  FROM $people AS p
  LEFT JOIN $visits AS v ON v.person = p.person
  GROUP BY p.class, p.person
) AS everything;

-- name: values_of_people
-- Count the people of every combination who have a sensitive value, for the summary of classes.
-- columns: _kind (the combination), _sensitive_0 (the value), n (people with the value), _people, _rows (people of the combination), _weight (1)
SELECT
  c.combination AS _kind, h.value AS _sensitive_0, COUNT(*) AS n, MAX(sizes.people) AS _people,
  MAX(sizes.people) AS _rows, 1 AS _weight
FROM $sharing AS c
JOIN $holders AS h ON h.person = c.person
JOIN (SELECT s.combination, COUNT(*) AS people FROM $sharing AS s GROUP BY s.combination) AS sizes
  ON sizes.combination = c.combination
GROUP BY c.combination, h.value;

-- name: fewest_values
-- Count the combinations, those with fewer than l sensitive values, and the fewest; that some people have none counts as a value.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.found < $l THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.found) AS smallest
FROM (
  SELECT
    COUNT(DISTINCT h.value) + CASE WHEN COUNT(DISTINCT h.person) < MAX(sizes.people) THEN 1 ELSE 0 END AS found
  FROM $sharing AS s
  JOIN $holders AS h ON h.person = s.person
  JOIN (SELECT t.combination, COUNT(*) AS people FROM $sharing AS t GROUP BY t.combination) AS sizes
    ON sizes.combination = s.combination
  GROUP BY s.combination
) AS c;

-- name: fewest_values_of_singles
-- Count the items of a table, those with fewer than l sensitive values in their rows, and the fewest values.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.found < $l THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.found) AS smallest
FROM (
  SELECT COUNT(DISTINCT r.code) AS found
  FROM (SELECT o.class, o.what, $code AS code FROM $rows AS o WHERE o.kind = $kind) AS r
  WHERE NOT r.code IS NULL
  GROUP BY r.class, r.what
) AS c;

-- name: fewest_values_of_pairs
-- The same for rows of a table together with another row of the person, in one part.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.found < $l THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.found) AS smallest
FROM (
  SELECT COUNT(DISTINCT r.code) AS found
  FROM (SELECT o.class, o.person, o.what, $slots, o.number, $code AS code FROM $rows AS o WHERE o.kind = $kind) AS r
  JOIN $rows AS s ON s.person = r.person AND s.number <> r.number
  WHERE r.what % $parts = $part AND NOT r.code IS NULL
  GROUP BY r.class, r.what, s.kind, s.what, $linked
) AS c;

-- name: fewest_values_of_triples
-- The same for rows of a table together with two other rows of the person, in one part.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.found < $l THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.found) AS smallest
FROM (
  SELECT COUNT(DISTINCT r.code) AS found
  FROM (SELECT o.class, o.person, o.what, $slots, o.number, $code AS code FROM $rows AS o WHERE o.kind = $kind) AS r
  JOIN $rows AS s ON s.person = r.person AND s.number <> r.number
  JOIN $rows AS u ON u.person = r.person AND u.number <> r.number AND u.number <> s.number
    AND (s.kind < u.kind OR (s.kind = u.kind AND s.what <= u.what))
  WHERE r.what % $parts = $part AND NOT r.code IS NULL
  GROUP BY
    r.class, r.what, s.kind, s.what, u.kind, u.what, $linked
) AS c;

-- name: fewest_values_of_wholes
-- The same for rows of a table of people with the same description of all their rows.
-- columns: combinations, rare, smallest
SELECT
  COUNT(*) AS combinations,
  COALESCE(SUM(CASE WHEN c.found < $l THEN 1 ELSE 0 END), 0) AS rare,
  MIN(c.found) AS smallest
FROM (
  SELECT COUNT(DISTINCT r.code) AS found
  FROM (SELECT o.person, o.what, $code AS code FROM $rows AS o WHERE o.kind = $kind) AS r
  JOIN $sharing AS s ON s.person = r.person
  WHERE NOT r.code IS NULL
  GROUP BY s.combination, r.what
) AS c;

-- name: parents_of_items
-- List the items whose rows refer to other rows, with the items of these.
-- columns: item, parent_item
SELECT DISTINCT i.item, r.parent_item FROM $items AS i JOIN $rows AS r ON r.row_id = i.row_id WHERE r.parent_item >= 0;

-- name: all_parents
-- Combine the items of two tables whose rows refer to other rows.
-- columns: item, parent_item
SELECT a.item, a.parent_item FROM $first AS a
UNION ALL
SELECT b.item, b.parent_item FROM $second AS b;

-- name: items_of_pairs
-- Choose an item of each rare pair, to leave it out for everyone: the one that fewer people of the class have.
-- columns: class, item
SELECT DISTINCT r.class, CASE WHEN second.people <= first.people THEN r.item_2 ELSE r.item_1 END AS item
FROM $rare AS r
JOIN $frequencies AS first ON first.class = r.class AND first.item = r.item_1
JOIN $frequencies AS second ON second.class = r.class AND second.item = r.item_2;

-- name: items_of_triples
-- Choose an item of each rare triple, to leave it out for everyone: the one that the fewest people of the class have.
-- columns: class, item
SELECT DISTINCT
  r.class,
  CASE
    WHEN third.people <= first.people AND third.people <= second.people THEN r.item_3
    WHEN second.people <= first.people THEN r.item_2
    ELSE r.item_1
  END AS item
FROM $rare AS r
JOIN $frequencies AS first ON first.class = r.class AND first.item = r.item_1
JOIN $frequencies AS second ON second.class = r.class AND second.item = r.item_2
JOIN $frequencies AS third ON third.class = r.class AND third.item = r.item_3;

-- name: items_with_children
-- Add the items of rows that refer to rows with some items of their class.
-- columns: class, item
SELECT i.class, i.item FROM $items AS i
UNION
SELECT j.class, p.item FROM $items AS j JOIN $parents AS p ON p.parent_item = j.item;

-- name: without_items
-- List the rows of people without those that have an item that is left out of their class.
-- columns: unit_id, class, visit, item, copy, event
SELECT e.unit_id, e.class, e.visit, e.item, e.copy, e.event
FROM $events AS e LEFT JOIN $left_out AS x ON x.class = e.class AND x.item = e.item WHERE x.item IS NULL;

-- name: sound_rows
-- Choose the rows of a live table that belong to one person, and whose key no other row has.
-- columns: the columns
SELECT $columns
FROM (
  SELECT
    $columns, $key AS own_key, c.orphans, c.contradicting,
    COUNT(*) OVER (PARTITION BY $key) AS copies
  FROM $copy AS c
) AS counted
WHERE NOT counted.copies + counted.orphans + counted.contradicting > 1
  AND NOT counted.own_key IS NULL AND NOT counted.unit_id IS NULL;

-- name: with_few_siblings
-- Choose the rows that refer to none, or to a row that not too many others refer to, so that places can be numbered.
-- columns: the columns
SELECT $columns
FROM (SELECT $columns, COUNT(*) OVER (PARTITION BY r.parent_id) AS siblings FROM $rows AS r) AS counted
WHERE counted.parent_id IS NULL OR counted.siblings <= $most;

-- name: items_that_remain
-- List the items of the rows that are not left out.
-- columns: class, item
SELECT DISTINCT e.class, e.item FROM $events AS e;

-- name: rows_of_items
-- List the rows of a table with the items of their class that remain.
-- columns: row_id
SELECT i.row_id FROM $items AS i JOIN $remaining AS k ON k.class = i.class AND k.item = i.item;

-- name: rows_of_people
-- List the rows of a table that belong to some people.
-- columns: row_id
SELECT r.row_id FROM $rows AS r JOIN $people AS p ON p.unit_id = r.unit_id;
