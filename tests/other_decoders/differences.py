"""Where kwire and another reader of Kafka's bytes do not agree, and why: each class with an example of hand-worked bytes.

`docs/reference/differences.md` is written from this list, and tests replay its examples. A fuzz target fails on a difference in no class.
"""

from __future__ import annotations

import re
from typing import Final

from other_decoders.asking import Question
from other_decoders.comparing import Contrast
from other_decoders.difference import Difference
from other_decoders.message_differences import MESSAGE_DIFFERENCES
from other_decoders.record_differences import RECORD_DIFFERENCES

__all__ = ["DIFFERENCES", "class_of"]

DIFFERENCES: Final = (*MESSAGE_DIFFERENCES, *RECORD_DIFFERENCES)


def class_of(peer: str, question: Question, contrast: Contrast) -> Difference | None:
    """The class that a contrast is in, None for a difference that is new."""
    for each in DIFFERENCES:
        asked = question.kind in each.kinds and re.fullmatch(each.names, question.name)
        if peer in each.peers and asked and each.how == contrast.how and re.fullmatch(each.what, contrast.what, re.S):
            if not each.holds(contrast):
                continue
            values = zip(each.values, (contrast.ours, contrast.theirs), strict=True)
            if all(not wanted or re.fullmatch(wanted, repr(value), re.S) for wanted, value in values):
                return each
    return None
