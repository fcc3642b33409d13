"""Counts by client-supplied texts: the most frequent texts are kept, all others count as `other`."""

from __future__ import annotations

from collections import Counter
from typing import Final

__all__ = ["OTHER", "capped"]

OTHER: Final = "other"


def capped(counts: Counter[tuple[str, ...]], most: int, texts: int) -> Counter[tuple[str, ...]]:
    """Keep the `most` frequent combinations; replace the first `texts` labels of all others by `other`. The total stays the same."""
    sums: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        sums[labels[:texts]] += count
    kept = {labels for labels, _ in sums.most_common(most)}
    found: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        found[labels if labels[:texts] in kept else (OTHER,) * texts + labels[texts:]] += count
    return found
