"""Reads a message as far as its bytes go: bodies that snaplen or a gap has cut, or that break a rule further down.

What was whole is given. Fields come in the order of the wire, so all before the fault are set, and the field in which the fault lies is not
(reading it raises AttributeError, as for a field outside a projection), but for what can be given in part:

* an array holds its whole elements, once its count was read; the last one may be a struct that was cut;
* a struct, once it has begun, holds its fields that were whole, be it none;
* fields that the version does not have hold their defaults, tagged ones only behind a whole tagged section; unknown tags those before the
  fault.

So the error's path leads to the fault through objects that are there: ``topics[2].partitions[5].leader_id`` says that topic 2 and its
partition 5 are not whole, and that all before them is. Counts are not held against the bytes left, as they are elsewhere; an array ends
where its bytes end.

Such bodies are few, so there is one reader for both twins, the pure twin's walk, and it makes the objects of either.
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
    """Attributes:
    message: what there is of it.
    error: what ended the reading, with its place; None for a whole message.
    end: where reading ended.
    anomalies: what was passed over, as Java's readers do.
    counts: by attribute, how many elements the array has in which reading ended, as the number in front of it says.
    """

    message: Any
    error: WireError | None
    end: int
    anomalies: list[Anomaly]
    counts: dict[str, int]


class PrefixReader:
    """Reads messages of a catalog as far as they go.

    Arguments:
        source: the compiled catalog.
    """

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source

    def read(self, plan: Plan, data: Any, offset: int = 0, *, limit: int | None = None, strict: bool = True) -> Prefix:
        """Read one message as far as its bytes go; never raises for what the bytes do, nor minds what follows the message.

        Arguments:
            plan: of a message of the catalog.
            data: what there is of it; any contiguous buffer.
            offset: where it begins, in bytes.
            limit: where it ends at the latest, when more bytes belong to it than there are. A length that reaches beyond is `BadLength`
                then: no bytes that follow could make it true.
            strict: text that is not UTF-8 is a fault; else it is replaced, as Java's readers do.

        Raises:
            ValueError: `offset` is outside `data`.
        """
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
        """Decode one message as far as its bytes go; see the module for what a cut one holds.

        Arguments:
            name: name of the message.
            data: what there is of it; any contiguous buffer.
            version: the version it is in.
            offset: where it begins, in bytes.
            fields: paths of the fields to decode; the others are stepped over.
            strict: text that is not UTF-8 is a fault; else it is replaced, as Java's readers do.

        Returns:
            The message, and what ended the reading, with its place, or None. Bytes left over are an error too; the message is whole then.

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
