"""Choice of this package's backend, by the rules of `kwire.codec.impl`: packet scanner, TCP reassembly, TLS records.

State is stored in the form of the pure backend and converted to the chosen backend when read.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from kwire.codec.impl import Twin, load_native, load_twin

if TYPE_CHECKING:
    from kwire.capture.carry import SeriesCarry
    from kwire.capture.tls.connection import TlsConnection
    from kwire.capture.tls.records import Records, RecordState

__all__ = [
    "MODULES", "backend", "packets", "record_stream", "series_carry", "tls_connection",
]  # fmt: skip

# Of the native twin. Those of TCP are loaded when they are first needed, but they must be there.
MODULES: Final = (
    "packets", "flow", "connection", "sink", "tcp", "carry", "tls_records", "tls_record_cipher",
    "tls_connection",
)  # fmt: skip


def _choose() -> tuple[Twin, ModuleType]:
    native = load_native("capture", "packets", "packet scanner", MODULES)
    return ("pure", load_twin("capture", "packets", "pure")) if native is None else ("native", native)


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]
packets: Final[ModuleType] = _chosen[1]


def series_carry(share: tuple[int, int] = (0, 1), by_hosts: bool = False) -> SeriesCarry:
    """Create the initial state of a series, for one share of its connections (`kwire.capture.carry.is_of_share`)."""
    # by name: the pure one imports this module
    room = importlib.import_module("kwire.capture.carry") if backend == "pure" else load_twin("capture", "carry", "native")
    made: SeriesCarry = room.SeriesCarry(share, by_hosts)
    return made


def record_stream(state: RecordState | None = None) -> Records:
    """Create a splitter of one direction of TLS into records, initially or from a stored state."""
    made: Records = _record_stream(backend)(state)
    return made


@cache
def _record_stream(twin: Twin) -> Any:
    # by name: the pure one imports this module
    room = importlib.import_module("kwire.capture.tls.records") if twin == "pure" else load_twin("capture", "tls_records", "native")
    return room.RecordStream


def tls_connection() -> TlsConnection:
    from kwire.capture.tls.connection import TlsConnection  # it imports this module

    if backend == "pure":
        return TlsConnection()
    made: TlsConnection = load_twin("capture", "tls_connection", "native").TlsConnection.import_state(TlsConnection())
    return made
