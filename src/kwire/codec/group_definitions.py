"""Definitions of layouts in group bytes for which Kafka has no published message definition.

They describe `StickyAssignor`, `CooperativeStickyAssignor`, `ConnectProtocol` and `IncrementalCooperativeConnectProtocol`. Version 2 of the
last one, for session keys (KIP-507), has the layout of version 1.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from kwire.codec.classes import CompiledCatalog
from kwire.codec.impl import Twin, backend
from kwire.schema import Catalog, parse_definition

__all__ = ["compiled_groups"]

_TASKS: Final = [
    {"name": "Connector", "type": "string", "versions": "0+"},
    {"name": "Tasks", "type": "[]int32", "versions": "0+"},  # -1 is the connector itself
]

_DEFINITIONS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "StickyAssignorUserData",
        "type": "data",
        "validVersions": "0-1",
        "fields": [
            {
                "name": "PreviousAssignment",
                "type": "[]TopicAssignment",
                "versions": "0+",
                "fields": [
                    {"name": "Topic", "type": "string", "versions": "0+", "entityType": "topicName"},
                    {"name": "Partitions", "type": "[]int32", "versions": "0+"},
                ],
            },
            {"name": "Generation", "type": "int32", "versions": "1+", "default": "-1", "ignorable": True},
        ],
    },
    {
        "name": "CooperativeStickyAssignorUserData",
        "type": "data",
        "validVersions": "0",
        "fields": [{"name": "Generation", "type": "int32", "versions": "0+", "default": "-1"}],
    },
    {
        "name": "ConnectProtocolMetadata",
        "type": "data",
        "validVersions": "0-2",
        "fields": [
            {"name": "Url", "type": "string", "versions": "0+"},
            {"name": "ConfigOffset", "type": "int64", "versions": "0+"},
            {"name": "Allocation", "type": "bytes", "versions": "1+", "nullableVersions": "1+", "default": "null", "ignorable": True},
        ],
    },
    {
        "name": "ConnectProtocolAssignment",
        "type": "data",
        "validVersions": "0-2",
        "fields": [
            {"name": "Error", "type": "int16", "versions": "0+"},
            {"name": "Leader", "type": "string", "versions": "0+"},
            {"name": "LeaderUrl", "type": "string", "versions": "0+"},
            {"name": "ConfigOffset", "type": "int64", "versions": "0+"},
            {"name": "Assignment", "type": "[]ConnectorTasks", "versions": "0+", "nullableVersions": "1+", "fields": _TASKS},
            {"name": "Revoked", "type": "[]RevokedTasks", "versions": "1+", "nullableVersions": "1+", "default": "null", "fields": _TASKS},
            {"name": "Delay", "type": "int32", "versions": "1+"},
        ],
    },
)


@cache
def compiled_groups(twin: Twin = backend) -> CompiledCatalog:
    messages = {each["name"]: parse_definition({"flexibleVersions": "none", **each}, __name__) for each in _DEFINITIONS}
    return CompiledCatalog(Catalog("kwire groups", messages), twin)
