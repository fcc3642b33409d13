"""Counts by texts of clients, which may be any: all but the most frequent count as `other`."""

from __future__ import annotations

from collections import Counter
from typing import Final

__all__ = ["OTHER", "capped"]

OTHER: Final = "other"


def capped(counts: Counter[tuple[str, ...]], most: int, texts: int) -> Counter[tuple[str, ...]]:
    """Return counts in which all but the `most` frequent combinations have `other` as their first `texts` labels; their sum stays."""
    sums: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        sums[labels[:texts]] += count
    kept = {labels for labels, _ in sums.most_common(most)}
    found: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        found[labels if labels[:texts] in kept else (OTHER,) * texts + labels[texts:]] += count
    return found
