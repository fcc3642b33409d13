"""Counts by texts of clients, which may be any: all but the most frequent count as `other`."""

from __future__ import annotations

from collections import Counter
from typing import Final

__all__ = ["OTHER", "capped"]

OTHER: Final = "other"


def capped(counts: Counter[tuple[str, ...]], most: int, texts: int) -> Counter[tuple[str, ...]]:
    """Return counts with the texts of all but the most frequent clients replaced by `other`; their sum stays.

    Arguments:
        counts: counts by labels; the first labels are texts of clients.
        most: number of combinations of texts that are kept.
        texts: number of labels that are texts of clients.
    """
    sums: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        sums[labels[:texts]] += count
    kept = {labels for labels, _ in sums.most_common(most)}
    found: Counter[tuple[str, ...]] = Counter()
    for labels, count in counts.items():
        found[labels if labels[:texts] in kept else (OTHER,) * texts + labels[texts:]] += count
    return found
