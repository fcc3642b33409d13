"""Clients in a digest: counts by kind, library and verdicts, and facts of single clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kwire.analysis.columns import flat
from kwire.analysis.digests.tables import Digest, shaped
from kwire.analysis.row_sums import codes_of
from kwire.schema.version_numbers import version_numbers
from kwire.tables.schemas import CLIENTS

__all__ = ["VERDICTS", "WORST_FIRST", "Judged", "Kind", "of_clients", "release_order", "split_guess", "verdicts_of"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments

VERDICTS: Final = ("compatible", "deprecated", "unknown", "breaks")
"""Verdicts from best to worst; a certain break is worse than a possible one."""
WORST_FIRST: Final = VERDICTS[::-1]

Kind = Literal["application", "cluster", "silent", "foreign"]

# Protocols of connections on which a client may be, and of those on which nothing was sent, or nothing behind a PROXY header.
_READ: Final = ("kafka", "tls")
_SILENT: Final = ("silent", "proxy")

Judged = tuple[Any, Any]
"""Array of client keys, and the worst verdict of each as an index in `VERDICTS`, -1 if it has none."""


def release_order(release: str) -> tuple[tuple[int, ...], str]:
    """Return the sort key of a release or a client's version: ``0.8 < 3.9.2 < 4.0 < 4.0.2 < v4.10``."""
    return version_numbers(release), release


def split_guess(guess: str) -> tuple[str, str]:
    """Split ``aiokafka after 0.5.0 (tried: 0.5.2)`` into library and range, without the tried versions."""
    library, _, version = guess.partition(" (tried:")[0].partition(" ")
    return library, version


@lru_cache(maxsize=4_096)
def verdicts_of(text: str) -> Mapping[str, str]:
    """Parse the column `verdicts` of a digest, such as ``4.0.2=breaks 4.1.2=compatible``, into verdicts by ascending release."""
    return dict(sorted((pair.split("=") for pair in text.split()), key=lambda pair: release_order(pair[0])))


def of_clients(clients: pa.Table, impact: pa.Table, openings: pa.Table) -> tuple[Digest, Judged]:
    """Digest `clients` and `upgrade_impact`, of the same clients, and return the worst verdict of each."""
    targets = sorted(pc.unique(impact.column("target_release").drop_null()).to_pylist(), key=release_order)
    listed = flat(clients, "client_key")
    unlisted = pc.unique(impact.column("client_key"))
    unlisted = unlisted.filter(pc.and_(pc.is_valid(unlisted), pc.invert(pc.is_in(unlisted, value_set=listed))))
    clients = pa.concat_tables([clients.select(CLIENTS.names), _only_keys(unlisted)]).combine_chunks()
    keys = flat(clients, "client_key")
    is_listed = np.arange(len(clients)) < len(listed)
    matrix, facts = _judged(impact, keys, targets)
    facts |= _software(clients)
    facts["kind"] = pa.array(np.where(is_listed, _kinds(clients, openings), ""))
    facts["verdicts"] = _by_release(matrix, targets)
    role = pc.fill_null(clients.column("role"), "client")
    is_task = pa.array(is_listed & (role.to_numpy(zero_copy_only=False) == "client") & facts.pop("is_task"))
    rows = shaped("clients", clients, **facts, is_urgent=is_task)
    found = {
        "clients": rows,
        "fleet": shaped("fleet", rows, role=role, clients=pa.array(np.ones(len(rows), np.int64))),
        "libraries": shaped("libraries", rows).filter(pc.not_equal(rows.column("library"), pa.scalar(""))),
        "findings": shaped("findings", impact).filter(pc.is_in(impact.column("verdict"), value_set=pa.array(VERDICTS[1:]))),
        "api_verdicts": _of_apis(impact),
    }
    return found, (keys, matrix.max(axis=1, initial=-1))


def _only_keys(keys: Any) -> pa.Table:
    empty = {field.name: pa.nulls(len(keys), field.type) for field in CLIENTS}
    return pa.table([empty[name] if name != "client_key" else keys for name in CLIENTS.names], schema=CLIENTS)


def _kinds(clients: pa.Table, openings: pa.Table) -> Any:
    protocol: Any = pc.fill_null(openings.column("protocol"), "kafka")
    at = pc.index_in(clients.column("client_key"), value_set=flat(openings, "client_key"))
    has_any = pc.is_valid(at).to_numpy().astype(np.bool_)

    def speaks(chosen: Any) -> Any:
        keys: Any = openings.column("client_key").filter(chosen)
        return pc.is_in(clients.column("client_key"), value_set=pc.unique(keys)).to_numpy().astype(np.bool_)

    others = speaks(pc.is_in(protocol, value_set=pa.array(_READ)))
    foreign = speaks(pc.invert(pc.is_in(protocol, value_set=pa.array([*_READ, *_SILENT]))))
    nothing = pc.fill_null(pc.equal(clients.column("requests"), pa.scalar(0)), False).to_numpy().astype(np.bool_) & has_any & ~others
    in_cluster = pc.fill_null(clients.column("role"), "client").to_numpy(zero_copy_only=False).astype(str)
    in_cluster = (in_cluster != "client") & (in_cluster != "")
    return np.where(in_cluster, "cluster", np.where(nothing & foreign, "foreign", np.where(nothing, "silent", "application")))


def _software(clients: pa.Table) -> dict[str, Any]:
    name, guess = clients.column("software_name"), pc.fill_null(clients.column("library_guess"), "").combine_chunks()
    named: Any = pc.invert(pc.is_in(pc.fill_null(name, ""), value_set=pa.array(["", "unknown"])))
    different = guess.dictionary_encode()
    split = [split_guess(one) for one in different.dictionary.to_pylist()]
    library, version = (pa.array([one[place] for one in split], pa.string()).take(different.indices) for place in (0, 1))
    version_named = pc.fill_null(clients.column("software_version"), "")
    return {
        "library": pc.if_else(named, name, library),
        "version": pc.if_else(named, version_named, version),
        "guessed": pc.and_(pc.invert(named), pc.not_equal(guess, pa.scalar(""))),
    }


def _judged(impact: pa.Table, keys: Any, targets: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """Return the worst verdict of each client at each target, and the columns that rank clients.

    Verdicts are indexes in `VERDICTS`, -1 for none, as an array of clients x targets.
    """
    rank: Any = pc.index_in(impact.column("verdict"), value_set=pa.array(VERDICTS)).combine_chunks()
    judged = impact.filter(pc.is_valid(rank)).combine_chunks()
    ranks = rank.drop_null().to_numpy().astype(np.int64)
    client = _places(judged.column("client_key"), keys)
    target = _places(judged.column("target_release"), pa.array(targets, pa.string()))
    matrix = np.full((len(keys), len(targets)), -1, np.int64)
    inside = (client >= 0) & (target >= 0)
    np.maximum.at(matrix, (client[inside], target[inside]), ranks[inside])
    count = len(keys)
    facts: dict[str, Any] = {"worst": pa.array(matrix.max(axis=1, initial=-1))}
    for place, name in enumerate(VERDICTS[1:], 1):
        facts[name] = pa.array((matrix == place).sum(axis=1))
    use, first = codes_of(*(flat(judged, name) for name in ("client_key", "api_name", "api_version")))
    worst = np.full(len(first), -1, np.int64)
    np.maximum.at(worst, use, ranks)
    # requests of a finding are those at the first release with its worst verdict; client ids of one client have a row each
    is_worst = (ranks == worst[use]) & (worst[use] > 0)
    earliest = np.full(len(first), len(targets), np.int64)
    np.minimum.at(earliest, use[is_worst], target[is_worst])
    of_first = is_worst & (target == earliest[use])
    requests = pc.fill_null(judged.column("requests"), 0).to_numpy()
    sums, uses, bad = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    counted = client >= 0
    np.add.at(sums, client[of_first & counted], requests[of_first & counted])
    of_use = client[first]
    np.add.at(uses, of_use[of_use >= 0], 1)
    np.add.at(bad, of_use[(of_use >= 0) & (worst > 0)], 1)
    facts |= {"finding_requests": pa.array(sums), "versions_ok": pa.array(uses - bad), "is_task": matrix.max(axis=1, initial=-1) > 0}
    return matrix, facts


def _places(column: Any, values: Any) -> Any:
    found: Any = pc.index_in(column, value_set=values)
    return pc.fill_null(found, -1).to_numpy().astype(np.int64)


def _by_release(matrix: Any, targets: Sequence[str]) -> Any:
    numbers, first = codes_of(pa.array(np.zeros(len(matrix), np.int64)), *map(pa.array, matrix.T))
    texts = [
        " ".join(f"{target}={VERDICTS[rank]}" for target, rank in zip(targets, row, strict=True) if rank >= 0)
        for row in matrix[first].tolist()
    ]
    return pc.take(pa.array(texts, pa.string()), pa.array(numbers))


def _of_apis(impact: pa.Table) -> pa.Table:
    rank: Any = pc.index_in(impact.column("verdict"), value_set=pa.array(VERDICTS))
    seen = pc.and_kleene(pc.is_valid(rank), pc.greater(impact.column("requests"), pa.scalar(0)))
    return shaped("api_verdicts", impact, rank=rank).filter(seen)
