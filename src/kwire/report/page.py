"""The page: one HTML file that holds everything it shows, readable offline.

Charts are drawn as HTML tables and inline SVG by the templates: each is a list of labelled numbers, so it follows the reader's colours,
prints, speaks to a screen reader and costs no script; chart libraries bring megabytes of script, or pictures that do neither.

Nothing from the wire can run: Jinja2 escapes it, `wire_text` shows it, and the page's Content-Security-Policy lets only the one script and
the one style sheet of this file work, known by their hashes, and no request leave the page.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import kwire
from kwire.report import amounts
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.broken_rules import SEVERITIES, read_broken_rules
from kwire.report.broker_list import read_brokers
from kwire.report.connection_times import UNKNOWN, read_connection_times
from kwire.report.coverage import read_coverage
from kwire.report.incidents import read_incidents
from kwire.report.inventory import IDENTITY_SOURCES, Client, by_library, read_clients
from kwire.report.server_coverage import read_server_coverage
from kwire.report.traffic import read_groups, read_telemetry, read_topics
from kwire.report.verdicts import VERDICTS, ClientVerdicts, UpgradeMatrix, read_upgrade_matrix
from kwire.report.version_use import HEAT_STEPS, read_version_grid
from kwire.report.wire_text import SENTENCE, visible, visible_html

__all__ = ["BARS_SHOWN", "ROWS_SHOWN", "render_page", "write_page"]

ROWS_SHOWN: Final = 60
"""Rows of a long table that are there at first; the rest is one click away."""
BARS_SHOWN: Final = 30

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


def write_page(out_dir: str | Path, *, command: str = "") -> str:
    """Write DIR/report.html from the tables in DIR and return its path.

    Args:
        out_dir: the folder of an analysis, or its URI.
        command: how the analysis was started; shown at the end of the page.

    Raises:
        InputError: the folder holds no analysis, a table cannot be read, the page cannot be written.
    """
    folder = AnalysisFolder(out_dir)
    page = render_page(folder, command=command)
    return folder.write("report.html", page.encode())


def render_page(folder: AnalysisFolder, *, command: str = "", made: datetime | None = None) -> str:
    """The page as text.

    Args:
        folder: the analysis.
        command: how the analysis was started.
        made: when the page was made; now by default.
    """
    clients = read_clients(folder)
    matrix = read_upgrade_matrix(folder)
    newest = matrix.targets[-1] if matrix.targets else ""
    script, style = _asset("page.js"), _asset("page.css")
    at_newest = {line.client_key: line.by_target[-1] for line in matrix.clients} if newest else {}
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            script=Markup(script),
            style=Markup(style),
            script_hash=_hash(script),
            style_hash=_hash(style),
            coverage=read_coverage(folder),
            servers=read_server_coverage(folder),
            brokers=read_brokers(folder),
            clients=clients,
            libraries=by_library(clients, at_newest),
            newest=newest,
            matrix=matrix,
            lines=_lines(matrix, clients),
            grid=read_version_grid(folder, newest),
            times=read_connection_times(folder, {client.client_key: client.library or UNKNOWN for client in clients}),
            rules=read_broken_rules(folder),
            incidents=read_incidents(folder),
            topics=read_topics(folder),
            groups=read_groups(folder),
            telemetry=read_telemetry(folder),
            made=made or datetime.now(UTC),
            command=command,
            kwire_version=kwire.__version__,
        )
    )


def _lines(matrix: UpgradeMatrix, clients: tuple[Client, ...]) -> list[MatrixLine]:
    by_key = {client.client_key: client for client in clients}
    return [MatrixLine(by_key.get(verdicts.client_key), verdicts) for verdicts in matrix.clients]


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
        rows_shown=ROWS_SHOWN,
        heat_steps=HEAT_STEPS,
        severities=SEVERITIES,
        symbols=_SYMBOLS,
        verdicts_worst_first=tuple(reversed(VERDICTS)),
    )
    return made


def _filters() -> dict[str, Any]:
    return {
        "one_line": lambda row: row.replace("\n", " "),
        "sentence": lambda text: visible_html(text, SENTENCE),
        "wire": visible_html,
        "wire_plain": visible,
        "grouped": amounts.count,
        "plural": amounts.plural,
        "compact": amounts.compact,
        "bytes": amounts.bytes_of,
        "duration": amounts.length_of_time,
        "moment": amounts.moment,
        "moment_after": amounts.moment_after,
        "share": amounts.share,
    }
