"""What only a whole catalog shows: headers that its definitions name and do not define, and slips that Kafka lets pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwire.errors import InputError
from kwire.schema.model import Catalog, Message

__all__ = ["doubts", "is_former_name", "refuse_derived_headers", "refuse_missing_headers", "refuse_shared_keys"]

_HEADERS = {"request": "RequestHeader", "response": "ResponseHeader"}


def is_former_name(message: Message) -> bool:
    """Whether the message has another name since; the built-in catalog keeps its definition under both (AlterIsr, ListOffset)."""
    return any(note.startswith("The name since then is ") for note in message.notes)


def _apis(known: Catalog) -> Iterator[Message]:
    """Requests and responses that have a version."""
    return (known[name] for name in known if known[name].kind in _HEADERS and known[name].valid_versions)


def refuse_missing_headers(known: Catalog, declared: Iterable[Message]) -> None:
    """Check that each header version of a valid message version exists, where the catalog defines headers (apache/kafka#23317, #23457).

    Arguments:
        known: the catalog.
        declared: the messages whose definitions say their header versions. Others are not asked: the jars of 2.2 and 2.3 call the header
            that all their requests have version 0, as nobody did before or after.

    Raises:
        InputError: one does not.
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
    """Check that no two requests, and no two responses, have one api key, for a frame says nothing but the key.

    Raises:
        InputError: two do.
    """
    seen: dict[tuple[str, int | None], str] = {}
    for message in _apis(known):
        if is_former_name(message):
            continue
        other = seen.setdefault((message.kind, message.api_key), message.name)
        if other != message.name:
            raise InputError(f"{other} and {message.name} have the same api key, {message.api_key}.")


def refuse_derived_headers(message: Message) -> None:
    """Refuse a message whose definition has no `headerVersions`, for they are mandatory from apache/kafka#23511 on.

    Arguments:
        message: of a definition without them; it has those that were derived.

    Raises:
        InputError: it is a request or response with valid versions; the sentence has the map that would be right.
    """
    if message.kind in _HEADERS and message.valid_versions:
        shown = ", ".join(f'"{versions}": "{header}"' for versions, header in message.header_versions)
        raise InputError(f"{message.name} has no headerVersions, which are required; by its flexible versions they are {{{shown}}}.")


def doubts(known: Catalog) -> list[str]:
    """One sentence for each api whose request and response do not have the same versions.

    The text of KIP-1313 has such a slip in its own example: DeleteGroupsRequest 0-3 is answered by a DeleteGroupsResponse 0-2.
    """
    found = []
    for request in _apis(known):
        asks = request.kind == "request" and not is_former_name(request)
        response = known.response(request.api_key) if asks and request.api_key is not None else None
        if response is not None and response.valid_versions and response.valid_versions != request.valid_versions:
            found.append(f"{request.name} has versions {request.valid_versions}, but {response.name} has {response.valid_versions}.")
    return found
