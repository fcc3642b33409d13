"""Checks of a whole catalog: undefined headers, shared api keys, and mistakes that Kafka tolerates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwire.errors import InputError
from kwire.schema.model import Catalog, Message

__all__ = ["doubts", "is_former_name", "refuse_derived_headers", "refuse_missing_headers", "refuse_shared_keys"]

_HEADERS = {"request": "RequestHeader", "response": "ResponseHeader"}


def is_former_name(message: Message) -> bool:
    """Return whether the message was renamed; the built-in catalog keeps its definition under both names (AlterIsr, ListOffset)."""
    return any(note.startswith("The name since then is ") for note in message.notes)


def _apis(known: Catalog) -> Iterator[Message]:
    return (known[name] for name in known if known[name].kind in _HEADERS and known[name].valid_versions)


def refuse_missing_headers(known: Catalog, declared: Iterable[Message]) -> None:
    """Check that each header version of a valid message version exists, if the catalog defines headers (apache/kafka#23317, #23457).

    Messages that declare none are skipped: the jars of 2.2 and 2.3 number their headers differently.
    """
    for message in declared:
        name = _HEADERS.get(message.kind)
        if name is None or name not in known or not message.valid_versions:
            continue
        there = known[name].valid_versions
        for versions, header in message.header_versions:
            # a map starts at version 0; what a release has dropped may name a header that it has dropped too
            if versions.highest >= message.valid_versions.lowest and header not in there:
                raise InputError(
                    f"headerVersions of {message.name}: range {versions} has header version {header}, but {name} has only {there}."
                )


def refuse_shared_keys(known: Catalog) -> None:
    """Check that no two requests, and no two responses, have one api key."""
    seen: dict[tuple[str, int | None], str] = {}
    for message in _apis(known):
        if is_former_name(message):
            continue
        other = seen.setdefault((message.kind, message.api_key), message.name)
        if other != message.name:
            raise InputError(f"{other} and {message.name} have the same api key, {message.api_key}.")


def refuse_derived_headers(message: Message) -> None:
    """Reject a request or response without `headerVersions`, which are mandatory from apache/kafka#23511 on; name the right map."""
    if message.kind in _HEADERS and message.valid_versions:
        shown = ", ".join(f'"{versions}": "{header}"' for versions, header in message.header_versions)
        raise InputError(f"{message.name} has no headerVersions, which are required; by its flexible versions they are {{{shown}}}.")


def doubts(known: Catalog) -> list[str]:
    """Return a sentence for each api whose request and response have different versions, as in KIP-1313's own example."""
    found = []
    for request in _apis(known):
        asks = request.kind == "request" and not is_former_name(request)
        response = known.response(request.api_key) if asks and request.api_key is not None else None
        if response is not None and response.valid_versions and response.valid_versions != request.valid_versions:
            found.append(f"{request.name} has versions {request.valid_versions}, but {response.name} has {response.valid_versions}.")
    return found
