"""What DuckDB is asked of itself: its catalog."""

LOOK_UP = """
SELECT table_name, CASE WHEN table_type = 'VIEW' THEN 'view' ELSE 'table' END
FROM information_schema.tables
WHERE table_catalog = $1 AND table_schema = $2
"""
READ_ONLY = "SELECT 1 FROM duckdb_databases() WHERE database_name = $1 AND readonly"
ALL = """
SELECT database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT temporary AND NOT internal
UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT temporary AND NOT internal
ORDER BY ALL
"""
COMMENTS = """
SELECT table_name, comment FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND comment IS NOT NULL
UNION ALL
SELECT view_name, comment FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND comment IS NOT NULL
"""
LASTING = "SELECT 1 FROM information_schema.tables WHERE table_catalog = CURRENT_DATABASE() LIMIT 1"
