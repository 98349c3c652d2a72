-- Which changes of a release wait, because together with an earlier release they would single out people. A row is a distinct released row, with its owner if there is a unit; only rows that differ between releases are looked at one by one.

-- name: cells
-- Count the distinct rows of a release; 0.0 and -0.0, which are equal, count separately by their texts.
-- columns: the columns, the texts, n
SELECT $names, COUNT(*) AS n
FROM (SELECT $columns, CAST($texts AS TEXT) FROM $relation AS r) AS rows
GROUP BY $names;

-- name: renamed
-- List the rows of a release by plain names, one by one.
-- columns: the columns, the texts, n (1)
SELECT $columns, CAST($texts AS TEXT), CAST(1 AS BIGINT) AS n FROM $relation AS r;

-- name: changed_rows
-- Find the distinct rows that two releases contain in different numbers.
-- columns: the columns, before, after (how often each release contains the row)
SELECT $columns, CAST(SUM(counted.before) AS BIGINT) AS before, CAST(SUM(counted.after) AS BIGINT) AS after
FROM (
  SELECT $columns, b.n AS before, 0 AS after FROM $before AS b
  UNION ALL
  SELECT $columns, 0 AS before, a.n AS after FROM $after AS a
) AS counted
GROUP BY $columns
HAVING SUM(counted.before) <> SUM(counted.after);

-- name: changed_classes
-- Number the classes that contain a changed row.
-- columns: class, the labels
SELECT ROW_NUMBER() OVER (ORDER BY $labels) AS class, $labels
FROM (SELECT DISTINCT $labels FROM $changed AS c) AS classes;

-- name: rows_of_classes
-- List the rows of the numbered classes.
-- columns: class, the columns
SELECT classes.class, $columns FROM $rows AS rows INNER JOIN $classes AS classes ON $same;

-- name: earlier_rows
-- Find the rows of the numbered classes that an earlier release contains in another number than the current one.
-- columns: release, class, the columns, n (in the earlier release)
SELECT $release AS release, counted.class, $columns, CAST(SUM(counted.earlier) AS BIGINT) AS n
FROM (
  SELECT e.class, $columns, e.n AS earlier, 0 AS standing FROM $earlier AS e
  UNION ALL
  SELECT s.class, $columns, 0 AS earlier, s.n AS standing FROM $standing AS s
) AS counted
GROUP BY counted.class, $columns
HAVING SUM(counted.earlier) <> SUM(counted.standing);

-- name: no_earlier_rows
-- Return the columns of rows of earlier releases without rows.
SELECT 1 AS release, s.class, $columns, s.n FROM $standing AS s WHERE FALSE;

-- name: moving_rows
-- List the rows that differ between any two releases; with owners, all rows in a class of an owner with such a row.
-- columns: class, the columns, before, after
SELECT moving.class, $columns, CAST(SUM(moving.before) AS BIGINT) AS before, CAST(SUM(moving.after) AS BIGINT) AS after
FROM (
  SELECT s.class, $columns, s.n AS before, s.n AS after
  FROM $standing AS s
  WHERE EXISTS (
    SELECT touched.class
    FROM (
      SELECT c.class, $owners FROM $changed AS c
      UNION ALL
      SELECT e.class, $owners FROM $earlier AS e
    ) AS touched
    WHERE touched.class = s.class AND $same
  )
  UNION ALL
  SELECT c.class, $columns, 0 AS before, c.after - c.before AS after FROM $changed AS c
  UNION ALL
  SELECT e.class, $columns, 0 AS before, 0 AS after FROM $earlier AS e
) AS moving
GROUP BY moving.class, $columns;

-- name: numbered_rows
-- Number the rows, what a reader sees of them, and their owners.
-- columns: number, value (the same for rows that look the same), person, class, the columns, before, after
SELECT
  ROW_NUMBER() OVER (ORDER BY m.class, $columns) AS number,
  DENSE_RANK() OVER (ORDER BY m.class, $visible) AS value,
  DENSE_RANK() OVER (ORDER BY $owners) AS person,
  m.class, $columns, m.before, m.after
FROM $moving AS m;

-- name: counts
-- Count how often each earlier release, and the current one (0), contains each row.
-- columns: release, number (of the row), n
SELECT releases.release, r.number, COALESCE(e.n, r.before) AS n
FROM $rows AS r
CROSS JOIN $releases AS releases
LEFT JOIN $earlier AS e ON e.release = releases.release AND e.class = r.class AND $same;

-- name: unmoved_rows
-- List the rows of each class that are the same in all releases.
SELECT s.class, $columns, s.n
FROM $standing AS s
WHERE NOT EXISTS (SELECT r.number FROM $rows AS r WHERE r.class = s.class AND $same);

-- name: unmoved
-- Count in each class the rows, or owners, that are the same in all releases; unknown owners are no members, but one of them stays.
-- columns: class, members, stayed
SELECT u.class, CAST($members AS BIGINT) AS members, CAST($stayed AS BIGINT) AS stayed FROM $unmoved AS u GROUP BY u.class;

-- name: choices
-- Count how often a class would contain each row, by choice: 1 all changes, 2 only arrivals, 3 only departures (both only in classes with arrivals and departures), 4 none; people who wait keep their rows.
-- columns: choice, number (of the row), n
SELECT
  choices.choice,
  r.number,
  CASE
    WHEN waiting.person IS NOT NULL OR choices.choice = 4 THEN r.before
    WHEN choices.choice = 1 THEN r.after
    WHEN choices.choice = 2 THEN GREATEST(r.before, r.after)
    ELSE LEAST(r.before, r.after)
  END AS n
FROM $rows AS r
CROSS JOIN (SELECT 1 AS choice UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) AS choices
LEFT JOIN $waiting AS waiting ON waiting.person = r.person
WHERE
  choices.choice IN (1, 4)
  OR r.class IN (
    SELECT mixed.class
    FROM $rows AS mixed
    GROUP BY mixed.class
    HAVING MAX(mixed.after - mixed.before) > 0 AND MIN(mixed.after - mixed.before) < 0
  );

-- name: moves
-- Count the rows of each class that would arrive, leave and stay since each release, by each choice but none (4).
-- columns: choice, class, release, came, went, stayed
SELECT
  x.choice, r.class, c.release,
  SUM(GREATEST(x.n - c.n, 0)) AS came, SUM(GREATEST(c.n - x.n, 0)) AS went, SUM(LEAST(x.n, c.n)) AS stayed
FROM $choices AS x
INNER JOIN $rows AS r ON r.number = x.number
INNER JOIN $counts AS c ON c.number = x.number
WHERE x.choice < 4
GROUP BY x.choice, r.class, c.release;

-- name: moves_of_people
-- Count the people of each class who would stay since each release, and the fewest who can account for what a reader sees arrive and leave, by each choice but none (4).
-- columns: choice, class, release, came, went, stayed (people)
SELECT
  ranked.choice, ranked.class, ranked.release,
  SUM(CASE WHEN ranked.came > 0 AND ranked.came_to - ranked.came < ranked.appeared THEN 1 ELSE 0 END) AS came,
  SUM(CASE WHEN ranked.went > 0 AND ranked.went_to - ranked.went < ranked.vanished THEN 1 ELSE 0 END) AS went,
  SUM(CASE WHEN ranked.stayed > 0 THEN 1 ELSE 0 END) AS stayed
FROM (
  SELECT
    people.choice, people.class, people.release, people.came, people.went, people.stayed, seen.appeared, seen.vanished,
    SUM(people.came) OVER (
      PARTITION BY people.choice, people.class, people.release ORDER BY people.came DESC, people.person
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS came_to,
    SUM(people.went) OVER (
      PARTITION BY people.choice, people.class, people.release ORDER BY people.went DESC, people.person
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS went_to
  FROM (
    SELECT
      x.choice, r.class, c.release, r.person,
      SUM(GREATEST(x.n - c.n, 0)) AS came, SUM(GREATEST(c.n - x.n, 0)) AS went, SUM(LEAST(x.n, c.n)) AS stayed
    FROM $choices AS x
    INNER JOIN $rows AS r ON r.number = x.number
    INNER JOIN $counts AS c ON c.number = x.number
    WHERE x.choice < 4
    GROUP BY x.choice, r.class, c.release, r.person
  ) AS people
  INNER JOIN (
    SELECT
      shown.choice, shown.class, shown.release,
      SUM(GREATEST(shown.after - shown.before, 0)) AS appeared, SUM(GREATEST(shown.before - shown.after, 0)) AS vanished
    FROM (
      SELECT x.choice, r.class, c.release, r.value, SUM(x.n) AS after, SUM(c.n) AS before
      FROM $choices AS x
      INNER JOIN $rows AS r ON r.number = x.number
      INNER JOIN $counts AS c ON c.number = x.number
      WHERE x.choice < 4
      GROUP BY x.choice, r.class, c.release, r.value
    ) AS shown
    GROUP BY shown.choice, shown.class, shown.release
  ) AS seen ON seen.choice = people.choice AND seen.class = people.class AND seen.release = people.release
) AS ranked
GROUP BY ranked.choice, ranked.class, ranked.release;

-- name: hidden_moves
-- Find the choices by which everyone who arrives, leaves or stays in a class does so among at least k, compared with any release.
-- columns: class, choice
SELECT m.class, m.choice
FROM $moves AS m
LEFT JOIN $unmoved AS u ON u.class = m.class
GROUP BY m.class, m.choice
HAVING MIN(
  CASE
    WHEN m.came + m.went = 0 THEN 1
    WHEN m.came BETWEEN 1 AND $k - 1 OR m.went BETWEEN 1 AND $k - 1 THEN 0
    WHEN m.stayed + COALESCE(u.stayed, 0) BETWEEN 1 AND $k - 1 THEN 0
    ELSE 1
  END
) = 1;

-- name: appearing_or_vanishing
-- Find the choices by which a class appears or vanishes.
-- columns: class, choice
SELECT r.class, x.choice
FROM $choices AS x
INNER JOIN $rows AS r ON r.number = x.number
WHERE NOT EXISTS (SELECT u.class FROM $unmoved AS u WHERE u.class = r.class)
GROUP BY r.class, x.choice
HAVING SUM(x.n) = 0 AND SUM(r.before) > 0 OR SUM(x.n) > 0 AND SUM(r.before) = 0;

-- name: kinds
-- Count the members of each class by each choice and value, as in sql/kinds.sql.
-- columns: _kind (ten times the class, and the choice), the value, n (people, or rows), _rows, _people (of the class), _weight (1)
SELECT
  by_value._kind,
  $names,
  CAST(SUM(by_value.n) AS BIGINT) AS n,
  CAST(SUM(by_value._rows) AS BIGINT) AS _rows,
  CAST(MAX(sizes.members) AS BIGINT) AS _people,
  1 AS _weight
FROM (
  SELECT 10 * r.class + x.choice AS _kind, $value, $moving AS n, SUM(x.n) AS _rows
  FROM $choices AS x INNER JOIN $rows AS r ON r.number = x.number
  WHERE x.n > 0
  GROUP BY r.class, x.choice, $value
  UNION ALL
  SELECT 10 * u.class + choices.choice AS _kind, $value, $unmoving AS n, SUM(u.n) AS _rows
  FROM $unmoved AS u
  CROSS JOIN (SELECT DISTINCT c.choice FROM $choices AS c) AS choices
  GROUP BY u.class, choices.choice, $value
) AS by_value
LEFT JOIN $sizes AS sizes ON sizes._kind = by_value._kind
GROUP BY by_value._kind, $names;

-- name: sizes
-- Count the members of each class by each choice; a class without rows is left out.
-- columns: _kind (ten times the class, and the choice), members (people, or rows)
SELECT counted._kind, CAST(SUM(counted.n) AS BIGINT) AS members
FROM (
  SELECT 10 * r.class + x.choice AS _kind, $moving AS n
  FROM $choices AS x INNER JOIN $rows AS r ON r.number = x.number
  WHERE x.n > 0
  GROUP BY r.class, x.choice
  UNION ALL
  SELECT 10 * u.class + choices.choice AS _kind, u.members AS n
  FROM $unmoved AS u
  CROSS JOIN (SELECT DISTINCT c.choice FROM $choices AS c) AS choices
) AS counted
GROUP BY counted._kind;

-- name: unsafe
-- Find the classes and choices that do not satisfy a model.
SELECT judged._kind
FROM (SELECT k._kind, COALESCE($safe, FALSE) AS safe FROM $kinds AS k GROUP BY k._kind) AS judged
WHERE NOT judged.safe;

-- name: unmoved_values
-- Count the rows of each class that are the same in all releases, by one value.
-- columns: class, the value, n
SELECT u.class, $value, CAST(SUM(u.n) AS BIGINT) AS n FROM $unmoved AS u GROUP BY u.class, $value;

-- name: revealing
-- Find the choices by which a class would have only one value in common with an earlier release, although each has several.
-- columns: class, choice
SELECT DISTINCT shared.class, shared.choice
FROM (
  SELECT
    v.class, v.choice, v.release,
    SUM(CASE WHEN unmoved.class IS NULL AND v.now > 0 AND v.earlier > 0 THEN 1 ELSE 0 END) AS common,
    SUM(CASE WHEN unmoved.class IS NULL AND v.now > 0 THEN 1 ELSE 0 END) AS now,
    SUM(CASE WHEN unmoved.class IS NULL AND v.earlier > 0 THEN 1 ELSE 0 END) AS earlier
  FROM (
    SELECT r.class, x.choice, c.release, $value, SUM(x.n) AS now, SUM(c.n) AS earlier
    FROM $choices AS x
    INNER JOIN $rows AS r ON r.number = x.number
    INNER JOIN $counts AS c ON c.number = x.number
    GROUP BY r.class, x.choice, c.release, $value
  ) AS v
  LEFT JOIN $unmoved_values AS unmoved ON unmoved.class = v.class AND $same
  GROUP BY v.class, v.choice, v.release
) AS shared
LEFT JOIN (SELECT u.class, COUNT(*) AS n FROM $unmoved_values AS u GROUP BY u.class) AS fixed ON fixed.class = shared.class
WHERE
  shared.common + COALESCE(fixed.n, 0) = 1
  AND shared.now + COALESCE(fixed.n, 0) > 1
  AND shared.earlier + COALESCE(fixed.n, 0) > 1;

-- name: shown_counts
-- Count how often each earlier release, and the current one (0), shows what a reader sees of the rows that move.
-- columns: class, shown (the number of the visible row), the value, release, n
SELECT r.class, r.value AS shown, $value, c.release, CAST(SUM(c.n) AS BIGINT) AS n
FROM $rows AS r
INNER JOIN $counts AS c ON c.number = r.number
GROUP BY r.class, r.value, $value, c.release;

-- name: changed_pairs
-- List the pairs of earlier releases between which each class changes.
-- columns: class, older, newer (a higher number is older)
SELECT DISTINCT o.class, o.release AS older, s.release AS newer
FROM $shown AS o
INNER JOIN $shown AS s ON s.class = o.class AND s.shown = o.shown AND s.release < o.release
WHERE s.n <> o.n;

-- name: earlier_values
-- List the values of each class in each release (way 0), and of the rows that came (1), went (2) or stayed (3) between two of them.
-- columns: class, older, newer (releases), way, the value
SELECT s.class, s.release AS older, s.release AS newer, 0 AS way, $value FROM $shown AS s WHERE s.n > 0
UNION
SELECT u.class, releases.release AS older, releases.release AS newer, 0 AS way, $value
FROM $unmoved AS u CROSS JOIN $releases AS releases
UNION
SELECT o.class, o.release AS older, s.release AS newer, CASE WHEN s.n > o.n THEN 1 ELSE 2 END AS way, $value
FROM $shown AS o
INNER JOIN (SELECT n.class, n.shown, n.release, n.n FROM $shown AS n) AS s
  ON s.class = o.class AND s.shown = o.shown AND s.release < o.release
WHERE s.n <> o.n
UNION
SELECT o.class, o.release AS older, s.release AS newer, 3 AS way, $value
FROM $shown AS o
INNER JOIN (SELECT n.class, n.shown, n.release, n.n FROM $shown AS n) AS s
  ON s.class = o.class AND s.shown = o.shown AND s.release < o.release
INNER JOIN $pairs AS pairs ON pairs.class = o.class AND pairs.older = o.release AND pairs.newer = s.release
WHERE s.n > 0 AND o.n > 0
UNION
SELECT u.class, pairs.older, pairs.newer, 3 AS way, $value
FROM $unmoved AS u INNER JOIN $pairs AS pairs ON pairs.class = u.class;

-- name: earlier_common_values
-- List the values that are in every set of a class.
-- columns: class, the value
SELECT s.class, $value
FROM $sets AS s
INNER JOIN (
  SELECT listed.class, COUNT(*) AS n
  FROM (SELECT DISTINCT d.class, d.older, d.newer, d.way FROM $sets AS d) AS listed
  GROUP BY listed.class
) AS totals ON totals.class = s.class
GROUP BY s.class, totals.n, $value
HAVING COUNT(*) = totals.n;

-- name: compared_counts
-- Compare how often the next release shows what a reader sees with each earlier release, by the choice for its class.
-- columns: class, choice, the value, older (the earlier release), before, after
SELECT s.class, n.choice, $value, s.release AS older, s.n AS before, n.n AS after
FROM $shown AS s
INNER JOIN (
  SELECT r.class, x.choice, r.value AS shown, SUM(x.n) AS n
  FROM $choices AS x INNER JOIN $rows AS r ON r.number = x.number
  GROUP BY r.class, x.choice, r.value
) AS n ON n.class = s.class AND n.shown = s.shown;

-- name: values_by_choice
-- List the same sets for the next release, by the choice for its class; way 4: the values that all earlier sets have in common.
-- columns: class, choice, older, way, the value
SELECT c.class, c.choice, -1 AS older, 0 AS way, $value FROM $compared AS c WHERE c.after > 0
UNION
SELECT u.class, chosen.choice, -1 AS older, 0 AS way, $value
FROM $unmoved AS u
INNER JOIN (SELECT DISTINCT c.class, c.choice FROM $compared AS c) AS chosen ON chosen.class = u.class
UNION
SELECT c.class, c.choice, c.older, CASE WHEN c.after > c.before THEN 1 ELSE 2 END AS way, $value
FROM $compared AS c
WHERE c.after <> c.before
UNION
SELECT c.class, c.choice, c.older, 3 AS way, $value
FROM $compared AS c
INNER JOIN (
  SELECT DISTINCT d.class, d.choice, d.older FROM $compared AS d WHERE d.after <> d.before
) AS pairs ON pairs.class = c.class AND pairs.choice = c.choice AND pairs.older = c.older
WHERE c.after > 0 AND c.before > 0
UNION
SELECT u.class, pairs.choice, pairs.older, 3 AS way, $value
FROM $unmoved AS u
INNER JOIN (
  SELECT DISTINCT d.class, d.choice, d.older FROM $compared AS d WHERE d.after <> d.before
) AS pairs ON pairs.class = u.class
UNION
SELECT p.class, chosen.choice, -1 AS older, 4 AS way, $value
FROM $common AS p
INNER JOIN (SELECT DISTINCT c.class, c.choice FROM $compared AS c) AS chosen ON chosen.class = p.class;

-- name: common_values
-- List the values that all sets of a class have in common by a choice, those of earlier releases included.
-- columns: class, choice, the value
SELECT s.class, s.choice, $value
FROM $sets AS s
INNER JOIN (
  SELECT listed.class, listed.choice, COUNT(*) + MAX(CASE WHEN old.class IS NULL THEN 0 ELSE 1 END) AS n
  FROM (SELECT DISTINCT d.class, d.choice, d.older, d.way FROM $sets AS d WHERE d.way < 4) AS listed
  LEFT JOIN (SELECT DISTINCT e.class FROM $earlier AS e) AS old ON old.class = listed.class
  GROUP BY listed.class, listed.choice
) AS totals ON totals.class = s.class AND totals.choice = s.choice
GROUP BY s.class, s.choice, totals.n, $value
HAVING COUNT(*) = totals.n;

-- name: few_common_values
-- Find the choices but none (4) by which the sets of a class have fewer values in common than required.
-- columns: class, choice
SELECT listed.class, listed.choice
FROM (SELECT DISTINCT s.class, s.choice FROM $sets AS s WHERE s.way < 4 AND s.choice < 4) AS listed
LEFT JOIN $common AS c ON c.class = listed.class AND c.choice = listed.choice
GROUP BY listed.class, listed.choice
HAVING COUNT(c.class) < $least;

-- name: movers
-- List the classes of people who leave one class and come to another, in any releases, including the next one.
-- columns: person, class, choice (that counts for its values), changes (1 if the person changes in the new release)
-- engines: duckdb, postgresql
SELECT moves.person, moves.class, moves.choice, moves.changes
FROM (
  SELECT
    own.person, own.class, own.choice, MAX(own.came) AS came, MAX(own.went) AS went, MAX(own.changes) AS changes,
    SUM(MAX(own.came)) OVER (PARTITION BY own.person) AS all_came,
    SUM(MAX(own.went)) OVER (PARTITION BY own.person) AS all_went,
    COUNT(CASE WHEN MAX(own.came) + MAX(own.went) > 0 THEN 1 END) OVER (PARTITION BY own.person) AS classes
  FROM (
    SELECT
      counted.person, counted.class, counted.choice,
      CASE WHEN counted.n > counted.older THEN 1 ELSE 0 END AS came,
      CASE WHEN counted.n < counted.older THEN 1 ELSE 0 END AS went,
      CASE WHEN counted.release = -1 AND counted.n <> counted.older THEN 1 ELSE 0 END AS changes
    FROM (
      SELECT
        presence.person, presence.class, presence.choice, presence.release, presence.n,
        LAG(presence.n, 1, presence.n) OVER (
          PARTITION BY presence.person, presence.class ORDER BY presence.release DESC
        ) AS older
      FROM (
        SELECT r.person, r.class, decided.choice, c.release, SUM(c.n) AS n
        FROM $rows AS r
        INNER JOIN $counts AS c ON c.number = r.number
        INNER JOIN $decided AS decided ON decided.class = r.class
        WHERE r.owner IS NOT NULL
        GROUP BY r.person, r.class, decided.choice, c.release
        UNION ALL
        SELECT r.person, r.class, decided.choice, -1 AS release, SUM(COALESCE(x.n, 0)) AS n
        FROM $rows AS r
        INNER JOIN $decided AS decided ON decided.class = r.class
        LEFT JOIN $choices AS x ON x.number = r.number AND x.choice = decided.choice
        WHERE r.owner IS NOT NULL
        GROUP BY r.person, r.class, decided.choice
      ) AS presence
    ) AS counted
  ) AS own
  GROUP BY own.person, own.class, own.choice
) AS moves
WHERE moves.all_came > 0 AND moves.all_went > 0 AND moves.classes > 1 AND moves.came + moves.went > 0;

-- name: exposed_movers
-- Find the people whose classes have fewer values in common than required, and their classes.
-- columns: person, class, changes
SELECT m.person, m.class, m.changes
FROM $movers AS m
LEFT JOIN (
  SELECT shared.person, COUNT(*) AS n
  FROM (
    SELECT v.person, $value
    FROM (
      SELECT m.person, c.class, $value
      FROM $movers AS m
      INNER JOIN $common AS c ON c.class = m.class AND c.choice = CASE WHEN m.choice = 5 THEN 4 ELSE m.choice END
    ) AS v
    INNER JOIN (SELECT m.person, COUNT(*) AS n FROM $movers AS m GROUP BY m.person) AS totals ON totals.person = v.person
    GROUP BY v.person, totals.n, $value
    HAVING COUNT(*) = totals.n
  ) AS shared
  GROUP BY shared.person
) AS found ON found.person = m.person
WHERE COALESCE(found.n, 0) < $least;

-- name: waiting_people
-- Find the people with a change that the choice for its class does not apply; they wait with all their changes.
-- columns: person
SELECT DISTINCT r.person
FROM $rows AS r
INNER JOIN $decided AS decided ON decided.class = r.class
INNER JOIN $choices AS x ON x.number = r.number AND x.choice = decided.choice
WHERE r.before <> r.after AND x.n <> r.after;

-- name: final_rows
-- Count how often the release contains each row that moves, and each row of a class that is closed (5), by the choice for its class.
-- columns: class, the columns, before, after, final
SELECT r.class, $columns, r.before, r.after, COALESCE(x.n, 0) AS final
FROM $rows AS r
INNER JOIN $decided AS decided ON decided.class = r.class
LEFT JOIN $choices AS x ON x.number = r.number AND x.choice = decided.choice
UNION ALL
SELECT u.class, $columns, u.n AS before, u.n AS after, 0 AS final
FROM $unmoved AS u
INNER JOIN $decided AS decided ON decided.class = u.class AND decided.choice = 5;

-- name: released_changes
-- Count the rows that the release adds to the current one, or leaves out of it.
-- columns: rows
SELECT CAST(COALESCE(SUM(ABS(f.final - f.before)), 0) AS BIGINT) AS rows FROM $final AS f;

-- name: waiting_rows
-- List the rows of the new release that wait, as often as they wait.
-- engines: duckdb
SELECT $columns
FROM (SELECT $labels, $others, f.after - f.final AS n FROM $final AS f INNER JOIN $classes AS c ON c.class = f.class) AS f, RANGE(f.n);

-- name: standing_rows
-- List the rows of the earlier release that stay although the new one does not contain them, as often as they stay.
-- engines: duckdb
SELECT $columns
FROM (SELECT $labels, $others, f.final - f.after AS n FROM $final AS f INNER JOIN $classes AS c ON c.class = f.class) AS f, RANGE(f.n);

-- name: no_rows
-- Return the columns of a release without rows.
SELECT $columns FROM $fresh AS f WHERE FALSE;

-- name: merged_rows
-- Leave out the rows that wait, and add the rows that stay; 0.0 and -0.0 differ by their texts.
SELECT $columns
FROM (
  SELECT $columns, CAST($texts AS TEXT) FROM $fresh AS f
  EXCEPT ALL
  SELECT $columns, CAST($texts AS TEXT) FROM $waiting AS w
  UNION ALL
  SELECT $columns, CAST($texts AS TEXT) FROM $standing AS s
) AS merged;

-- name: shown_rows
-- Write the merged rows, sorted by the released values.
SELECT $columns FROM $merged AS m ORDER BY $order;

-- name: waiting_owners
-- List the people who wait, and since when.
-- columns: key (the person's digest), since, arrivals, departures (1 or 0 each)
SELECT
  f.owner AS key,
  COALESCE(MIN(k.since), $now) AS since,
  MAX(CASE WHEN f.after > f.final THEN 1 ELSE 0 END) AS arrivals,
  MAX(CASE WHEN f.final > f.after THEN 1 ELSE 0 END) AS departures
FROM $final AS f
INNER JOIN $classes AS c ON c.class = f.class
LEFT JOIN $earlier AS k ON COALESCE(k.key, '') = COALESCE(f.owner, '')
WHERE f.after <> f.final
GROUP BY f.owner;

-- name: waiting_kinds
-- List the distinct rows that wait, by a digest of their values, and since when.
-- columns: key, since, arrivals, departures (rows)
-- engines: duckdb
SELECT
  keyed.key, COALESCE(k.since, $now) AS since, GREATEST(keyed.missing, 0) AS arrivals, GREATEST(-keyed.missing, 0) AS departures
FROM (
  SELECT
    MD5(CAST([COALESCE('=' || CAST($labels AS TEXT), ''), COALESCE('=' || CAST($others AS TEXT), '')] AS TEXT)) AS key,
    f.after - f.final AS missing
  FROM $final AS f
  INNER JOIN $classes AS c ON c.class = f.class
  WHERE f.after <> f.final
) AS keyed
LEFT JOIN $earlier AS k ON k.key = keyed.key;

-- name: waiting_counts
-- Count who waits: people once, and rows as often as they wait.
-- columns: waiting, arrivals, departures, oldest
SELECT
  COALESCE(SUM(GREATEST(k.arrivals, k.departures)), 0) AS waiting,
  COALESCE(SUM(k.arrivals), 0) AS arrivals,
  COALESCE(SUM(k.departures), 0) AS departures,
  MIN(k.since) AS oldest
FROM $keys AS k;
