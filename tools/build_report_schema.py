#!/usr/bin/env python3
"""Write docs/reference/report.schema.json, the schema of report.json: `python tools/build_report_schema.py [--check]`."""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from generated_page import write_or_check
from kwire.report.burn_down import HistoryPoint
from kwire.report.client_upgrade import ClientMove
from kwire.report.contents import Report
from kwire.report.fix_tickets import ActionItem, TeamTicket
from kwire.report.group_lines import GroupLine
from kwire.report.lineage import Topic
from kwire.report.listings import Listing
from kwire.report.owner_tasks import OwnerTask
from kwire.report.verdicts import ClientVerdicts, UpgradeMatrix

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "report.schema.json"

Schema = dict[str, Any]

# What the document says beside or instead of the fields of a dataclass (kwire/report/json_document.py).
TEXT: Final[Schema] = {"type": "string"}
COUNT: Final[Schema] = {"type": "integer"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
LISTING: Final[Schema] = {
    "type": "object",
    "description": "A list of the page: rows with its column headings as keys.",
    "properties": {"title": TEXT, "lead": TEXT, "rows": {"type": "array", "items": {"type": "object"}}},
    "required": ["title", "lead", "rows"],
}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def table(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def record(properties: dict[str, Schema]) -> Schema:
    """Return an object that has all of these keys and may have more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


class Shapes:
    """Schemas of types; dataclasses become definitions."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """Return the schema of what `json_document` writes for a value of this type."""
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        plain = {str: TEXT, int: COUNT, bool: {"type": "boolean"}, float: {"type": "number"}, datetime: TIME}
        if kind in plain:
            return plain[kind]
        if kind is timedelta:
            return {"type": "number", "description": "seconds"}
        if kind is Listing:
            return LISTING
        if origin in (typing.Union, types.UnionType):
            rest = [each for each in arguments if each is not types.NoneType]
            found = self.of(rest[0]) if len(rest) == 1 else {"anyOf": [self.of(each) for each in rest]}
            return or_null(found) if types.NoneType in arguments else found
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in (dict, Mapping):
            return table(self.of(arguments[1]))
        if origin in (tuple, list, Sequence):
            if origin is tuple and arguments[-1] is not Ellipsis:
                return {"type": "array", "prefixItems": [self.of(each) for each in arguments]}
            return array(self.of(arguments[0]))
        if is_dataclass(kind):
            return self.definition(kind)
        return {}

    def definition(self, kind: Any) -> Schema:
        name = kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # a type may hold itself
            hints = typing.get_type_hints(kind)
            self.definitions[name] = record({field.name: self.of(hints[field.name]) for field in fields(kind)})
        return {"$ref": f"#/$defs/{name}"}

    def extended(self, kind: Any, more: dict[str, Schema], without: Sequence[str] = ()) -> Schema:
        """Return a dataclass as the document writes it: with keys of its own, and without some fields."""
        self.definition(kind)
        shape = self.definitions[kind.__name__]
        properties = {name: each for name, each in shape["properties"].items() if name not in without} | more
        self.definitions[kind.__name__] = record(properties)
        return {"$ref": f"#/$defs/{kind.__name__}"}


def document() -> Schema:
    shapes = Shapes()
    hints = typing.get_type_hints(Report)
    task = shapes.extended(OwnerTask, {"name": TEXT, "ticket": TEXT})
    ticket = record({"team": TEXT, "contact": TEXT, "client_keys": array(TEXT), "text": TEXT})
    item = shapes.extended(ActionItem, {"tickets": array(ticket)}, without=("number",))
    shapes.extended(HistoryPoint, {}, without=("to",))
    topic = shapes.extended(Topic, {}, without=("writing", "reading"))
    line = shapes.definition(GroupLine) and shapes.definitions[GroupLine.__name__]["properties"]
    group = record(
        {
            "group_id": TEXT, "protocol": TEXT, "rebalances": line["shown"], "rebalance_count": COUNT, "left": line["left"],
            "trouble": array(record({"event": TEXT, "time": TIME})), "trouble_count": COUNT, "rebalances_again": COUNT,
            "seconds_rebalancing": {"type": "number"},
        }
    )  # fmt: skip
    verdicts = shapes.definition(ClientVerdicts) and shapes.definitions[ClientVerdicts.__name__]["properties"]
    client = record(
        {
            "client_key": TEXT, "worst": or_null(TEXT), "by_release": table(or_null(TEXT)), "versions_ok": verdicts["versions_ok"],
            "findings": verdicts["findings"],
        }
    )  # fmt: skip
    targets = typing.get_type_hints(UpgradeMatrix.targets.fget)["return"]
    upgrade = record({"releases": shapes.of(targets), "counts": table(table(COUNT)), "clients": array(client)})
    parts: dict[str, Schema] = {"generator": TEXT, "made": TIME, "command": TEXT, "headline": TEXT}
    for key, name in (("answer", "answer"), ("history", "history"), ("coverage", "coverage"), ("servers", "servers")):
        parts[key] = shapes.of(hints[name])
    parts["population"] = shapes.of(typing.get_type_hints(Report.population.fget)["return"])
    parts |= {"upgrade": upgrade, "tasks": array(task), "action_items": array(item)}
    names = {
        "teams": "teams", "clients": "clients", "libraries": "libraries", "api_versions": "versions", "connections": "connections",
        "incidents": "incidents", "encryption": "encryption", "violations": "rules", "telemetry": "telemetry", "brokers": "brokers",
    }  # fmt: skip
    parts |= {key: shapes.of(hints[name]) for key, name in names.items()}
    parts |= {"topics": array(topic), "groups": array(group), "before": or_null(TEXT), "changes": or_null(array(LISTING))}
    parts["clients_to"] = or_null(array(shapes.of(ClientMove)))
    used = {
        name: shape
        for name, shape in shapes.definitions.items()
        if name not in (GroupLine.__name__, ClientVerdicts.__name__, TeamTicket.__name__)
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kwire report",
        "description": "report.json of `kwire report DIR --format json`. Keys may be added; existing keys stay.",
        **record(parts),
        "$defs": dict(sorted(used.items())),
    }


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, json.dumps(document(), indent=1) + "\n", __doc__))
