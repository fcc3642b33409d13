from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kwire.codec.impl import Twin, load_twin


@pytest.fixture(scope="session")
def make(twin: Twin) -> Callable[..., Any]:
    """The class of connections of each twin."""
    made: Callable[..., Any] = load_twin("protocol", "tracker", twin).Connection
    return made
