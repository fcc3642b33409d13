"""Version negotiation: what Kafka accepts as a client's software name and version (KIP-511)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["API_VERSIONS", "is_valid_software", "is_valid_software_text"]

API_VERSIONS: Final = 18

# As released in Kafka's ApiVersionsRequest; the pattern in KIP-511's text is wider. `\Z`, for Java's `matches` takes no trailing newline.
_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?\Z")


def is_valid_software_text(text: str) -> bool:
    """Whether Kafka takes this text as a software name or a software version."""
    return _SOFTWARE.match(text) is not None


def is_valid_software(name: str, version: str) -> bool:
    """Whether a broker takes this identity in an ApiVersions request of version 3 or later.

    Arguments:
        name: `client_software_name`.
        version: `client_software_version`.

    A broker answers INVALID_REQUEST (42) to what does not pass. Below version 3 nothing is checked. Source: KIP-511 as released,
    `ApiVersionsRequest.isValid`.
    """
    return is_valid_software_text(name) and is_valid_software_text(version)
