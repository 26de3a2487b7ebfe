"""`python -m hlodb` is the command line."""

import sys

from hlodb.cli import main

if __name__ == "__main__":
    sys.exit(main())
