"""Labels of received metrics: added ones, limits, and private ones."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from kwire.codec.uuids import Uuid
from kwire.protocol.telemetry.receivers import PushContext

__all__ = [
    "CLIENT_LABELS", "OVERFLOW", "LabelLimit", "PrivateLabels", "client_labels", "received_labels", "suspicious_labels",
]  # fmt: skip

CLIENT_LABELS: Final = ("client_rack", "group_id", "group_instance_id", "group_member_id", "transactional_id")
"""Labels of the resource that a client sends, as released."""

OVERFLOW: Final = "other"
"""Replacement for label values above a limit."""

_SUSPICIOUS: Final = re.compile(
    r"(^|[._-])(host(name)?|os|arch|user(name)?|password|passwd|secret|token|credential|env|jvm|java|pwd|home|cmd|command(line)?|path)"
    r"([._-]|$)",
    re.IGNORECASE,
)


def client_labels(config: Mapping[str, str], member_id: str | None = None) -> dict[str, str]:
    """Return the labels that a client sends with its metrics, from its configuration keys such as `group.instance.id`."""
    names = (*CLIENT_LABELS, "application_id")
    found = {name: config[key] for name in names if config.get(key := name.replace("_", "."))}
    if member_id:
        found["group_member_id"] = member_id
    return found


def received_labels(context: PushContext, instance_id: Uuid, node_label: str = "broker_id") -> dict[str, object]:
    """Return the labels that a receiver adds to every resource; they override the client's."""
    found = {
        "client_instance_id": str(instance_id),
        "client_id": context.client_id,
        "client_software_name": context.software_name,
        "client_software_version": context.software_version,
        "client_source_address": context.source_address,
        "client_source_port": None if context.source_port is None else str(context.source_port),
        "principal": context.principal,
        node_label: None if context.node_id is None else str(context.node_id),
    }
    return {name: value for name, value in found.items() if value is not None}


def suspicious_labels(points: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return names of labels that may identify the host, its system or credentials, which clients must not send by default."""
    return {name for point in points for part in ("attributes", "resource") for name in point.get(part, ()) if _SUSPICIOUS.search(name)}


class LabelLimit:
    """Limit of the number of values per label of a metric, and of such labels. Further values become `other` and are counted."""

    def __init__(self, values: int = 1000, series: int = 10_000) -> None:
        self.values = values
        self.series = series
        self.overflowed = 0
        self._seen: dict[tuple[str, str], set[str]] = {}

    def _allowed(self, metric: str, label: str, value: str) -> bool:
        seen = self._seen.get((metric, label))
        if seen is None:
            if len(self._seen) >= self.series:
                return False
            seen = self._seen[metric, label] = set()
        if value in seen:
            return True
        if len(seen) >= self.values:
            return False
        seen.add(value)
        return True

    def hold(self, points: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        held = []
        for point in points:
            attributes = {
                label: value if self._allowed(point["metric"], label, str(value)) else OVERFLOW
                for label, value in point["attributes"].items()
            }
            if attributes != point["attributes"]:
                self.overflowed += 1
                point = {**point, "attributes": attributes}
            held.append(point)
        return held


class PrivateLabels:
    """Removal or keyed hashing of labels that name a person or a machine; equal values have equal hashes.

    Hashing without a key raises `ValueError`, because a plain hash of an address is reversed by trying all addresses.
    """

    NAMES: Final = (
        "client_source_address", "client_source_port", "principal", "client_id", "client_instance_id", "client_rack", "group_id",
        "group_instance_id", "group_member_id", "transactional_id", "application_id", "reason", "value",
    )  # fmt: skip

    def __init__(self, how: Literal["drop", "hash"] = "drop", key: bytes = b"", names: Iterable[str] = NAMES) -> None:
        if how == "hash" and not key:
            raise ValueError("hashing labels needs a key")
        self._how = how
        self._key = key
        self._names = frozenset(names)

    def _kept(self, labels: Mapping[str, Any]) -> dict[str, Any]:
        if self._how == "drop":
            return {name: value for name, value in labels.items() if name not in self._names}
        return {name: self._hashed(value) if name in self._names else value for name, value in labels.items()}

    def _hashed(self, value: object) -> str:
        return hmac.new(self._key, str(value).encode(errors="surrogateescape"), hashlib.sha256).hexdigest()[:16]

    def clean(self, points: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**point, "attributes": self._kept(point["attributes"]), "resource": self._kept(point["resource"])} for point in points]
