"""Definitions of layouts in group bytes for which Kafka has no published message definition.

They describe `StickyAssignor`, `CooperativeStickyAssignor`, `ConnectProtocol` and `IncrementalCooperativeConnectProtocol`. Version 2 of the
last one, for session keys (KIP-507), has the layout of version 1. Task -1 is the connector itself.
"""

from __future__ import annotations

from functools import cache

from kwire.codec.classes import CompiledCatalog
from kwire.codec.impl import Twin, backend
from kwire.schema import Catalog, parse_definition
from kwire.schema.stored import read_data

__all__ = ["compiled_groups"]


@cache
def compiled_groups(twin: Twin = backend) -> CompiledCatalog:
    messages = {each["name"]: parse_definition(each, __name__) for each in read_data("group_definitions.json")}
    return CompiledCatalog(Catalog("kwire groups", messages), twin)
