"""Page of a report: one self-contained HTML file, readable offline and without its script.

Text from the wire cannot run: Jinja2 escapes it, `wire_text` makes it visible, and the page's Content-Security-Policy allows only the
script and style sheet of this file, identified by their hashes, and no requests.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kwire.analysis.digests import PAGE
from kwire.analysis.digests.of_clients import WORST_FIRST
from kwire.report import amounts, pictures
from kwire.report.broken_rules import SEVERITIES
from kwire.report.burn_down import judged_for
from kwire.report.contents import Report, clients_drawn
from kwire.report.fix_tickets import action_items
from kwire.report.inventory import applications, identified_by
from kwire.report.lineage import topics_at_risk
from kwire.report.member_names import named_members
from kwire.report.owner_tasks import NO_TEAM, needed
from kwire.report.verdicts import VERDICTS, ClientVerdicts, release_order
from kwire.report.version_use import ApiVersions
from kwire.report.wire_text import SENTENCE, visible, visible_html

__all__ = ["BARS_SHOWN", "ROWS_SHOWN", "render_page"]

ROWS_SHOWN: Final = 25
"""Initial number of rows in the list of clients; a click shows the rest."""
BARS_SHOWN: Final = 20
"""Initial number of rows in other lists."""
FIXES_SHOWN: Final = 60
COVER_SHOWN: Final = 8
TEAMS_SHOWN: Final = 12
TICKETS_SHOWN: Final = 5
FINDINGS_SHOWN: Final = 8
GROUPS_DRAWN: Final = 20

_SCRIPTS: Final = ("lists.js", "pictures.js", "page.js")
_STYLES: Final = ("page.css", "tables.css", "pictures.css")
_SYMBOLS: Final = {"compatible": "✓", "deprecated": "!", "unknown": "?", "breaks": "✕", "unjudged": "·"}
_MEANINGS: Final = {
    "compatible": "keeps working",
    "deprecated": "works, but this Kafka version deprecates the API version",
    "unknown": "not enough evidence",
    "breaks": "uses an API version that this Kafka version removed",
}
_BASES: Final = {
    "observed_refusal": "A broker of this version rejected it",
    "own_maximum": "The version is the client's own maximum",
    "no_negotiation": "The client does not negotiate versions (no ApiVersions request)",
    "known_client": "Known of this library",
    "broker_ceiling": "The broker's own maximum: the client may support more",
    "inside_range": "Kafka supports this version",
    "removed_feature": "Kafka removed a feature that the client uses",
}
_WORDS: Final = {
    "complete": "seen from beginning to end",
    "joined_late": "open before the capture",
    "open": "open at the end of the capture",
    "reset": "reset",
    "kafka": "Kafka",
    "tls": "TLS",
    "http": "HTTP",
    "ssh": "SSH",
    "silent": "nothing",
    "proxy": "nothing behind a PROXY header",
    "unknown": "an unknown protocol",
}
_STATES: Final = {
    "answered": "answered",
    "no_response_expected": "no response expected",
    "unanswered": "no answer: connection closed by the broker or capture ended",
    "abandoned": "closed by the client before the answer",
    "unseen": "answer not captured",
}
_KINDS: Final = {"silent": "sent nothing", "stranger": "another protocol", "cluster": "part of the cluster"}


def render_page(report: Report) -> str:
    script, style = _assets(_SCRIPTS), _assets(_STYLES)
    facts = {field.name: getattr(report, field.name) for field in fields(report)} | {
        "script": Markup(script),
        "style": Markup(style),
        "script_hash": _hash(script),
        "style_hash": _hash(style),
        "report": report,
        "by_key": {client.client_key: client for client in report.clients},
        "connections_of": report.client_connections,
        "grid": report.versions,
        "libraries": sorted(report.libraries, key=lambda line: [-line.verdicts.get(name, 0) for name in WORST_FIRST[:-1]]),
        "newest": report.newest,
        "others": [client for client in report.clients if client.kind != "application"][: PAGE.others],
        "other_count": sum(number for kind, number in report.matrix.fleet.kinds.items() if kind not in ("application", "")),
        "times": report.connections,
    }
    return _templates().get_template("page.html.j2").render(facts | _verdict_facts(report) | _action_facts(report))


def _verdict_facts(report: Report) -> dict[str, Any]:
    counted, fleet = applications(report.clients), report.matrix.fleet
    keys = {client.client_key for client in counted}
    lines = [line for line in report.matrix.clients if line.client_key in keys]
    worst_of = {line.client_key: line.worst for line in lines}
    worst = fleet.worst
    risks = topics_at_risk(report.topics)
    counts = [(name, worst[name]) for name in WORST_FIRST] if lines else []
    without = [
        ClientVerdicts(client_key=client.client_key, verdicts={}, findings=(), versions_ok=0)
        for client in counted
        if client.client_key not in worst_of
    ]
    return {
        "lines": (lines + without)[: PAGE.listed],
        "line_count": fleet.kinds["application"],
        "worst_of": worst_of,
        "unjudged": worst[None],
        "worst_counts": [*counts, *([("unjudged", worst[None])] if worst[None] else [])],
        "risks": risks,
        "judged_for": judged_for(report.history),
        "apis_worst_first": sorted(report.versions.apis, key=_api_order),
        "pictures": SimpleNamespace(
            ages=pictures.library_age(fleet),
            breaks=pictures.breaks_per_version(fleet, report.matrix.columns, report.names),
            burn_down=pictures.burn_down(report.history),
            clients=pictures.client_strips(report.traffic, clients_drawn(counted, report.matrix), worst_of) if report.traffic else (),
            connections=pictures.connection_strip(report.connections) if report.connections else None,
            topics=pictures.topic_losses(risks),
            traffic=pictures.traffic_strips(report.traffic) if report.traffic else (),
        ),
    }


def _action_facts(report: Report) -> dict[str, Any]:
    items = action_items(report.tasks, report.names)
    return {
        "items": items,
        "fix_of": {task.client_key: item.number for item in items for task in item.tasks},
        "first_needed": min(items, key=lambda item: (item.step == "rollback", release_order(item.since)), default=None),
        "known_teams": [team for team in report.teams if team.name != NO_TEAM],
        "team_places": {team.name: place for place, team in enumerate(report.teams)},
        "teams_ranked": sorted(
            report.teams, key=lambda team: (team.name == NO_TEAM, *(-team.tasks[name] for name in WORST_FIRST), team.name)
        ),
    }


def _api_order(api: ApiVersions) -> tuple[int, ...]:
    worst = [VERDICTS.index(cell.verdict) for cell in api.cells if cell and cell.verdict]
    return -max(worst, default=0), -1 if api.api_key is None else api.api_key


def _assets(names: tuple[str, ...]) -> str:
    return "\n".join((files("kwire.report") / "templates" / name).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("kwire.report", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    made.filters.update(_filters())
    made.globals.update(
        bases=_BASES,
        words=_WORDS,
        states=_STATES,
        kinds=_KINDS,
        identified_by=identified_by,
        meanings=_MEANINGS,
        bars_shown=BARS_SHOWN,
        cover_shown=COVER_SHOWN,
        findings_shown=FINDINGS_SHOWN,
        fixes_shown=FIXES_SHOWN,
        groups_drawn=GROUPS_DRAWN,
        rows_shown=ROWS_SHOWN,
        teams_shown=TEAMS_SHOWN,
        tickets_shown=TICKETS_SHOWN,
        group_strip=pictures.group_strip,
        needed=needed,
        no_team=NO_TEAM,
        severities=SEVERITIES,
        symbols=_SYMBOLS,
        verdicts_worst_first=WORST_FIRST,
    )
    return made


def _filters() -> dict[str, Any]:
    return {
        "verdict": lambda name: "no verdict" if name == "unjudged" else name,
        "capital": lambda text: text[:1].upper() + text[1:],
        "clock": _clock,
        "label": _label,
        "lines": lambda text: escape(text).replace("\n", Markup("&#10;")),  # rows of a list are lines
        "packed": _packed,
        "sentence": lambda text: visible_html(text, SENTENCE),
        "members": _members,
        "wire": visible_html,
        "wire_line": lambda text: visible(text, SENTENCE),
        "wire_plain": visible,
        "grouped": amounts.count,
        "plural": amounts.plural,
        "compact": amounts.compact,
        "bytes": amounts.bytes_of,
        "duration": amounts.length_of_time,
        "seconds": lambda seconds: amounts.length_of_time(timedelta(seconds=seconds)),
        "moment": amounts.moment,
        "kafka": lambda name: amounts.named(name).removesuffix(name),
        "moment_after": amounts.moment_after,
        "share": amounts.share,
    }


def _clock(time: datetime | None) -> str:
    return "" if time is None else f"{time:%H:%M:%S}.{time.microsecond // 1000:03}"


def _packed(rows: list[str]) -> Markup:
    """Pack rows as lines of text, which take a twentieth of the size and contain no markup."""
    lines = "\n".join(row.replace("\n", " ") for row in rows)
    return Markup(base64.b64encode(gzip.compress(lines.encode(), 9, mtime=0)).decode())


def _members(text: str, members: Mapping[str, str]) -> Markup:
    """Return short names of members, with the whole id as a tooltip."""
    if len(text) > SENTENCE:
        return visible_html(text)
    named = Markup('<abbr title="{}">{}</abbr>')
    return Markup("").join(
        _part(part) if whole is None else named.format(visible(whole), visible_html(part)) for part, whole in named_members(text, members)
    )


def _part(text: str) -> Markup:
    return visible_html(text) if text.strip() else escape(text)


def _label(text: str, longest: int) -> str:
    shown = visible(text)
    if not shown.strip():
        return "(blank)"
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
