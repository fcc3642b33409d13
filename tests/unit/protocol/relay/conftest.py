from __future__ import annotations

from typing import Any

import pytest

from kwire.codec.impl import load_twin


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest) -> Any:
    """The module of relays of each backend."""
    return load_twin("protocol", "relay", request.param)
