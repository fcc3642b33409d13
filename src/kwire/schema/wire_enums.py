"""Api keys and error codes as enums: ``ApiKey.METADATA``, ``ErrorCode.UNSUPPORTED_VERSION``, with the names of Kafka's `ApiKeys` and
`Errors`.

Values read from the wire stay plain integers, because a newer Kafka may send unlisted ones. ``tools/build_stubs.py`` makes the stub.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from kwire.schema.error_codes import error_names
from kwire.schema.model import snake_name
from kwire.schema.stored import catalog

__all__ = ["ApiKey", "ErrorCode", "api_key_names"]


def api_key_names() -> dict[str, int]:
    """Return the names of all api keys; a renamed api's newer name comes first (56: `ALTER_PARTITION`, then `ALTER_ISR`)."""
    known: Any = catalog()
    names = {snake_name(known.api_name(key)).upper(): key for key in known.api_keys}
    requests = (name for name in known.messages if name.endswith("Request"))
    older = {snake_name(name.removesuffix("Request")).upper(): known[name].api_key for name in requests if _is_renamed(known, name)}
    return names | older


def _is_renamed(known: Any, name: str) -> bool:
    return name.removesuffix("Request") not in {known.api_name(key) for key in known.api_keys}


ApiKey = IntEnum("ApiKey", api_key_names(), module=__name__)  # type: ignore[misc]
ApiKey.__doc__ = "API keys of Kafka's requests by name, such as `ApiKey.PRODUCE`; members are integers."
ErrorCode = IntEnum("ErrorCode", {name: code for code, name in error_names().items()}, module=__name__)  # type: ignore[misc]
ErrorCode.__doc__ = "Kafka's error codes by name, such as `ErrorCode.UNSUPPORTED_VERSION`; members are integers."
