"""`python -m kwire` is `kwire`.

`python -m` puts the current folder in front of the path. It is taken away at once, so that no `secrets.py` among captures of other people
is run; only a `kwire.py` there comes before this file. The console script and, from Python 3.11 on, `python -P -m kwire` do not look there.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False) and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109 - pathlib would be imported from there
    del sys.path[0]

from kwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
