"""Owners of clients: a file of rules, of which the first match is used.

    [[owner]]                       # TOML
    client_id = "billing-*"         # a shell pattern, case counts
    principal = "User:billing"      # a pattern too
    address = "10.4.0.0/16"         # a network
    team = "Payments"
    contact = "#payments-oncall"

A rule without a condition matches every client. A CSV file has these names in its header; `owner` is accepted for `team`.
"""

from __future__ import annotations

import csv
import io
import ipaddress
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.columns import with_columns
from kwire.errors import InputError
from kwire.tables.schemas import TEXT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["NO_OWNERS", "OwnerRule", "Owners", "read_owners"]

_CONDITIONS: Final = ("client_id", "principal", "address")
_SAID: Final = ("team", "contact")
_OTHER_NAMES: Final = {"owner": "team", "cidr": "address", "network": "address", "client": "client_id"}


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """Rule of the file; a condition that is None does not apply."""

    team: str
    contact: str | None = None
    client_id: str | None = None
    principal: str | None = None
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None

    def fits(self, client_ids: Iterable[str], principals: Iterable[str], addresses: Iterable[str]) -> bool:
        return (
            (self.client_id is None or any(fnmatchcase(each, self.client_id) for each in client_ids))
            and (self.principal is None or any(fnmatchcase(each, self.principal) for each in principals))
            and (self.network is None or any(_inside(each, self.network) for each in addresses))
        )


def _inside(text: str, network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    if address.version == 6 and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address in network


@dataclass(frozen=True, slots=True)
class Owners:
    rules: tuple[OwnerRule, ...] = ()

    def of(self, client_ids: Iterable[str], principals: Iterable[str], addresses: Iterable[str]) -> tuple[str | None, str | None]:
        """Return team and contact of a client; both are None if no rule matches."""
        ids, names, places = tuple(client_ids), tuple(principals), tuple(addresses)
        rule = next((rule for rule in self.rules if rule.fits(ids, names, places)), None)
        return (None, None) if rule is None else (rule.team, rule.contact)

    def fill(self, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        if not self.rules:
            return dict(tables)
        clients, impact = tables["clients"], tables["upgrade_impact"]
        found = [
            self.of(row["client_ids"] or (), row["principals"] or (), row["addresses"] or ())
            for row in clients.select(["client_ids", "principals", "addresses"]).to_pylist()
        ]
        by_key = dict(zip(clients.column("client_key").to_pylist(), found, strict=True))
        of_rows: list[tuple[str | None, str | None]] = []
        known: dict[Any, tuple[str | None, str | None]] = {}
        for row in impact.select(["client_key", "client_id", "principals", "addresses"]).to_pylist():
            place = (row["client_key"], row["client_id"], *(tuple(row[name] or ()) for name in ("principals", "addresses")))
            if place not in known:
                own = self.of([] if place[1] is None else [place[1]], place[2], place[3])
                # where a client makes up an id a run, a row has the folded one, which no pattern may fit
                known[place] = by_key.get(place[0], own) if own == (None, None) else own
            of_rows.append(known[place])
        return {**tables, "clients": _with(clients, found), "upgrade_impact": _with(impact, of_rows)}


NO_OWNERS: Final = Owners()


def _with(rows: pa.Table, found: Sequence[tuple[str | None, str | None]]) -> pa.Table:
    return with_columns(rows, {name: pa.array([each[at] for each in found], TEXT) for at, name in enumerate(("owner", "contact"))})


def read_owners(path: str) -> Owners:
    """Read a file of owners in TOML or, by its suffix, CSV; an InputError names the invalid rule."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"the owners {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the owners {path} are not UTF-8 text, at byte {error.start}") from error
    if path.lower().endswith(".csv"):
        return Owners(tuple(_rule(row, f"line {number} of {path}") for number, row in enumerate(csv.DictReader(io.StringIO(text)), 2)))
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the owners {path} are not valid TOML: {error}") from error
    rows = found.pop("owner", found.pop("owners", None))
    if found or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path} must contain [[owner]] tables and nothing else")
    return Owners(tuple(_rule(row, f"owner {number} of {path}") for number, row in enumerate(rows, 1)))


def _rule(row: Mapping[Any, Any], place: str) -> OwnerRule:
    said: dict[str, str] = {}
    for name, value in row.items():
        field = _OTHER_NAMES.get(name, name)
        if field not in (*_CONDITIONS, *_SAID):
            raise InputError(f"{place} has {name!r}; there are {', '.join((*_CONDITIONS, *_SAID))}")
        if value is not None and not isinstance(value, str):
            raise InputError(f"{place}: {name} must be a string")
        if value and value.strip():
            said[field] = value.strip()
    if "team" not in said:
        raise InputError(f"{place} names no team")
    network = None
    if "address" in said:
        try:
            network = ipaddress.ip_network(said["address"], strict=False)
        except ValueError as error:
            raise InputError(f"{place}: {said['address']!r} is not a CIDR network (example: 10.4.0.0/16)") from error
    return OwnerRule(said["team"], said.get("contact"), said.get("client_id"), said.get("principal"), network)
