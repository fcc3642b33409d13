"""What a report says of TLS, worked out by hand from a few rows of a reading without secrets."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

from kwire.report.contents import read_report
from kwire.report.coverage import read_coverage
from kwire.report.encryption import read_encryption
from kwire.report.json_document import json_document
from kwire.report.markdown import markdown
from kwire.report.page import render_page

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)


def connection(number: int, client: str, **more: Any) -> dict[str, Any]:
    return {
        "connection_id": f"c{number}", "client_address": client, "server_address": "10.0.0.1", "server_port": 9093, "protocol": "tls",
        "tls_version": "TLS 1.3", "tls_ja4": "t13i", "last_seen": START + timedelta(minutes=number), "request_bytes": 600,
        "response_bytes": 400, **more,
    }  # fmt: skip


def fault(number: int, rule: str, explanation: str) -> dict[str, Any]:
    return {"rule": rule, "severity": "warning", "connection_id": f"c{number}", "explanation": explanation, "count": 1}


UNKNOWN_CA = "The TLS handshake failed: the client sent unknown_ca."
CONNECTIONS = [
    connection(1, "10.0.0.7"),
    connection(2, "10.0.0.7"),
    connection(3, "10.0.0.8", tls_version="TLS 1.0", tls_sni="<b>old</b>"),
    connection(4, "10.0.0.9", tls_decrypted="no_keys"),
    connection(5, "10.0.0.9", tls_decrypted="no_keys"),
    connection(6, "10.0.0.10", tls_decrypted="failed"),
    connection(7, "10.0.0.11", tls_decrypted="yes", protocol="kafka"),
]
VIOLATIONS = [
    fault(3, "tls_version_old", "The connection is at TLS 1.0, which is below TLS 1.2."),
    fault(1, "tls_handshake_failed", UNKNOWN_CA),
    fault(2, "tls_handshake_failed", UNKNOWN_CA),
    fault(7, "frame_unfinished", "not of TLS"),
]


def test_failed_handshakes_come_first_with_their_reason_and_how_often(folder_of: Any) -> None:
    faults, _ = read_encryption(folder_of(connections=CONNECTIONS, violations=VIOLATIONS))
    assert faults.rows == (
        ("10.0.0.7", "10.0.0.1:9093", "handshake failed", UNKNOWN_CA, "2", "TLS 1.3", "", "t13i", "2026-09-08 10:02:00"),
        (
            "10.0.0.8", "10.0.0.1:9093", "old version", "The connection is at TLS 1.0, which is below TLS 1.2.", "1", "TLS 1.0",
            "<b>old</b>", "t13i", "2026-09-08 10:03:00",
        ),
    )  # fmt: skip


def test_clients_that_stay_encrypted_are_listed_with_how_to_read_them(folder_of: Any) -> None:
    _, unread = read_encryption(folder_of(connections=CONNECTIONS))
    assert unread.rows == (
        ("10.0.0.9", "10.0.0.1:9093", "2", "2.0 kB", "TLS 1.3", "t13i", "no secrets"),
        ("10.0.0.10", "10.0.0.1:9093", "1", "1.0 kB", "TLS 1.3", "t13i", "secrets do not fit"),
    )
    assert "--tls-keys" in unread.lead


def test_coverage_names_the_clients_that_stay_encrypted(folder_of: Any) -> None:
    captures = [{"capture": "a.pcap", "source": "pcap", "bytes_decrypted": 5000, "start": START, "end": START}]
    facts = {fact.about: fact for fact in read_coverage(folder_of(captures=captures, connections=CONNECTIONS)).facts}
    assert facts["Encrypted"].level == "warning"
    assert facts["Encrypted"].sentence.startswith("3 connections of 2 client addresses stay encrypted: 10.0.0.9, 10.0.0.10.")
    assert facts["Decrypted"].sentence.startswith("5.0 kB behind TLS were decrypted")


def test_an_analysis_without_tls_says_nothing_of_it(folder_of: Any) -> None:
    folder = folder_of(connections=[connection(1, "10.0.0.7", protocol="kafka", tls_version=None)])
    assert read_encryption(folder) == ()
    assert 'id="encryption"' not in render_page(read_report(folder))


def test_every_form_of_the_report_has_it_and_nothing_of_a_hello_is_markup(folder_of: Any) -> None:
    report = read_report(folder_of(connections=CONNECTIONS, violations=VIOLATIONS))
    page = render_page(report)
    assert 'id="encryption"' in page
    assert "unknown_ca" in page
    assert "<b>old</b>" not in page
    assert UNKNOWN_CA in markdown(report)
    assert [each["title"] for each in json.loads(json_document(report))["encryption"]] == [each.title for each in report.encryption]
