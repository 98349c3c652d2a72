"""`python -m kanon_sql`: the command line."""

from kanon_sql.cli import main

if __name__ == "__main__":
    main()
