"""What Kafka accepts as a client's software name and version, and cleaning a name until it is accepted (KIP-511)."""

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
    """Whether Kafka takes this text as a software name or a software version.

    Arguments:
        text: the name or the version.
        rule: `released`, what brokers do; `proposed`, the wider pattern of KIP-511's text.
    """
    return (_RELEASED if rule == "released" else _PROPOSED).match(text) is not None


def is_valid_software(name: str, version: str, rule: SoftwareRule = "released") -> bool:
    """Whether a broker takes this identity in an ApiVersions request of version 3 or later.

    Arguments:
        name: `client_software_name`.
        version: `client_software_version`.
        rule: as for `is_valid_software_text`.

    A broker answers INVALID_REQUEST (42) to what does not pass. Below version 3 nothing is checked. Source: KIP-511 as released,
    `ApiVersionsRequest.isValid`.
    """
    return is_valid_software_text(name, rule) and is_valid_software_text(version, rule)


def software_faults(name: str, version: str, rule: SoftwareRule = "released") -> tuple[str, ...]:
    """Which of `client_software_name` and `client_software_version` a broker would refuse; arguments as for `is_valid_software`."""
    fields = (("client_software_name", name), ("client_software_version", version))
    return tuple(field for field, text in fields if not is_valid_software_text(text, rule))


def clean_software_text(text: str) -> str:
    """The text as a broker takes it: other characters become hyphens, and the ends are cut back to letters and digits.

    Returns:
        Text that `is_valid_software_text` passes, or an empty one where nothing is left. So does librdkafka with its own names.
    """
    return _OTHER.sub("-", text).strip(".-")
