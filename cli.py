"""Run the command line from a checkout: `python cli.py anonymize …`."""

from kanon_sql.cli import process

if __name__ == "__main__":
    process()
