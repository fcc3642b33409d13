"""Names of group members in what a rebalance changed: client, host and the beginning of the member id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["named_members"]

_CLIENT_AND_UUID: Final = r"(?:(?P<client>[^\s;,]{1,249})-)?(?P<uuid>[0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ID: Final = re.compile(rf"(?<![^\s;,])(?:{_CLIENT_AND_UUID}|[\w+/-]{{22}}(?= (?:joined|left|expired|came|wants)))(?![^\s;,])")
_SIGN: Final = re.compile(r"(?:(?<=^)|(?<=; ))[+-](?=[^\s;][^;]* (?:joined|left|expired)(?:;|$))")


def named_members(text: str, members: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Split a difference of generations into parts; a part that names a member comes with the whole id.

    Signs before members go: words behind them say the same, and in a list a sign reads as a part of the id.

    Arguments:
        members: client and host by member id; others go by the client id within a classic id, or by the id alone (KIP-848).
    """
    text, end = _SIGN.sub("", text), 0
    for found in _ID.finditer(text):
        short = f"{(found['uuid'] or found[0])[:8]}…"
        name = members.get(found[0]) or found["client"]
        yield text[end : found.start()], None
        yield (f"{name} ({short})" if name else short), found[0]
        end = found.end()
    yield text[end:], None
