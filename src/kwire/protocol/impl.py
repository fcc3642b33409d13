"""Choice of this package's backend, by the rules of `kwire.codec.impl`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from kwire.codec.described import describe
from kwire.codec.impl import Twin, load_native
from kwire.protocol.relay.budget import HeldBudget as PureHeldBudget
from kwire.protocol.relay.counters import RelayCounters as PureCounters
from kwire.protocol.relay.lease import Lease as PureLease
from kwire.protocol.relay.relay import Relay as PureRelay
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.protocol.tracking.direction_detection import DirectionDetector as PureDetector

if TYPE_CHECKING:
    from kwire.protocol.secrets.frame_blanking import FrameBlanker

__all__ = ["Connection", "DirectionDetector", "HeldBudget", "Lease", "Relay", "RelayCounters", "backend", "frame_blanker"]


def _choose() -> tuple[Twin, type[PureConnection], type[PureDetector]]:
    native = load_native("protocol", "tracker", "tracker")
    detection = None if native is None else load_native("protocol", "direction_detection", "tracker")
    if native is None or detection is None:
        return "pure", PureConnection, PureDetector
    describe(native.Connection, PureConnection)
    describe(detection.DirectionDetector, PureDetector)
    return "native", native.Connection, detection.DirectionDetector


def _choose_relay() -> tuple[type[PureRelay], type[PureHeldBudget], type[PureCounters], type[PureLease]]:
    native = load_native("protocol", "relay", "relay")
    if native is None:
        return PureRelay, PureHeldBudget, PureCounters, PureLease
    return native.Relay, native.HeldBudget, native.RelayCounters, native.Lease


@cache
def frame_blanker() -> type[FrameBlanker]:
    """Return the class that blanks frames, loaded on first use."""
    from kwire.protocol.secrets.frame_blanking import FrameBlanker

    native = load_native("protocol", "frame_blanking", "blanking of frames")
    return FrameBlanker if native is None else native.FrameBlanker


_chosen: Final = _choose()
_relay: Final = _choose_relay()
backend: Final[Twin] = _chosen[0]
Connection: Final[type[PureConnection]] = _chosen[1]
DirectionDetector: Final[type[PureDetector]] = _chosen[2]
Relay: Final[type[PureRelay]] = _relay[0]
HeldBudget: Final[type[PureHeldBudget]] = _relay[1]
RelayCounters: Final[type[PureCounters]] = _relay[2]
Lease: Final[type[PureLease]] = _relay[3]
