"""`python -m kwire` is `kwire`."""

from __future__ import annotations

import sys

from kwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
