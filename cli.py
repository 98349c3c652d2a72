"""Run the command line from a checkout: `python cli.py anonymize …`."""

from kanon_sql.cli import main

if __name__ == "__main__":
    main()
