-- Successive releases of several tables: their history, their comparison, and the changes that wait.

-- name: row_keys
-- Identify the rows of a table by digests of their key, person and parent, which are the same in every release.
-- columns: row_id, key
SELECT
  c.row_id,
  MD5(
    s.secret || MD5(s.secret || $table) || CAST(c.value AS VARCHAR) || '/' || p.key || '/' || COALESCE(q.key, '')
  ) AS key
FROM (SELECT d.row_id, d.unit_id, d.parent_id, $column AS value FROM $copy AS d) AS c
JOIN $people AS p ON p.row_id = c.unit_id
LEFT JOIN $parents AS q ON q.row_id = c.parent_id
CROSS JOIN $secret AS s;

-- name: nothing_released
-- An empty history.
-- columns: the columns of the table, kanon_first, kanon_last
SELECT $columns, $number AS kanon_first, $number AS kanon_last FROM $candidate AS c WHERE c.kanon_row IS NULL;

-- name: continued
-- Continue the history of a table by a release: rows that end, rows that stay or wait, and new rows.
-- columns: the columns of the table, kanon_first, kanon_last (NULL: still released)
SELECT
  p.$columns,
  p.kanon_first,
  CASE
    WHEN p.kanon_last IS NULL AND same.same_row IS NULL AND waits.waiting_row IS NULL THEN $number - 1 ELSE p.kanon_last
  END AS kanon_last
FROM $past AS p
LEFT JOIN (
  SELECT c.kanon_row AS same_row, c.kanon_labels AS same_labels, c.kanon_content AS same_content FROM $candidate AS c
) AS same ON same.same_row = p.kanon_row AND same.same_labels = p.kanon_labels AND same.same_content = p.kanon_content
LEFT JOIN (SELECT w.row_key AS waiting_row FROM $waiting AS w) AS waits ON waits.waiting_row = p.kanon_row
WHERE p.kanon_last IS NULL OR p.kanon_last >= $oldest
UNION ALL
SELECT d.$columns, $number AS kanon_first, CAST(NULL AS INTEGER) AS kanon_last
FROM $candidate AS d
LEFT JOIN (
  SELECT o.kanon_row AS old_row, o.kanon_labels AS old_labels, o.kanon_content AS old_content
  FROM $past AS o WHERE o.kanon_last IS NULL
) AS before
  ON before.old_row = d.kanon_row AND before.old_labels = d.kanon_labels AND before.old_content = d.kanon_content
LEFT JOIN (SELECT v.row_key AS waiting_row FROM $waiting AS v) AS waits ON waits.waiting_row = d.kanon_row
WHERE before.old_row IS NULL AND waits.waiting_row IS NULL;

-- name: changed_releases
-- List the releases that are the first with a row, and those that are the first without one.
-- columns: release
SELECT DISTINCT changed.release
FROM (
  SELECT h.kanon_first AS release FROM $history AS h
  UNION ALL
  SELECT h.kanon_last + 1 AS release FROM $history AS h WHERE NOT h.kanon_last IS NULL
) AS changed;

-- name: versions
-- List the released versions of rows of a table.
-- columns: kind (the table), row_key, person_key, parent_key, labels, content, since, until
SELECT
  $kind AS kind, p.kanon_row AS row_key, p.kanon_person AS person_key, p.kanon_parent AS parent_key,
  p.kanon_labels AS labels, p.kanon_content AS content, p.kanon_first AS since, p.kanon_last AS until
FROM $past AS p;

-- name: new_rows
-- List the rows of a table that a release would have if no change waited.
-- columns: kind (the table), row_key, person_key, parent_key, labels, content, since, until (both NULL)
SELECT
  $kind AS kind, c.kanon_row AS row_key, c.kanon_person AS person_key, c.kanon_parent AS parent_key,
  c.kanon_labels AS labels, c.kanon_content AS content, CAST(NULL AS INTEGER) AS since, CAST(NULL AS INTEGER) AS until
FROM $candidate AS c;

-- name: both_lists
-- Combine the versions of rows of two tables.
-- columns: kind, row_key, person_key, parent_key, labels, content, since, until
SELECT a.kind, a.row_key, a.person_key, a.parent_key, a.labels, a.content, a.since, a.until FROM $first AS a
UNION ALL
SELECT b.kind, b.row_key, b.person_key, b.parent_key, b.labels, b.content, b.since, b.until FROM $second AS b;

-- name: numbers
-- Number the keys of rows.
-- columns: row_key, id
SELECT r.row_key, DENSE_RANK() OVER (ORDER BY r.row_key) AS id
FROM (SELECT v.row_key FROM $versions AS v UNION SELECT c.row_key FROM $candidates AS c) AS r;

-- name: numbered
-- Replace the keys of rows by numbers.
-- columns: kind, row_id, unit_id, parent_id, labels, content, since, until
SELECT v.kind, own.id AS row_id, person.id AS unit_id, parent.id AS parent_id, v.labels, v.content, v.since, v.until
FROM $versions AS v
JOIN $numbers AS own ON own.row_key = v.row_key
JOIN $numbers AS person ON person.row_key = v.person_key
LEFT JOIN $numbers AS parent ON parent.row_key = v.parent_key;

-- name: changes
-- Put the last release and the new rows side by side; NULL where there is no such row.
-- columns: kind, row_id, unit_id, parent_id, old_labels, old_content, new_labels, new_content
SELECT
  COALESCE(n.kind, o.kind) AS kind,
  COALESCE(n.row_id, o.row_id) AS row_id,
  COALESCE(n.unit_id, o.unit_id) AS unit_id,
  COALESCE(n.parent_id, o.parent_id) AS parent_id,
  o.labels AS old_labels,
  o.content AS old_content,
  n.labels AS new_labels,
  n.content AS new_content
FROM $candidates AS n
FULL JOIN (
  SELECT v.kind, v.row_id, v.unit_id, v.parent_id, v.labels, v.content FROM $versions AS v WHERE v.until IS NULL
) AS o ON o.row_id = n.row_id;

-- name: nothing_waits
-- An empty list of rows.
-- columns: row_id
SELECT c.row_id FROM $changes AS c WHERE c.row_id IS NULL;

-- name: compared
-- Say what every row shows in an earlier release together with the last one (version 0) and with the new one (version 1).
-- columns: version, kind, row_id, unit_id, parent_id, what (a number), moving (1 if the row changes and does not wait)
-- engines: duckdb
SELECT
  shown.version, shown.kind, shown.row_id, shown.unit_id, shown.parent_id,
  DENSE_RANK() OVER (
    ORDER BY shown.kind, shown.before, shown.after, CASE WHEN shown.before_content <> shown.after_content THEN 1 ELSE 0 END
  ) AS what,
  shown.moving
FROM (
  SELECT
    v.version,
    COALESCE(c.kind, b.kind) AS kind,
    COALESCE(c.row_id, b.row_id) AS row_id,
    COALESCE(c.unit_id, b.unit_id) AS unit_id,
    COALESCE(c.parent_id, b.parent_id) AS parent_id,
    b.labels AS before,
    b.content AS before_content,
    CASE WHEN v.version = 0 OR NOT w.row_id IS NULL THEN c.old_labels ELSE c.new_labels END AS after,
    CASE WHEN v.version = 0 OR NOT w.row_id IS NULL THEN c.old_content ELSE c.new_content END AS after_content,
    CASE
      WHEN w.row_id IS NULL AND (
        COALESCE(c.old_labels, '-') <> COALESCE(c.new_labels, '-')
        OR COALESCE(c.old_content, '-') <> COALESCE(c.new_content, '-')
      ) THEN 1 ELSE 0
    END AS moving
  FROM $changes AS c
  FULL JOIN (
    SELECT o.kind, o.row_id, o.unit_id, o.parent_id, o.labels, o.content
    FROM $versions AS o WHERE o.since <= $release AND (o.until IS NULL OR o.until >= $release)
  ) AS b ON b.row_id = c.row_id
  LEFT JOIN $waiting AS w ON w.row_id = c.row_id
  CROSS JOIN (SELECT 0 AS version UNION ALL SELECT 1 AS version) AS v
) AS shown
WHERE NOT shown.before IS NULL OR NOT shown.after IS NULL;

-- name: classes
-- List the people with what their rows of the main table show.
-- columns: version, unit_id, class, moving
SELECT c.version, c.unit_id, c.what AS class, c.moving FROM $compared AS c WHERE c.kind = 0;

-- name: classes_of_movers
-- Choose the people of whom anything moves.
-- columns: version, unit_id, class, moving
SELECT p.version, p.unit_id, p.class, p.moving
FROM $classes AS p
JOIN (SELECT DISTINCT c.unit_id FROM $compared AS c WHERE c.moving = 1) AS m ON m.unit_id = p.unit_id;

-- name: chosen_facts
-- Add to rows the number by which one of several is chosen to wait: what fewer people show waits first.
-- columns: version, unit_id, class, item, row_id, the slots (the rows that it belongs to, level by level), choice (NULL if the row itself does not move), parent, moving
SELECT
  f.version, f.unit_id, f.class, f.item, f.row_id, f.$slots,
  CASE WHEN f.own_moving = 1 THEN LEAST(COALESCE(shared.people, 0), 1000000) * CAST(1000000000000 AS BIGINT) + f.row_id END AS choice,
  f.parent,
  CASE WHEN f.own_moving = 1 OR f.class_moving = 1 OR NOT f.parent IS NULL THEN 1 ELSE 0 END AS moving
FROM $facts AS f
LEFT JOIN (
  SELECT g.class, g.item, COUNT(DISTINCT g.unit_id) AS people FROM $facts AS g WHERE g.version = 1 GROUP BY g.class, g.item
) AS shared ON shared.class = f.class AND shared.item = f.item;

-- name: facts_of_movers
-- Choose the rows of people of whom anything moves.
-- columns: version, unit_id, class, item, row_id, the slots (the rows that it belongs to, level by level), choice, parent, moving
SELECT f.version, f.unit_id, f.class, f.item, f.row_id, f.$slots, f.choice, f.parent, f.moving
FROM $facts AS f JOIN (SELECT DISTINCT g.unit_id FROM $facts AS g WHERE g.moving = 1) AS m ON m.unit_id = f.unit_id;

-- name: facts_touched
-- Choose the rows of the new release that show what is in a combination in which something moves.
-- columns: version, unit_id, class, item, row_id, the slots (the rows that it belongs to, level by level), choice, parent, moving
SELECT f.version, f.unit_id, f.class, f.item, f.row_id, f.$slots, f.choice, f.parent, f.moving
FROM $facts AS f
JOIN (
  SELECT t.class, t.item_1 AS item FROM $touched AS t
  UNION
  SELECT t.class, t.item_2 AS item FROM $touched AS t
  UNION
  SELECT t.class, t.item_3 AS item FROM $touched AS t
) AS i ON i.class = f.class AND i.item = f.item
WHERE f.version = 1;

-- name: occurrences_of_classes
-- List the people by what they show in the main table.
-- columns: version, unit_id, class, item_1, item_2, item_3, linked, moving, victim (what waits if too few people show it), row_1, row_2, row_3
SELECT
  p.version, p.unit_id, p.class, -1 AS item_1, -1 AS item_2, -1 AS item_3, 0 AS linked, p.moving, p.unit_id AS victim,
  CAST(NULL AS BIGINT) AS row_1, CAST(NULL AS BIGINT) AS row_2, CAST(NULL AS BIGINT) AS row_3
FROM $classes AS p;

-- name: occurrences_of_rows
-- List what people show in a row.
-- columns: version, unit_id, class, item_1, item_2, item_3, linked, moving, victim (what waits if too few people show it), row_1, row_2, row_3
SELECT
  a.version, a.unit_id, a.class, a.item AS item_1, -1 AS item_2, -1 AS item_3, 0 AS linked, a.moving,
  COALESCE(a.choice % CAST(1000000000000 AS BIGINT), a.parent, a.unit_id) AS victim,
  a.row_id AS row_1, CAST(NULL AS BIGINT) AS row_2, CAST(NULL AS BIGINT) AS row_3
FROM $facts AS a;

-- name: occurrences_of_pairs
-- List what people show in two rows.
-- columns: version, unit_id, class, item_1, item_2, item_3, linked, moving, victim (what waits if too few people show it), row_1, row_2, row_3
-- engines: duckdb
SELECT
  a.version, a.unit_id, a.class, a.item AS item_1, b.item AS item_2, -1 AS item_3,
  $linked AS linked,
  GREATEST(a.moving, b.moving) AS moving,
  COALESCE(
    LEAST(a.choice, b.choice) % CAST(1000000000000 AS BIGINT), LEAST(a.parent, b.parent), a.unit_id
  ) AS victim,
  a.row_id AS row_1, b.row_id AS row_2, CAST(NULL AS BIGINT) AS row_3
FROM $facts AS a
JOIN $facts AS b
  ON b.version = a.version AND b.unit_id = a.unit_id AND (a.item < b.item OR (a.item = b.item AND a.row_id < b.row_id));

-- name: occurrences_of_triples
-- List what people show in three rows.
-- columns: version, unit_id, class, item_1, item_2, item_3, linked, moving, victim (what waits if too few people show it), row_1, row_2, row_3
-- engines: duckdb
SELECT
  a.version, a.unit_id, a.class, a.item AS item_1, b.item AS item_2, c.item AS item_3,
  $linked AS linked,
  GREATEST(a.moving, b.moving, c.moving) AS moving,
  COALESCE(
    LEAST(a.choice, b.choice, c.choice) % CAST(1000000000000 AS BIGINT), LEAST(a.parent, b.parent, c.parent), a.unit_id
  ) AS victim,
  a.row_id AS row_1, b.row_id AS row_2, c.row_id AS row_3
FROM $facts AS a
JOIN $facts AS b ON b.version = a.version AND b.unit_id = a.unit_id AND a.item <= b.item AND b.row_id <> a.row_id
JOIN $facts AS c
  ON c.version = a.version AND c.unit_id = a.unit_id AND b.item <= c.item AND c.row_id <> a.row_id AND c.row_id <> b.row_id;

-- name: touched
-- List the combinations in which something moves.
-- columns: class, item_1, item_2, item_3, linked
SELECT DISTINCT o.class, o.item_1, o.item_2, o.item_3, o.linked FROM $occurrences AS o WHERE o.moving = 1;

-- name: combinations
-- List the combinations of people of whom anything moves, since a row that is not known can move as well.
-- columns: class, item_1, item_2, item_3, linked
SELECT DISTINCT o.class, o.item_1, o.item_2, o.item_3, o.linked FROM $occurrences AS o;

-- name: rare
-- Find the combinations that some but too few people would show together in the earlier and the new release.
-- columns: class, item_1, item_2, item_3, linked
SELECT shown.class, shown.item_1, shown.item_2, shown.item_3, shown.linked
FROM (
  SELECT DISTINCT o.class, o.item_1, o.item_2, o.item_3, o.linked, o.unit_id
  FROM $occurrences AS o
  JOIN $touched AS t
    ON t.class = o.class AND t.item_1 = o.item_1 AND t.item_2 = o.item_2 AND t.item_3 = o.item_3 AND t.linked = o.linked
  WHERE o.version = 1
) AS shown
GROUP BY shown.class, shown.item_1, shown.item_2, shown.item_3, shown.linked HAVING COUNT(*) < $k;

-- name: victims
-- Choose the rows whose changes have to wait: one of each rare combination of a person.
-- columns: row_id
SELECT DISTINCT o.victim AS row_id
FROM $occurrences AS o
JOIN $rare AS r
  ON r.class = o.class AND r.item_1 = o.item_1 AND r.item_2 = o.item_2 AND r.item_3 = o.item_3 AND r.linked = o.linked
WHERE o.moving = 1;

-- name: past_values
-- List the sensitive values of the released versions of rows, as text; NULL is a value, too.
-- columns: place (of the sensitive column), row_key, person_key, value, since, until
SELECT
  $place AS place, p.kanon_row AS row_key, p.kanon_person AS person_key,
  COALESCE('=' || CAST(p.value AS VARCHAR), '-') AS value, p.kanon_first AS since, p.kanon_last AS until
FROM (
  SELECT h.kanon_row, h.kanon_person, h.kanon_first, h.kanon_last, $column AS value FROM $past AS h
) AS p;

-- name: new_values
-- List the sensitive values of the rows that a release would have if no change waited, as text; NULL is a value, too.
-- columns: place (of the sensitive column), row_key, person_key, value, since, until (both NULL)
SELECT
  $place AS place, c.kanon_row AS row_key, c.kanon_person AS person_key,
  COALESCE('=' || CAST(c.value AS VARCHAR), '-') AS value, CAST(NULL AS INTEGER) AS since, CAST(NULL AS INTEGER) AS until
FROM (SELECT d.kanon_row, d.kanon_person, $column AS value FROM $candidate AS d) AS c;

-- name: numbered_values
-- Replace the keys of the rows of sensitive values by numbers.
-- columns: place, row_id, unit_id, value, since, until
SELECT v.place, own.id AS row_id, person.id AS unit_id, v.value, v.since, v.until
FROM $values AS v
JOIN $numbers AS own ON own.row_key = v.row_key
JOIN $numbers AS person ON person.row_key = v.person_key;

-- name: values_shown
-- List the sensitive values in an earlier release (side 0) and in the new one (side 1).
-- columns: place, side, row_id, unit_id, value
SELECT v.place, 0 AS side, v.row_id, v.unit_id, v.value
FROM $past AS v WHERE v.since <= $release AND (v.until IS NULL OR v.until >= $release)
UNION ALL
SELECT o.place, 1 AS side, o.row_id, o.unit_id, o.value
FROM $past AS o JOIN $waiting AS w ON w.row_id = o.row_id WHERE o.until IS NULL
UNION ALL
SELECT n.place, 1 AS side, n.row_id, n.unit_id, n.value
FROM $candidates AS n LEFT JOIN $waiting AS w ON w.row_id = n.row_id WHERE w.row_id IS NULL;

-- name: too_few_values
-- Find the combinations whose people would have too few sensitive values in one of the two releases; that some have none counts as a value.
-- columns: class, item_1, item_2, item_3, linked
SELECT DISTINCT few.class, few.item_1, few.item_2, few.item_3, few.linked
FROM (
  SELECT s.class, s.item_1, s.item_2, s.item_3, s.linked
  FROM (
    SELECT
      o.class, o.item_1, o.item_2, o.item_3, o.linked, o.unit_id,
      COUNT(*) OVER (PARTITION BY o.class, o.item_1, o.item_2, o.item_3, o.linked) AS people
    FROM (
      SELECT DISTINCT p.class, p.item_1, p.item_2, p.item_3, p.linked, p.unit_id FROM $occurrences AS p WHERE p.version = 1
    ) AS o
  ) AS s
  JOIN (SELECT DISTINCT v.place, v.side, v.unit_id, v.value FROM $values AS v) AS h ON h.unit_id = s.unit_id
  JOIN $least AS l ON l.place = h.place
  GROUP BY s.class, s.item_1, s.item_2, s.item_3, s.linked, h.place, h.side, l.least
  HAVING COUNT(DISTINCT h.value) + CASE WHEN COUNT(DISTINCT h.unit_id) < MAX(s.people) THEN 1 ELSE 0 END < l.least
) AS few;

-- name: revealing_combinations
-- Find the combinations in which one of the known rows would have too few sensitive values in one of the two releases.
-- columns: class, item_1, item_2, item_3, linked
SELECT DISTINCT few.class, few.item_1, few.item_2, few.item_3, few.linked
FROM (
  SELECT s.class, s.item_1, s.item_2, s.item_3, s.linked
  FROM (
    SELECT
      o.class, o.item_1, o.item_2, o.item_3, o.linked,
      CASE WHEN o.item_3 = -1 AND o.item_1 = o.item_2 THEN 1 ELSE p.position END AS position,
      CASE p.position WHEN 1 THEN o.row_1 WHEN 2 THEN o.row_2 ELSE o.row_3 END AS row_id
    FROM $occurrences AS o
    CROSS JOIN (SELECT 1 AS position UNION ALL SELECT 2 AS position UNION ALL SELECT 3 AS position) AS p
    WHERE o.version = 1
  ) AS s
  JOIN $values AS v ON v.row_id = s.row_id
  JOIN $least AS l ON l.place = v.place
  GROUP BY s.class, s.item_1, s.item_2, s.item_3, s.linked, s.position, v.place, v.side, l.least
  HAVING COUNT(DISTINCT v.value) < l.least
) AS few;

-- name: victims_of_values
-- Choose the rows whose changes have to wait because of sensitive values: of each person, one row of the combination, or else the rows with the values.
-- columns: row_id
SELECT o.victim AS row_id
FROM $occurrences AS o
JOIN $unsafe AS u
  ON u.class = o.class AND u.item_1 = o.item_1 AND u.item_2 = o.item_2 AND u.item_3 = o.item_3 AND u.linked = o.linked
WHERE o.moving = 1
UNION
SELECT c.row_id
FROM $occurrences AS o
JOIN $unsafe AS u
  ON u.class = o.class AND u.item_1 = o.item_1 AND u.item_2 = o.item_2 AND u.item_3 = o.item_3 AND u.linked = o.linked
JOIN $compared AS c ON c.unit_id = o.unit_id AND c.moving = 1
JOIN $least AS l ON l.kind = c.kind
WHERE o.moving = 0;

-- name: more_waiting
-- Combine two lists of rows.
-- columns: row_id
SELECT w.row_id FROM $waiting AS w UNION SELECT v.row_id FROM $victims AS v;

-- name: with_dependents
-- Add what has to wait, too: rows that refer to a row that is not released yet, and rows that rows which stay refer to.
-- columns: row_id
SELECT w.row_id FROM $waiting AS w
UNION
SELECT c.row_id
FROM $changes AS c
JOIN $waiting AS w ON w.row_id = c.unit_id OR w.row_id = c.parent_id
JOIN $changes AS up ON up.row_id = w.row_id
WHERE c.kind > 0 AND c.old_content IS NULL AND up.old_content IS NULL
UNION
SELECT up.row_id
FROM $waiting AS w
JOIN $changes AS c ON c.row_id = w.row_id
JOIN $changes AS up ON up.row_id = c.unit_id OR up.row_id = c.parent_id
WHERE c.new_content IS NULL AND up.new_content IS NULL;

-- name: moving_rows
-- Count the rows that change.
-- columns: moving
SELECT COUNT(*) AS moving
FROM $changes AS c
WHERE COALESCE(c.old_labels, '-') <> COALESCE(c.new_labels, '-') OR COALESCE(c.old_content, '-') <> COALESCE(c.new_content, '-');

-- name: waiting_keys
-- List the keys of the rows whose changes wait, of one table.
-- columns: row_key
SELECT n.row_key
FROM $waiting AS w JOIN $changes AS c ON c.row_id = w.row_id JOIN $numbers AS n ON n.id = w.row_id
WHERE c.kind = $kind;

-- name: waiting_people
-- Count the people of whom anything waits, and the rows that wait to appear, to leave, and to change, by table.
-- columns: kind, people, to_appear, to_leave, to_change
SELECT
  c.kind,
  COUNT(DISTINCT c.unit_id) AS people,
  COALESCE(SUM(CASE WHEN c.old_content IS NULL THEN 1 ELSE 0 END), 0) AS to_appear,
  COALESCE(SUM(CASE WHEN c.new_content IS NULL THEN 1 ELSE 0 END), 0) AS to_leave,
  COALESCE(SUM(CASE WHEN c.old_labels <> c.new_labels OR c.old_content <> c.new_content THEN 1 ELSE 0 END), 0) AS to_change
FROM $waiting AS w JOIN $changes AS c ON c.row_id = w.row_id
GROUP BY c.kind;

-- name: all_waiting_people
-- Count the people of whom anything waits.
-- columns: people
SELECT COUNT(DISTINCT c.unit_id) AS people FROM $waiting AS w JOIN $changes AS c ON c.row_id = w.row_id;

-- name: last_run
-- Read the last run.
-- columns: number, at, compared_from, secret, inputs, released, manifest
SELECT r.number, r.at, r.compared_from, r.secret, r.inputs, r.released, r.manifest
FROM $runs AS r ORDER BY r.number DESC LIMIT 1;

-- name: latest_runs
-- Read the latest runs without the secret of their digests, the last one first.
-- columns: number, at, manifest
SELECT r.number, r.at, r.manifest FROM $runs AS r ORDER BY r.number DESC LIMIT $most;
