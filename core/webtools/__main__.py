"""`python -m webtools` is the command `webtools`."""

import sys

from webtools.cli import main

if __name__ == "__main__":
    sys.exit(main())
