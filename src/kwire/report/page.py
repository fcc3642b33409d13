"""The page: one HTML file that holds everything it shows, readable offline.

Charts are drawn as HTML tables and inline SVG by the templates: each is a list of labelled numbers, so it follows the reader's colours,
prints, speaks to a screen reader and costs no script; chart libraries bring megabytes of script, or pictures that do neither.

Nothing from the wire can run: Jinja2 escapes it, `wire_text` shows it, and the page's Content-Security-Policy lets only the one script and
the one style sheet of this file work, known by their hashes, and no request leave the page.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kwire.report import amounts
from kwire.report.broken_rules import SEVERITIES
from kwire.report.contents import Report
from kwire.report.group_lines import LANE_HEIGHT, LANE_WIDTH
from kwire.report.inventory import IDENTITY_SOURCES, Client
from kwire.report.lineage_picture import draw_lineage
from kwire.report.owner_tasks import NO_TEAM
from kwire.report.tickets import deadline_sentence, ticket, what_to_do
from kwire.report.verdicts import VERDICTS, ClientVerdicts
from kwire.report.version_use import HEAT_STEPS
from kwire.report.wire_text import SENTENCE, visible, visible_html

__all__ = ["BARS_SHOWN", "ROWS_SHOWN", "render_page"]

ROWS_SHOWN: Final = 60
"""Rows of a long table that are there at first; the rest is one click away."""
BARS_SHOWN: Final = 30
CARDS_SHOWN: Final = 24
TEAMS_SHOWN: Final = 12

_SYMBOLS: Final = {"ok": "✓", "marked": "!", "undetermined": "?", "rejected": "✕"}
_MEANINGS: Final = {
    "ok": "keeps working",
    "marked": "works, but the release marks a version in use as deprecated",
    "undetermined": "the capture cannot tell",
    "rejected": "breaks: the release refuses a version in use",
}
_BASES: Final = {
    "observed_refusal": "A broker of this line refused it",
    "own_maximum": "The version is the client's own maximum",
    "no_negotiation": "The client does not ask which versions the broker takes",
    "known_client": "Known of this library",
    "broker_ceiling": "The broker's own maximum: the client may be able to do more",
    "inside_range": "The release takes this version",
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


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """A client and its verdicts, side by side."""

    client: Client | None
    verdicts: ClientVerdicts


def render_page(report: Report) -> str:
    """The page as text."""
    script, style = _asset("page.js"), _asset("page.css")
    by_key = {client.client_key: client for client in report.clients}
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            script=Markup(script),
            style=Markup(style),
            script_hash=_hash(script),
            style_hash=_hash(style),
            report=report,
            brokers=report.brokers,
            changes=report.changes,
            clients=report.clients,
            coverage=report.coverage,
            grid=report.versions,
            groups=report.groups,
            incidents=report.incidents,
            libraries=report.libraries,
            lineage=draw_lineage(report.topics),
            lines=[MatrixLine(by_key.get(verdicts.client_key), verdicts) for verdicts in report.matrix.clients],
            matrix=report.matrix,
            newest=report.newest,
            rules=report.rules,
            servers=report.servers,
            tasks=report.tasks,
            teams=report.teams,
            telemetry=report.telemetry,
            times=report.connections,
            topics=report.topics,
        )
    )


def _asset(name: str) -> str:
    return (files("kwire.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The text's name in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("kwire.report", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    made.filters.update(_filters())
    made.globals.update(
        bases=_BASES,
        words=_WORDS,
        identity_sources=IDENTITY_SOURCES,
        meanings=_MEANINGS,
        bars_shown=BARS_SHOWN,
        cards_shown=CARDS_SHOWN,
        rows_shown=ROWS_SHOWN,
        heat_steps=HEAT_STEPS,
        lane_height=LANE_HEIGHT,
        lane_width=LANE_WIDTH,
        no_team=NO_TEAM,
        severities=SEVERITIES,
        teams_shown=TEAMS_SHOWN,
        symbols=_SYMBOLS,
        verdicts_worst_first=tuple(reversed(VERDICTS)),
    )
    return made


def _filters() -> dict[str, Any]:
    return {
        "deadline": deadline_sentence,
        "label": _label,
        "packed": _packed,
        "ticket": lambda task: escape(ticket(task)).replace("\n", Markup("&#10;")),  # rows of a list are lines
        "sentence": lambda text: visible_html(text, SENTENCE),
        "what_to_do": what_to_do,
        "wire": visible_html,
        "wire_plain": visible,
        "grouped": amounts.count,
        "plural": amounts.plural,
        "compact": amounts.compact,
        "bytes": amounts.bytes_of,
        "duration": amounts.length_of_time,
        "seconds": lambda seconds: amounts.length_of_time(timedelta(seconds=seconds)),
        "moment": amounts.moment,
        "moment_after": amounts.moment_after,
        "share": amounts.share,
    }


def _packed(rows: list[str]) -> Markup:
    """Rows as lines of text, packed: a twentieth of their size, and nothing that a browser would read as markup."""
    lines = "\n".join(row.replace("\n", " ") for row in rows)
    return Markup(base64.b64encode(gzip.compress(lines.encode(), 6, mtime=0)).decode())


def _label(text: str, longest: int) -> str:
    """A name that has room in a picture; its title has all of it."""
    shown = visible(text)
    if not shown.strip():
        return "(blank)"
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
