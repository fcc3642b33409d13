"""Reader of truncated messages: bodies cut by snaplen or a gap, or malformed further down.

Fields before the fault are set. The field with the fault is not set (reading it raises AttributeError), except that

* an array holds its whole elements if its count was read; the last one may be an incomplete struct;
* a partial struct holds its whole fields;
* fields that the version lacks hold their defaults, tagged ones only after a whole tagged section; unknown tags are those before the fault.

So the error's path leads to the fault through existing objects. An array ends where its bytes end, whatever its count. Such bodies are
rare, so the pure backend's walk reads them for both backends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kwire.codec._pure.primitives import Break, as_buffer, join_path
from kwire.codec._pure.walk import Anomaly, Walk
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.plan import Plan
from kwire.errors import Fault, WireError, wire_error

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Anomaly", "Prefix", "PrefixReader", "decode_prefix", "read_prefix"]


class Prefix(NamedTuple):
    """Result of a partial read; `counts` has, by attribute, the claimed count of the array in which reading ended."""

    message: Any
    error: WireError | None
    end: int
    anomalies: list[Anomaly]
    counts: dict[str, int]


class PrefixReader:
    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source

    def read(self, plan: Plan, data: Any, offset: int = 0, *, limit: int | None = None, strict: bool = True) -> Prefix:
        """Read one message up to its end or the first fault, without raising; a length beyond `limit` is `BadLength`."""
        buffer = as_buffer(data)
        if not 0 <= offset <= len(buffer):
            raise ValueError(f"offset {offset} is outside the buffer of {len(buffer)} bytes")
        walk = Walk(plan, self._source.classes(plan.message), buffer, offset, "strict" if strict else "replace", True, limit)
        message = walk.new(0)
        error = None
        try:
            walk.fill(message, 0)
        except Break as fault:
            error = wire_error(fault.code, fault.offset, join_path(fault.steps), plan.message, plan.api_key, plan.version)
        return Prefix(message, error, walk.pos, walk.anomalies, walk.counts)

    def decode_prefix(
        self, name: str, data: Buffer, version: int, *, offset: int = 0, fields: Sequence[str] | None = None, strict: bool = True
    ) -> tuple[Any, WireError | None]:
        """Decode one message as far as its bytes go, such as a body that was cut by a snap length.

        Fields before the fault are set; reading another one raises AttributeError. A list holds its whole elements, of which the last
        struct may be incomplete.

        Arguments:
            name: name of the message.
            data: available bytes; any contiguous buffer.
            version: version of the message.
            offset: start of the message, in bytes.
            fields: paths of the fields to decode; the others are skipped.
            strict: stop at invalid UTF-8; if False, replace it, as Java's readers do.

        Returns:
            The message, and the error that ended the reading, or None. Trailing bytes are an error too, but the message is whole.

        Raises:
            KwireError: no such message, or a path names no field of it.
            UnsupportedVersion: the message has no such version.
            ValueError: `offset` is outside `data`.
        """
        decoder = self._source.decoder(name, version, fields)
        try:
            return decoder.decode_whole(data, offset, not strict), None
        except WireError as error:
            if error.code is Fault.TRAILING_BYTES:
                return decoder.decode(data, offset, not strict)[0], error
        read = self.read(decoder.plan, data, offset, strict=strict)
        if read.error is None:
            raise AssertionError(f"{name} v{version} can be read, although the decoder refused it")
        return read.message, read.error


_PREFIXES: Final = PrefixReader(compiled())

decode_prefix: Final = _PREFIXES.decode_prefix
read_prefix: Final = _PREFIXES.read
