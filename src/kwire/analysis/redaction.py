"""Redaction of tables: identities stay distinguishable, but their names are hashed.

Each identifying value (`kwire.tables.column_classes` lists such columns) becomes a token, `topic-3fa9c2d81b`, hashed with a key. The same
value has the same token in every table and in every run with the key; without the key, guesses cannot be checked. A token's kind is part of
the hash, so a topic and a group with the same name have different tokens. A column without a class is emptied.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
from kwire.errors import InputError
from kwire.tables.column_classes import ColumnClass, class_of
from kwire.tables.schemas import SCHEMAS

__all__ = ["LEAST_KEY_BYTES", "Redaction", "Redactor", "read_key"]

LEAST_KEY_BYTES: Final = 16
"""Minimum length of a key; shorter keys could be found by trying all."""

_TOKEN_BYTES: Final = 5
_KEY_BYTES: Final = 32
_CLIENT_KEY_BYTES: Final = 8

# Kafka's own topics and principals name nobody.
_INTERNAL_TOPICS: Final = frozenset(
    ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata", "__remote_log_metadata")
)
_ANONYMOUS: Final = "User:ANONYMOUS"
# Nor do protocol types and assignors of Kafka, SASL mechanisms that it knows, and registered protocols of TLS.
_PROTOCOLS: Final = frozenset((
    "consumer", "connect", "share", "streams", "range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "stream", "simple",
    "default", "compatible", "sessioned", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER", "http/1.1", "h2",
))  # fmt: skip
_METRICS: Final = "org.apache.kafka."

_CONNECTION: Final = re.compile(r"(.+):(\d+)-(.+):(\d+)-(\d+)")
# As `ascii` quotes; an apostrophe inside a word begins nothing.
_QUOTED: Final = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?:\.\.\.)?""")
_ADDRESS: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])")

# What Kafka's clients and kwire give as reasons; what else a client writes is its own.
_REASONS: Final = re.compile(
    r"group is already rebalancing|the consumer is being closed|the consumer unsubscribed from all topics|subscription has changed"
    r"|need to revoke partitions and re-join|consumer poll timeout has expired\.?|rebalance failed due to \w+Exception"
    r"|a member left|a static member came back|a member joined|the first join captured|a member wants other topics"
    r"|a member asked to join again|no captured request explains it; a member's session may have timed out|Streams tasks not ready"
)
_GIVEN_MEMBER: Final = re.compile(r"(need to re-join with the given member-id: )(.+)", re.DOTALL)
_CHANGED: Final = re.compile(r"(cached metadata has changed|rebalance failed due to)\b.*", re.DOTALL)

_CAME_BACK: Final = re.compile(r"(.+) came back as (.+)", re.DOTALL)
_MOVED: Final = re.compile(r"([+-])(.+) (joined|left|expired)", re.DOTALL)
_WANTS: Final = re.compile(r"(.+) wants (.+) instead of (.+)", re.DOTALL)
_COUNTED: Final = re.compile(r"\d+ (joined|left|expired)|first generation captured, \d+ members?|same members")

# What metrics call by name (KIP-714); the values of all other attributes that are no numbers are hashed too, as `value-...`.
_ATTRIBUTES: Final[dict[str, ColumnClass]] = {
    "client_id": "client", "client-id": "client", "group_id": "group", "group": "group", "topic": "topic",
    "transactional_id": "transaction", "client_rack": "rack", "principal": "principal", "client_instance_id": "instance",
}  # fmt: skip
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?|true|false")


@dataclass(frozen=True, slots=True)
class Redaction:
    """Options of a redaction; picklable, so that tasks can redact their output.

    Attributes:
        keep_prefix: number of leading bits of IPv4 addresses to keep; twice as many of IPv6 addresses stay. None keeps none.
        files: locations of the inputs, which texts may contain.
    """

    key: bytes = field(repr=False)
    keep_prefix: int | None = None
    files: tuple[str, ...] = ()


def read_key(path: str) -> bytes:
    """Read a key file without the newline at its end."""
    try:
        key = Path(path).read_bytes().strip()
    except OSError as error:
        raise InputError(f"the key {path} cannot be read: {error.strerror}") from error
    if len(key) < LEAST_KEY_BYTES:
        raise InputError(f"the key in {path} has {len(key)} bytes; {LEAST_KEY_BYTES} are the least, such as `openssl rand -hex 32` writes")
    return key


class Redactor:
    def __init__(self, redaction: Redaction) -> None:
        self._key = hashlib.blake2b(redaction.key, digest_size=_KEY_BYTES).digest()
        self._addresses = AddressPseudonyms(redaction.key, redaction.keep_prefix)
        # the longest first: a folder's name is part of its files' names
        self._files = sorted(
            {*redaction.files, *(each.rstrip("/").rpartition("/")[2] for each in redaction.files)} - {""}, key=len, reverse=True
        )
        self._known: dict[tuple[str, str], str] = {}
        self._changes: Mapping[ColumnClass, Callable[[str], str]] = {
            "client_key": self.client_key, "address": self.host, "address_and_port": self._address_and_port, "connection": self._connection,
            "host": self.host, "principal": self._principal, "client": self._token_of("client"), "instance": self._token_of("instance"),
            "topic": self._topic, "topic_id": self._token_of("topic-id"), "topic_partitions": self._topic_partitions,
            "subscription": self._subscription, "group": self._token_of("group"), "member": self._token_of("member"),
            "transaction": self._token_of("transaction"), "cluster": self._token_of("cluster"), "rack": self._token_of("rack"),
            "file": self._token_of("file"), "series": self._token_of("series"), "sentence": self.sentence, "difference": self._difference,
            "wire_text": self._reason, "protocol": self._protocol, "metric": self._metric,
        }  # fmt: skip

    @property
    def key_id(self) -> str:
        """Id of the key, which does not reveal it; folders with equal ids can be compared."""
        return self._digest("key", "", _CLIENT_KEY_BYTES)

    def _digest(self, kind: str, text: str, size: int) -> str:
        plain = text.encode("utf-8", "surrogateescape")
        return hashlib.blake2b(plain, key=self._key, person=kind.encode(), digest_size=size).hexdigest()

    def token(self, kind: str, text: str) -> str:
        return f"{kind}-{self._digest(kind, text, _TOKEN_BYTES)}" if text else text

    def _token_of(self, kind: str) -> Callable[[str], str]:
        return lambda text: self.token(kind, text)

    def client_key(self, text: str) -> str:
        """Return the keyed hash of a client key; the plain one can be computed from a guessed identity."""
        return self._digest("client-key", text, _CLIENT_KEY_BYTES)

    def host(self, text: str) -> str:
        """Replace an address, keeping common prefixes (Crypto-PAn), or a host name."""
        try:
            return f"[{self._addresses.address(text[1:-1])}]" if text.startswith("[") else self._addresses.address(text)
        except ValueError:
            return self.token("host", text)

    def _address_and_port(self, text: str) -> str:
        host, colon, port = text.rpartition(":")
        return f"{self.host(host)}:{port}" if colon and port.isdecimal() else self.host(text)

    def _connection(self, text: str) -> str:
        found = _CONNECTION.fullmatch(text)
        if found is None:
            return self.token("connection", text)
        server, server_port, client, client_port, n = found.groups()
        return f"{self.host(server)}:{server_port}-{self.host(client)}:{client_port}-{n}"

    def _principal(self, text: str) -> str:
        kind, colon, name = text.partition(":")
        return text if text == _ANONYMOUS else f"{kind}:{self.token('principal', name)}" if colon else self.token("principal", text)

    def _topic(self, text: str) -> str:
        return text if text in _INTERNAL_TOPICS else self.token("topic", text)

    def _protocol(self, text: str) -> str:
        return text if text in _PROTOCOLS else self.token("protocol", text)

    def _metric(self, text: str) -> str:
        return text if text.startswith(_METRICS) else self.token("metric", text)

    def _topic_partitions(self, text: str) -> str:
        topic, colon, numbers = text.rpartition(":")
        return f"{self._topic(topic)}:{numbers}" if colon else self._topic(text)

    def _subscription(self, text: str) -> str:
        return f"regex:{self.token('pattern', text[6:])}" if text.startswith("regex:") else self._topic(text)

    def sentence(self, text: str) -> str:
        for file in self._files:
            text = re.sub(rf"(?<![\w./-]){re.escape(file)}(?![\w/-])", self.token("file", file), text)
        text = _QUOTED.sub(lambda found: self.token("text", found.group()), text)
        return _ADDRESS.sub(self._address_in, text)

    def _address_in(self, found: re.Match[str]) -> str:
        try:
            ipaddress.ip_address(found.group())
        except ValueError:
            return found.group()
        return self.host(found.group())

    def _reason(self, text: str) -> str:
        if _REASONS.fullmatch(text):
            return text
        given = _GIVEN_MEMBER.fullmatch(text)
        if given is not None:
            return given.group(1) + self.token("member", given.group(2))
        changed = _CHANGED.fullmatch(text)
        return self.token("text", text) if changed is None else f"{changed.group(1)} ..."

    def _difference(self, text: str) -> str:
        return "; ".join(map(self._part, text.split("; ")))

    def _part(self, part: str) -> str:
        member = self._token_of("member")
        if _COUNTED.fullmatch(part):
            return part
        if found := _WANTS.fullmatch(part):
            return f"{member(found.group(1))} wants {self._topics(found.group(2))} instead of {self._topics(found.group(3))}"
        if found := _CAME_BACK.fullmatch(part):
            return f"{member(found.group(1))} came back as {member(found.group(2))}"
        if found := _MOVED.fullmatch(part):
            return f"{found.group(1)}{member(found.group(2))} {found.group(3)}"
        return self.token("text", part)

    def _topics(self, text: str) -> str:
        return text if text == "nothing" else ", ".join(map(self._subscription, text.split(", ")))

    def _attribute(self, name: str, value: str | None) -> str | None:
        if value is None or _NUMBER.fullmatch(value):
            return value
        kind = _ATTRIBUTES.get(name)
        return self.token("value", value) if kind is None else self._changed(kind, value)

    def _changed(self, kind: ColumnClass, value: str) -> str:
        found = self._known.get((kind, value))
        if found is None:
            found = self._known[kind, value] = self._changes[kind](value)
        return found

    # Tables.

    def _column(self, kind: ColumnClass | None, column: Any, type_: Any) -> Any:
        if kind is None:
            return pa.nulls(len(column), type_)
        if kind == "attributes":
            maps = [None if each is None else [(name, self._attribute(name, value)) for name, value in each] for each in column.to_pylist()]
            return pa.array(maps, type_)
        if pa.types.is_list(type_):
            lists = [
                None if each is None else sorted(self._changed(kind, value) for value in each if value is not None)
                for each in column.to_pylist()
            ]
            return pa.array(lists, type_)
        encoded = column.dictionary_encode()
        values = [None if value is None else self._changed(kind, value) for value in encoded.dictionary.to_pylist()]
        return pa.array(values, type_).take(encoded.indices)

    def batch(self, table: str, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = []
        for column, field_ in zip(batch.columns, batch.schema, strict=True):
            kind = class_of(table, field_.name)
            columns.append(column if kind == "plain" else self._column(kind, column, field_.type))
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def table(self, name: str, rows: pa.Table) -> pa.Table:
        return pa.Table.from_batches([self.batch(name, batch) for batch in rows.to_batches()], schema=rows.schema)

    def tables(self, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """Redact the tables of an analysis; other tables are left out."""
        return {name: self.table(name, rows) for name, rows in tables.items() if name in SCHEMAS}

    def manifest(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        files: Iterable[str] = manifest.get("inputs", ())
        captures = [
            {**each, "capture": self.token("file", each["capture"]), "series": self.token("series", each["series"])}
            for each in manifest.get("captures", ())
        ]
        return {**manifest, "inputs": [self.token("file", file) for file in files], "captures": captures, "redacted": self.key_id}
