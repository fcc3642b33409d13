"""Record batches: `kwire.codec.records` under its public name, so that ``import kwire.records`` works."""

import sys
from typing import TYPE_CHECKING

from kwire.codec import records

if TYPE_CHECKING:
    from kwire.codec.records import *  # noqa: F403

sys.modules[__name__] = records
