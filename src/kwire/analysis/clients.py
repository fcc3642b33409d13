"""Table `clients`: one row per client key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.client_groups import ClientGroup, ClientGroups
from kwire.analysis.columns import aggregated, rows_of
from kwire.analysis.known_clients import library_of
from kwire.analysis.library_guesses import Guess, widest
from kwire.analysis.partials import Partial
from kwire.tables.schemas import CLIENTS

__all__ = ["clients"]

_SOURCES: Final = ("api_versions", "not_sent", "not_observed")
_ROLES: Final = ("controller", "broker", "client")


def clients(partial: Partial, usage: pa.Table, groups: ClientGroups) -> pa.Table:
    identities: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for part in rows_of(partial["identities"]):
        identities[part["client_key"]].append(part)
    sums = aggregated(usage, ["client_key"], [("requests", "sum"), ("errors", "sum")]).to_pylist()
    requests = {row["client_key"]: (row["requests"], row["errors"]) for row in sums}
    rows = [_client(key, identities[key], requests.get(key, (0, 0)), groups) for key in sorted(identities)]
    return pa.Table.from_pylist(rows, schema=CLIENTS)


def _client(key: str, parts: list[dict[str, Any]], requests: tuple[int, int], groups: ClientGroups) -> dict[str, Any]:
    name, version = parts[0]["software_name"], parts[0]["software_version"]
    sources = {part["identity_source"] for part in parts}
    source = next(source for source in _SOURCES if source in sources)
    ids = sorted({part["client_id"] for part in parts if part["client_id"] is not None})
    library, confidence, guess = library_of(name, version), "high", None
    if name not in (None, "unknown"):
        source = "api_versions"  # KIP-511, whether the library is known here or not
    else:
        programs = [groups.of(key, client_id) for client_id in sorted({part["client_id"] for part in parts}, key=str)]
        library, confidence, source, guess = _guessed(programs, source)
    return {
        "client_key": key, "software_name": name, "software_version": version, "identity_source": source, "library_guess": library,
        "library_guess_after": guess.after if guess else None, "library_guess_before": guess.before if guess else None,
        "library_guess_tried": list(guess.tried) if guess else [], "confidence": confidence if library else None,
        "client_ids": ids, "addresses": sorted({part["address"] for part in parts}),
        "principals": sorted({part["principal"] for part in parts if part["principal"] is not None}),
        "role": next(role for role in _ROLES if role == "client" or any(part["role"] == role for part in parts)), "owner": None,
        "connections": sum(part["connections"] for part in parts), "requests": requests[0], "errors": requests[1],
        "request_bytes": _of_known(sum, parts, "request_bytes"), "response_bytes": _of_known(sum, parts, "response_bytes"),
        "first_seen": _of_known(min, parts, "first_seen"), "last_seen": _of_known(max, parts, "last_seen"),
    }  # fmt: skip


def _of_known(which: Callable[[list[Any]], Any], parts: list[dict[str, Any]], column: str) -> Any:
    known = [part[column] for part in parts if part[column] is not None]
    return which(known) if known else None


def _guessed(programs: list[ClientGroup], source: str) -> tuple[str | None, str, str, Guess | None]:
    """Return library, confidence, source and guess; a name on another connection of the program takes precedence over a guess by
    versions."""
    for program in programs:
        if program.software is not None:
            return library_of(*program.software) or program.software[0], "medium", "api_versions", None
    guess = widest(program.guess for program in programs)
    return (None, "", source, None) if guess is None else (guess.text, guess.confidence, "fingerprint", guess)
