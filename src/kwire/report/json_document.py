"""Report as one JSON document; docs/reference/report.md describes each key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from kwire.json_encoding import encode_json
from kwire.report.burn_down import HistoryPoint
from kwire.report.contents import Report
from kwire.report.fix_tickets import ActionItem, action_items
from kwire.report.group_lines import GroupLine
from kwire.report.lineage import Topic
from kwire.report.listings import Listing
from kwire.report.owner_tasks import OwnerTask
from kwire.report.tickets import ticket
from kwire.report.verdicts import UpgradeMatrix

__all__ = ["json_document"]


def json_document(report: Report) -> str:
    """Return the document with a final line break, in plain ASCII, so that it cannot control a terminal."""
    document = {
        "generator": report.generator,
        "made": report.made,
        "command": report.command,
        "headline": report.headline,
        "answer": report.answer,
        "history": [_point(point) for point in report.history],
        "population": report.population,
        "coverage": report.coverage,
        "servers": report.servers,
        "upgrade": _upgrade(report.matrix),
        "tasks": [_task(task, report.names) for task in report.tasks],
        "action_items": [_action_item(item) for item in action_items(report.tasks, report.names)],
        "teams": report.teams,
        "clients": report.clients,
        "libraries": report.libraries,
        "clients_to": None if report.moves is None else report.moves.moves,
        "api_versions": report.versions,
        "connections": report.connections,
        "topics": [_topic(topic) for topic in report.topics],
        "groups": [_group(group) for group in report.groups.groups],
        "incidents": report.incidents,
        "encryption": report.encryption,
        "violations": report.rules,
        "telemetry": report.telemetry,
        "brokers": report.brokers,
        "before": report.before or None,
        "changes": report.changes if report.before else None,
    }
    return encode_json(_plain(document), indent=1) + "\n"


def _point(point: HistoryPoint) -> dict[str, Any]:
    return {name: value for name, value in _fields(point).items() if name != "to"}


def _upgrade(matrix: UpgradeMatrix) -> dict[str, Any]:
    clients = [
        {
            "client_key": line.client_key,
            "worst": line.worst,
            "by_release": {target: line.verdicts.get(target) for target in matrix.targets},
            "versions_ok": line.versions_ok,
            "findings": line.findings,
        }
        for line in matrix.clients
    ]
    return {"releases": matrix.targets, "counts": {target: matrix.count(target) for target in matrix.targets}, "clients": clients}


def _task(task: OwnerTask, names: Mapping[str, str]) -> dict[str, Any]:
    return {"name": task.name, **_fields(task), "ticket": ticket(task, names)}


def _action_item(item: ActionItem) -> dict[str, Any]:
    tickets = [
        {"team": one.team, "contact": one.contact, "client_keys": [task.client_key for task in one.tasks], "text": one.text}
        for one in item.tickets
    ]
    return {name: value for name, value in _fields(item).items() if name != "number"} | {"tickets": tickets}


def _topic(topic: Topic) -> dict[str, Any]:
    return {name: value for name, value in _fields(topic).items() if name not in ("writing", "reading")}


def _group(group: GroupLine) -> dict[str, Any]:
    trouble = [{"event": event, "time": time} for event, time in group.trouble]
    return {
        "group_id": group.group_id, "protocol": group.protocol, "rebalances": group.shown, "rebalance_count": group.rebalances,
        "left": group.left, "trouble": trouble, "trouble_count": group.troubled, "rebalances_again": group.again,
        "seconds_rebalancing": group.spent.total_seconds(),
    }  # fmt: skip


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, Listing):
        titles = [column.title for column in value.columns]
        return {"title": value.title, "lead": value.lead, "rows": [dict(zip(titles, row, strict=True)) for row in value.rows]}
    if is_dataclass(value):
        return {name: _plain(one) for name, one in _fields(value).items()}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value
