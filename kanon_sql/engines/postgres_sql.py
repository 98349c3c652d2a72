"""Statements on PostgreSQL's catalog and session, and for copying rows out of it."""

# Dates as ISO, floats in full, backslashes plain, text as Unicode. On a standby, and by default_transaction_read_only,
# transactions are read-only, so that they cannot even create temporary tables.
SESSION = """
SELECT
  pg_catalog.set_config('datestyle', 'ISO', false),
  pg_catalog.set_config('extra_float_digits', '1', false),
  pg_catalog.set_config('standard_conforming_strings', 'on', false),
  pg_catalog.set_config('client_encoding', 'UTF8', false),
  pg_catalog.current_setting('transaction_read_only'),
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY')
"""
# The user's search_path, including pg_catalog and pg_temp; before PIN, only qualified names are safe.
PATH = "SELECT pg_catalog.current_schemas(true)::pg_catalog.text[], pg_catalog.current_schema()"
# Our functions, operators and types are the server's own, whatever is in the user's search_path.
PIN = "SET LOCAL search_path = pg_catalog, pg_temp"
# The planner expects few matches of several keys, and would sort all rows, or scan all classes for every row.
HASH_JOINS = "SELECT set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true)"
LOOK_UP = """
SELECT r.schema, r.name, r.form, r.name = w.name AND r.schema = COALESCE(w.schema, r.schema) AS exact
FROM
  (SELECT %(name)s::text AS name, %(schema)s::text AS schema, %(catalog)s::text AS catalog) AS w,
  (
    SELECT
      CASE WHEN n.oid = pg_my_temp_schema() THEN 'pg_temp' ELSE n.nspname END AS schema,
      c.relname AS name,
      CASE c.relkind
        WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table'
      END AS form,
      ROW_NUMBER() OVER (PARTITION BY c.relname ORDER BY p.place NULLS LAST) = 1 AND p.place IS NOT NULL AS visible
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace,
      LATERAL (
        SELECT COALESCE(
          array_position(%(path)s::text[], n.nspname::text), CASE WHEN n.oid = pg_my_temp_schema() THEN 0 END
        ) AS place
      ) AS p
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm')
  ) AS r
WHERE lower(r.name COLLATE "default") = lower(w.name)
  AND CASE WHEN w.schema IS NULL THEN r.visible ELSE lower(r.schema COLLATE "default") = lower(w.schema) END
  AND COALESCE(w.catalog, current_database()) = current_database()
ORDER BY exact DESC, r.schema, r.name
"""
MATERIALIZED = "materialized view"
LONGEST = 63  # bytes of a name
SCHEMAS = """
SELECT nspname FROM pg_namespace WHERE lower(nspname COLLATE "default") = lower(%s::text) ORDER BY nspname
"""
ALL = r"""
SELECT nspname, relname
FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'
ORDER BY nspname, relname
"""
MAY_CREATE = "SELECT CASE WHEN %s <> 'pg_temp' THEN has_schema_privilege(%s, 'CREATE') ELSE TRUE END, current_user"
COMMENTS = """
SELECT c.relname, d.description
FROM pg_class AS c JOIN pg_description AS d ON d.objoid = c.oid
WHERE d.classoid = 'pg_class'::regclass AND d.objsubid = 0
  AND c.relnamespace = CASE %s::text
    WHEN 'pg_temp' THEN pg_my_temp_schema() ELSE (SELECT oid FROM pg_namespace WHERE nspname = %s::text) END
"""
# The owner in every row, then a privilege of another role on the relation or one of its columns.
RIGHTS = """
WITH relation AS (SELECT oid, relowner, relacl FROM pg_class WHERE oid = %s::regclass),
rights AS (
  SELECT NULL::name AS name, (aclexplode(relacl)).* FROM relation
  UNION ALL
  SELECT a.attname, (aclexplode(a.attacl)).*
  FROM pg_attribute AS a JOIN relation ON a.attrelid = relation.oid
  WHERE a.attnum > 0 AND NOT a.attisdropped
)
SELECT
  pg_get_userbyid(relowner), r.privilege_type, CASE WHEN r.grantee <> 0 THEN pg_get_userbyid(r.grantee) END,
  r.is_grantable, r.name
FROM relation LEFT JOIN rights AS r ON r.grantee <> relowner
ORDER BY r.name NULLS FIRST, r.grantee, r.privilege_type
"""
LOCK_WRITES = "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE"
# Whether policies hide rows of a table from us, and whether a publication copies its rows but would not copy a DELETE:
# it needs a replica identity, or is not to publish deletions.
REFILL = """
SELECT
  row_security_active(c.oid),
  EXISTS (
    SELECT FROM pg_publication_tables AS t JOIN pg_publication AS p ON p.pubname = t.pubname
    WHERE t.schemaname = n.nspname AND t.tablename = c.relname AND p.pubtruncate
      AND NOT (p.pubdelete AND (c.relreplident = 'f' OR EXISTS (
        SELECT FROM pg_index AS i
        WHERE i.indrelid = c.oid
          AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident ELSE FALSE END
      )))
  )
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = %s::regclass
"""
# Everything that a relation takes with it, or that prevents dropping it: in words, the columns that it needs, the
# statement that creates it again (NULL: none), and whether that needs a table. The rule of a view and the
# index of a constraint are parts of these.
ATTACHED = """
WITH r AS (
  SELECT c.oid, c.relkind, c.reloptions, format('%%I.%%I', n.nspname, c.relname) AS name
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.oid = %s::regclass
),
a AS (SELECT a.* FROM pg_attribute AS a JOIN r ON a.attrelid = r.oid WHERE a.attnum > 0 AND NOT a.attisdropped),
i AS (
  SELECT i.indexrelid AS oid
  FROM pg_index AS i JOIN r ON i.indrelid = r.oid
  WHERE NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.conrelid = r.oid)
)
SELECT DISTINCT
  'the ' || CASE
    WHEN w.ev_class <> r.oid THEN pg_describe_object('pg_class'::regclass, w.ev_class, 0)
    ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END,
  ARRAY[]::text[], NULL, TRUE
FROM r
  JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = r.oid
  LEFT JOIN pg_rewrite AS w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
WHERE d.deptype IN ('a', 'n')
  AND NOT COALESCE(w.ev_class = r.oid AND w.rulename = '_RETURN', FALSE)
  AND NOT (d.classid = 'pg_class'::regclass AND d.objid IN (SELECT oid FROM i))
UNION ALL
SELECT
  'the ' || pg_describe_object('pg_class'::regclass, i.oid, 0),
  ARRAY(
    SELECT a.attname::text FROM pg_depend AS d JOIN a ON a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND d.objid = i.oid AND d.refclassid = 'pg_class'::regclass
      AND d.refobjid = a.attrelid
  ),
  pg_get_indexdef(i.oid), TRUE
FROM i
UNION ALL
SELECT
  'the comment on the column ' || a.attname, ARRAY[a.attname::text],
  format('COMMENT ON COLUMN %%s.%%I IS %%L', r.name, a.attname, d.description), FALSE
FROM r JOIN a ON TRUE
  JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = r.oid AND d.objsubid = a.attnum
UNION ALL
SELECT
  'the statistics target of the column ' || a.attname, ARRAY[a.attname::text],
  format('ALTER TABLE %%s ALTER %%I SET STATISTICS %%s', r.name, a.attname, a.attstattarget), TRUE
FROM r JOIN a ON TRUE
WHERE a.attstattarget >= 0
UNION ALL
SELECT
  'the storage parameter ' || o.option_name, ARRAY[]::text[],
  format('ALTER TABLE %%s SET (%%I = %%L)', r.name, o.option_name, o.option_value), TRUE
FROM r, LATERAL pg_options_to_table(r.reloptions) AS o
WHERE r.relkind IN ('r', 'p', 'm')
ORDER BY 1
"""
# Row security on a relation or below a view, and for which role: a view reads with its owner's privileges.
HIDDEN = """
WITH RECURSIVE beneath AS (
  SELECT %s::regclass::oid AS relation, oid AS reader FROM pg_roles WHERE rolname = current_user
  UNION
  SELECT
    d.refobjid,
    CASE WHEN c.reloptions && ARRAY['security_invoker=true', 'security_invoker=on', 'security_invoker=1']
      THEN b.reader ELSE c.relowner END
  FROM beneath AS b
    JOIN pg_class AS c ON c.oid = b.relation
    JOIN pg_rewrite AS w ON w.ev_class = b.relation
    JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
      AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> b.relation
)
SELECT
  n.nspname, c.relname, r.rolname,
  ARRAY(SELECT polname::text FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polcmd IN ('r', '*') ORDER BY polname)
FROM beneath AS b
  JOIN pg_class AS c ON c.oid = b.relation
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_roles AS r ON r.oid = b.reader
WHERE c.relrowsecurity AND NOT r.rolsuper AND NOT r.rolbypassrls
  AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE'))
ORDER BY n.nspname, c.relname, r.rolname
"""
READS_FROM = """
WITH RECURSIVE beneath AS (
  SELECT %s::regclass::oid AS relation
  UNION
  SELECT d.refobjid
  FROM beneath AS b
    JOIN pg_rewrite AS w ON w.ev_class = b.relation
    JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
      AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> b.relation
)
SELECT 1 FROM beneath WHERE relation = %s::regclass
"""
LABELS = """
SELECT a.attname, l.provider, l.label
FROM pg_seclabel AS l JOIN pg_attribute AS a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
WHERE l.classoid = 'pg_class'::regclass AND l.objoid = %s::regclass AND l.provider IN ('anon', 'k_anonymity')
ORDER BY a.attnum, l.provider
"""
COLUMNS = """
WITH RECURSIVE described AS (
  SELECT attnum, attname, atttypid AS type, atttypmod AS modifier
  FROM pg_attribute
  WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT attnum, attname, typbasetype, CASE WHEN modifier = -1 THEN typtypmod ELSE modifier END
  FROM described JOIN pg_type AS domain ON domain.oid = type
  WHERE typtype = 'd'
)
SELECT
  attname, format_type(type, modifier), format_type(type, NULL),
  CASE WHEN typtype = 'b' AND typelem = 0 AND typnamespace <> 'pg_catalog'::regnamespace THEN '' ELSE typcategory END
FROM described JOIN pg_type AS t ON t.oid = type
WHERE typtype <> 'd'
ORDER BY attnum
"""
# Whether DuckDB finds the same values of some columns equal: no collation ignores differences, and all types are
# PostgreSQL's own (16384 is the first OID of others) or enumerations.
EQUAL_ELSEWHERE = """
WITH RECURSIVE described AS (
  SELECT atttypid AS type, attcollation AS rules
  FROM pg_attribute
  WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname = ANY(%s::text[])
  UNION ALL
  SELECT typbasetype, rules FROM described JOIN pg_type AS domain ON domain.oid = type WHERE typtype = 'd'
)
SELECT BOOL_AND((t.typtype = 'e' OR t.oid < 16384) AND COALESCE(c.collisdeterministic, TRUE))
FROM described JOIN pg_type AS t ON t.oid = type LEFT JOIN pg_collation AS c ON c.oid = rules
WHERE t.typtype <> 'd'
"""
# OFFSET 0 keeps the lengths from being computed twice. No text is read for its length, however long it is.
SIZE = """
SELECT COUNT(*), COALESCE(SUM(r.length), 0), COALESCE(MAX(r.length), 0), COUNT(*) FILTER (WHERE r.late)
FROM (SELECT {lengths} AS length, {late} AS late FROM {table} OFFSET 0) AS r
"""
LENGTH = "COALESCE(CAST(OCTET_LENGTH(CAST({} AS TEXT)) AS BIGINT), 0)"
LATE = "({} >= '294247-01-01' AND {} < 'infinity')"  # timestamps after DuckDB's last
DESCRIBED = """
SELECT
  d.name, format_type(t.oid, d.modifier), format_type(t.oid, NULL),
  CASE WHEN typtype = 'b' AND typelem = 0 AND typnamespace <> 'pg_catalog'::regnamespace THEN '' ELSE typcategory END
FROM unnest(%s::text[], %s::oid[], %s::integer[]) WITH ORDINALITY AS d (name, type, modifier, place)
  JOIN pg_type AS t ON t.oid = d.type
ORDER BY d.place
"""
# Every value is quoted and NULL is not, so that no value can be read as NULL or as the end of a line.
CSV = r"FORMAT csv, NULL '\N', FORCE_QUOTE *"
READ = r"""
COPY {} FROM {path} (
  FORMAT csv, HEADER false, DELIMITER ',', QUOTE '"', ESCAPE '"', NULLSTR '\N', ALLOW_QUOTED_NULLS false,
  NEW_LINE '\n', AUTO_DETECT false, PARALLEL false
)
"""
MEASURE = r"""
SELECT
  COALESCE(BOOL_AND(REGEXP_FULL_MATCH({}, '-?\d+(\.\d+)?')), TRUE),
  COALESCE(MAX(LENGTH(SPLIT_PART(LTRIM({}, '-'), '.', 1))), 1),
  COALESCE(MAX(LENGTH(RTRIM(SPLIT_PART({}, '.', 2), '0'))), 0)
FROM {}
"""
# PostgreSQL prints `0044-03-15 00:00:00 BC`, which DuckDB reads as a day after Christ; its own is `0044-03-15 (BC) …`.
BEFORE_CHRIST = r"""
CASE
  WHEN {} < '0001-01-01' THEN REGEXP_REPLACE(CAST({} AS TEXT), '^(\S+)(.*) BC$', '\1 (BC)\2')
  ELSE CAST({} AS TEXT)
END
"""
BEFORE_CHRIST_AGAIN = r"REGEXP_REPLACE(text, '^(\d+-\d\d-\d\d) \(BC\)(.*)$', '\1\2 BC')"
AFTER_DUCKDB = f"UPDATE {{}} SET text = {BEFORE_CHRIST_AGAIN} WHERE text LIKE '%(BC)%'"
# Reasons for a failed connection, by the text of libpq's error.
REFUSALS = {
    "authentication|password|role .* does not exist|pg_hba": "it refuses the user or the password",
    "database .* does not exist": "it has no database of that name",
    "translate host name|resolve host|Name or service not known": "there is no host of that name",
    "refused|No such file|Is the server running": "nothing answers at that host and port; is the server running?",
    "timeout|timed out": "it did not answer in time",
    "SSL|certificate|GSS": "it and we do not agree about encryption; see sslmode",
    "too many|starting up|shutting down|recovery": "it takes no connections now; try again later",
}
READ_ONLY = (
    "this session of PostgreSQL is read-only (it is on a standby, or default_transaction_read_only is on), so there "
    "can be no {} in it; write a file with `output`, or connect to the primary as a role that may write"
)
NO_URL = (
    "a PostgreSQL database is named as postgresql://user:password@host:port/database, "
    "with %40 for @ and %2F for / in the password; the given name reads otherwise"
)
