"""`python -m kanon_sql`: the command line.

Python looks for modules in the current folder first, which is often that of the data: not any more from here on.
"""

import os
import sys

if not sys.flags.safe_path and not os.path.samefile(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "."):
    sys.path.remove(os.getcwd())

from kanon_sql.cli import process

if __name__ == "__main__":
    process()
