"""Packing of small series into one task, as Spark's own sources pack small files.

Starting a task costs a tenth of a second of CPU and a few files, and a fleet that is captured per pod has ten thousand series. A pack stays
together when its analysis is appended to; a pack that has grown too large for one task is divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kwire.runs.planning import SeriesPlan

__all__ = ["OPEN_BYTES", "PACK_BYTES", "SMALLEST_PACK_BYTES", "pack_limit", "packs_of", "repacked"]

OPEN_BYTES: Final = 256 << 10
"""Fixed cost of opening and ending a series, as the number of bytes that take the same time to read."""

PACK_BYTES: Final = 128 << 20
"""Maximum cost of a pack in bytes, including `OPEN_BYTES` per series."""

SMALLEST_PACK_BYTES: Final = 16 << 20
"""Smallest cost in bytes that justifies a task, even if cores are idle."""


def pack_limit(sizes: Iterable[int], slots: int) -> int:
    """Return the highest cost of a pack in bytes that keeps all cores busy."""
    whole = sum(size + OPEN_BYTES for size in sizes)
    return min(PACK_BYTES, max(SMALLEST_PACK_BYTES, -(-whole // slots)))


def packs_of(sizes: Sequence[int], names: Sequence[str], limit: int) -> list[list[int]]:
    """Pack series in order, and return their indexes. Names in a pack are unique, because its state is stored by name."""
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
    """Divide packs of an earlier run that have become too large for one task, by their new bytes; return the plans and the next free
    number.

    The first task keeps the pack's number and its sums of closed connections.
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
