"""Names of Kafka's error codes (`org.apache.kafka.common.protocol.Errors`, all releases)."""

from __future__ import annotations

from functools import cache

from kwire.schema.stored import read_data

__all__ = ["error_name", "error_names"]


@cache
def error_names() -> dict[int, str]:
    """Return names by error code: 0 is `NONE`, 35 is `UNSUPPORTED_VERSION`."""
    return {int(code): name for code, name in read_data("error_codes.json").items()}


def error_name(code: int) -> str:
    """Return the name of an error code, or the number as text if no release has it.

    Arguments:
        code: error code of a response.
    """
    return error_names().get(code) or str(code)
