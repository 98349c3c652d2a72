"""`python -m kanon_sql`: the command line."""

from kanon_sql.cli import process

if __name__ == "__main__":
    process()
