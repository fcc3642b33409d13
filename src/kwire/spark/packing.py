"""Packs of small series that one task reads, as Spark packs small files, but only for its own sources.

A task costs a tenth of a second of CPU to start and a few files, and a fleet that is captured pod by pod has ten thousand series. A pack
stays together when its analysis is appended to; one that has grown too large for one task is divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kwire.spark.planning import SeriesPlan

__all__ = ["OPEN_BYTES", "PACK_BYTES", "SMALLEST_PACK_BYTES", "pack_limit", "packs_of", "repacked"]

OPEN_BYTES: Final = 256 << 10
"""What a series costs beside its bytes, as the bytes of a series that cost as much to read: opening it, ending it."""

PACK_BYTES: Final = 128 << 20
"""Maximum cost of a pack in bytes, including `OPEN_BYTES` per series."""

SMALLEST_PACK_BYTES: Final = 16 << 20
"""A pack of less is not worth a task, however many cores are idle."""


def pack_limit(sizes: Iterable[int], slots: int) -> int:
    """Return the highest cost of a pack in bytes, which leaves all cores something to do."""
    whole = sum(size + OPEN_BYTES for size in sizes)
    return min(PACK_BYTES, max(SMALLEST_PACK_BYTES, -(-whole // slots)))


def packs_of(sizes: Sequence[int], names: Sequence[str], limit: int) -> list[list[int]]:
    """Pack series in their order, and return their indexes; a pack, whose state is kept by names, has no name twice."""
    packs: list[list[int]] = []
    cost, held = 0, set[str]()
    for index, (size, name) in enumerate(zip(sizes, names, strict=True)):
        more = size + OPEN_BYTES
        if not packs or cost + more > limit or name in held:
            packs.append([])
            cost, held = 0, set()
        packs[-1].append(index)
        cost += more
        held.add(name)
    return packs


def repacked(plans: Sequence[SeriesPlan], slots: int, number: int) -> tuple[list[SeriesPlan], int]:
    """Divide the packs of an earlier run that have grown beyond one task, by their fresh bytes; return plans and next free number.

    The first task keeps the pack's number, and with it the sums of closed connections.
    """
    packs: dict[int, list[int]] = {}
    for index, plan in enumerate(plans):
        if plan.packed:
            packs.setdefault(plan.number, []).append(index)
    fresh = {index: plan.fresh_bytes for index, plan in enumerate(plans)}
    limit = 2 * pack_limit(fresh.values(), slots)
    found = list(plans)
    for members in packs.values():
        if not any(plans[index].fresh for index in members):
            continue
        for place, pack in enumerate(packs_of([fresh[index] for index in members], [plans[index].name for index in members], limit)):
            if not place:
                continue
            for at in pack:
                plan = plans[members[at]]
                earlier = tuple(replace(each, with_sums=False) for each in plan.earlier)
                found[members[at]] = replace(plan, number=number, earlier=earlier)
            number += 1
    return found, number
