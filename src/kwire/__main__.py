"""`python -m kwire`, which runs `kwire`.

`python -m` puts the current folder first on the path. It is removed at once, so that a `secrets.py` beside untrusted captures is not
imported; only a `kwire.py` there would be imported before this file. The console script and, from Python 3.11 on, `python -P -m kwire` do
not search that folder.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False) and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109 - pathlib would be imported from there
    del sys.path[0]

from kwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
