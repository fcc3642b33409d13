"""The declaration of states: each attribute of a class is stored, or named here as one that is made again."""

from __future__ import annotations

import pytest

from kwire.tables.state_types import KINDS

MADE_AGAIN = {
    "Connection": {"_judge", "_turn"},
    "EncryptedConnection": {"_keys"},
    "Exchange": {"passing"},
    "FrameSplitter": {"enough"},
    "Pairing": {"_index", "_kept"},
    "RecordCipher": {"_blocks", "_keyed", "_mac_bytes", "_overhead", "aead"},
    "TlsConnection": {"_found"},
}
# by names of their own: they have attributes that only hold caches, files or compiled objects
CONVERTED = {"EntryFolder", "PairCounts", "SeriesKeys"}


@pytest.mark.parametrize("kind", [each for each in KINDS if each.__name__ not in CONVERTED], ids=lambda kind: kind.__name__)
def test_every_attribute_is_declared(kind: type) -> None:
    slots = {name for each in kind.__mro__ for name in getattr(each, "__slots__", ())}
    stored = set(KINDS[kind].fields.__struct_fields__)
    if slots:
        assert slots - stored == MADE_AGAIN.get(kind.__name__, set())
        assert not stored - slots
