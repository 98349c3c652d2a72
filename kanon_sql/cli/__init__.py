"""The command line: parse, one library call, print."""

import sys

from kanon_sql.errors import KanonError


def main() -> None:
    """Run `kanon`; a deliberate error is one line on standard error and exit code 2."""
    from kanon_sql.cli.app import app

    try:
        app()
    except KanonError as error:
        print("kanon:", " ".join(str(error).splitlines()), file=sys.stderr)
        sys.exit(2)
