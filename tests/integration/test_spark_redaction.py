"""The job with `--redact` and `--owners`: nothing in the output folder names anybody, and no password is in any output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kwire import analysis
from kwire.analysis.redaction import Redaction
from kwire.report import write_page
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from kwire.tables import SCHEMAS
from kwire.tables.column_classes import class_of

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

CAPTURES = Path(__file__).parent.parent / "captures" / "data"
SASL = str(CAPTURES / "sasl.pcap.gz")
PASSWORDS = ("pay-secret", "etl-secret", "desk-secret", "rep-secret", "wh-secret", "AHBheW1lbnRz", "ZmlkdmZybXE0")
KAFKAS_OWN = {"SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "consumer", "connect", "roundrobin", "cooperative-sticky", "uniform"}
WITHOUT_NAMES = {"plain", "sentence", "wire_text", "difference", "attributes"}


def said(folder: Path) -> str:
    """All that an output folder says: tables, manifest, page, and the names of its files."""
    tables = {name: ds.dataset(folder / name, format="parquet").to_table().to_pylist() for name in SCHEMAS}
    texts = [json.dumps(tables, default=str, ensure_ascii=False)]
    for path in folder.rglob("*"):
        texts.append(str(path.relative_to(folder)))
        if path.is_file() and path.suffix != ".parquet":
            texts.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(texts)


def names_of(tables: dict[str, object]) -> set[str]:
    names: set[str] = set()
    for table, rows in tables.items():
        for name in rows.column_names:  # type: ignore[attr-defined]
            if class_of(table, name) in WITHOUT_NAMES:
                continue
            for value in rows[name].to_pylist():  # type: ignore[index]
                for each in value if isinstance(value, list) else [value]:
                    found = re.fullmatch(r"(.+):(\d+)-(.+):(\d+)-\d+", each or "")
                    names |= {found.group(1), found.group(3)} if found else {each or ""}
    # shorter ones are words of the page too: `plain`, `search`
    return {name for name in names - KAFKAS_OWN if len(name) > 6 and not name.startswith("__")}


@pytest.mark.usefixtures("spark")
def test_a_redacted_folder_names_nobody_and_an_open_one_holds_no_password(tmp_path: Path) -> None:
    (tmp_path / "owners.toml").write_text('[[owner]]\nprincipal = "User:payments"\nteam = "Team P"\ncontact = "#p"\n')
    plain, redacted = tmp_path / "plain", tmp_path / "redacted"
    owners = str(tmp_path / "owners.toml")
    run_job(JobRequest(inputs=(SASL,), out=str(plain), owners=owners), page=write_page)
    run_job(JobRequest(inputs=(SASL,), out=str(redacted), owners=owners, redaction=Redaction(b"k" * 32)), page=write_page)

    open_text = said(plain)
    assert "payments-service" in open_text
    assert [password for password in PASSWORDS if password in open_text] == []

    names = names_of(analysis.run([SASL]))
    assert len(names) > 30
    text = said(redacted)
    assert sorted(name for name in names if name in text) == []
    assert "sasl.pcap" not in text

    clients = ds.dataset(redacted / "clients", format="parquet").to_table().to_pylist()
    assert {(each["owner"], each["contact"]) for each in clients} == {("Team P", "#p"), (None, None)}
    page = (redacted / "report.html").read_text()
    assert "Team P" in page
    connections = ds.dataset(redacted / "connections", format="parquet").to_table().to_pylist()
    assert {each["client_key"] for each in connections} <= {each["client_key"] for each in clients}
    assert any(each["node_id"] is not None for each in connections)
