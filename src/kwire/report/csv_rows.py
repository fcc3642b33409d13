"""Clients and their findings as CSV: a row for each finding, and one for each client without any.

Spreadsheets evaluate a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula. Such a cell gets a leading apostrophe, which marks
it as text. The same applies after a character that another locale treats as the end of a cell.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Final

from kwire.report.contents import Report
from kwire.report.inventory import Client
from kwire.report.tickets import cure_sentence
from kwire.report.verdicts import ClientVerdicts
from kwire.report.wire_text import visible

__all__ = ["cell_text", "csv_rows"]

_SIGNS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # and their full-width forms, which some spreadsheets read as the same
_FORMULA: Final = re.compile(rf"(^|[,;|])([\s\"']*)(?=[{_SIGNS}])")
_LONGEST: Final = 1_000

_CLIENT_COLUMNS: Final = (
    "team", "contact", "client_ids", "library", "version", "role", "principals", "addresses", "requests", "errors", "last_seen",
)  # fmt: skip
_FINDING_COLUMNS: Final = (
    "api", "api_version", "api_requests", "verdict", "from_release", "to_do", "reason", "evidence_connection_id", "evidence_request_index",
    "client_key",
)  # fmt: skip


def cell_text(text: str) -> str:
    """Return text from the wire for a cell: one line, printable, no formula."""
    return _FORMULA.sub(r"\1'\2", visible(text, _LONGEST))


def csv_rows(report: Report) -> str:
    """Return the rows with a heading, lines ending in CR LF (RFC 4180); text is quoted, numbers are not."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    targets = report.matrix.targets
    writer.writerow([*_CLIENT_COLUMNS, *(cell_text(f"on {target}") for target in targets), *_FINDING_COLUMNS])
    verdicts = {line.client_key: line for line in report.matrix.clients}
    judged = [line.client_key for line in report.matrix.clients]
    by_key = {client.client_key: client for client in report.clients}
    order = [*(key for key in judged if key in by_key), *(key for key in by_key if key not in verdicts)]
    for key in order:
        line = verdicts.get(key)
        of_client = [*_client(by_key[key]), *("" if line is None else line.verdicts.get(target, "") for target in targets)]
        writer.writerows([*of_client, *of_finding] for of_finding in _findings(key, line))
    return out.getvalue()


def _client(client: Client) -> Iterator[str | int]:
    texts = (client.owner, client.contact, ", ".join(client.client_ids), client.library, client.version, client.role)
    yield from map(cell_text, (*texts, ", ".join(client.principals), ", ".join(client.addresses)))
    yield _number(client.requests)
    yield _number(client.errors)
    yield "" if client.last_seen is None else client.last_seen.strftime("%Y-%m-%d %H:%M:%S")


def _findings(key: str, line: ClientVerdicts | None) -> Iterator[list[str | int]]:
    if line is None or not line.findings:
        yield ["", "", "", "" if line is None else line.worst or "", "", "", "", "", "", cell_text(key)]
        return
    for finding in line.findings:
        yield [
            cell_text(finding.api_name),
            _number(finding.api_version),
            finding.requests,
            finding.verdict,
            cell_text(finding.releases[0]),
            cell_text(cure_sentence(finding.cure) if finding.remedy or finding.cure_version else ""),
            cell_text(finding.reason),
            cell_text(finding.evidence_connection_id),
            _number(finding.evidence_request_index),
            cell_text(key),
        ]


def _number(value: int | None) -> str | int:
    return "" if value is None else value
