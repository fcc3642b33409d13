"""Client software names and versions: Kafka's check, and replacement of invalid characters (KIP-511)."""

from __future__ import annotations

import re
from typing import Final, Literal

__all__ = ["SoftwareRule", "clean_software_text", "is_valid_software", "is_valid_software_text", "software_faults"]

SoftwareRule = Literal["released", "proposed"]

# As in Kafka's ApiVersionsRequest. `\Z`, for Java's `matches` takes no trailing newline.
_RELEASED: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?\Z")
# As in KIP-511's text: dots and hyphens may stand at the ends too.
_PROPOSED: Final = re.compile(r"[.\-a-zA-Z0-9]+\Z")

_OTHER: Final = re.compile(r"[^a-zA-Z0-9.\-]")


def is_valid_software_text(text: str, rule: SoftwareRule = "released") -> bool:
    """Return whether Kafka accepts a software name or version.

    Arguments:
        rule: `released` for the pattern of brokers; `proposed` for the wider pattern in KIP-511.
    """
    return (_RELEASED if rule == "released" else _PROPOSED).match(text) is not None


def is_valid_software(name: str, version: str, rule: SoftwareRule = "released") -> bool:
    """Return whether a broker accepts `client_software_name` and `client_software_version` in ApiVersions v3 or later.

    If not, a broker answers INVALID_REQUEST (42). Versions below 3 have no such fields. Source: `ApiVersionsRequest.isValid`.
    """
    return is_valid_software_text(name, rule) and is_valid_software_text(version, rule)


def software_faults(name: str, version: str, rule: SoftwareRule = "released") -> tuple[str, ...]:
    """Return the fields that a broker would reject; arguments as for `is_valid_software`."""
    fields = (("client_software_name", name), ("client_software_version", version))
    return tuple(field for field, text in fields if not is_valid_software_text(text, rule))


def clean_software_text(text: str) -> str:
    """Clean a text as librdkafka does: replace other characters by hyphens, then strip the ends to letters and digits; may be empty."""
    return _OTHER.sub("-", text).strip(".-")
