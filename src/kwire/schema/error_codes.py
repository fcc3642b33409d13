"""Names of Kafka's error codes, as `org.apache.kafka.common.protocol.Errors` of every release has them."""

from __future__ import annotations

from functools import cache

from kwire.schema.stored import read_data

__all__ = ["error_name", "error_names"]


@cache
def error_names() -> dict[int, str]:
    """Error codes to names: 0 is `NONE`, 35 is `UNSUPPORTED_VERSION`."""
    return {int(code): name for code, name in read_data("error_codes.json").items()}


def error_name(code: int) -> str:
    """The name of an error code, or the number as text when no release has it.

    Arguments:
        code: as on the wire; -1 is `UNKNOWN_SERVER_ERROR`.
    """
    return error_names().get(code) or str(code)
