"""`--owners`: rules from TOML and CSV, the first that fits."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from kwire.analysis.owners import NO_OWNERS, Owners, read_owners
from kwire.errors import InputError
from kwire.tables.schemas import CLIENTS, UPGRADE_IMPACT

TOML = """
[[owner]]
client_id = "billing-*"
principal = "User:billing"
team = "Payments"
contact = "#payments"

[[owner]]
client_id = "billing-*"
team = "Billing without a name"

[[owner]]
address = "10.4.0.0/16"
team = "Warehouse"

[[owner]]
address = "2001:db8::/32"
team = "Six"
"""


def owners_of(folder: Path, content: str, name: str = "owners.toml") -> Owners:
    (folder / name).write_text(content)
    return read_owners(str(folder / name))


@pytest.mark.parametrize(
    ("client_ids", "principals", "addresses", "expected"),
    [
        (["billing-1"], ["User:billing"], ["10.4.0.1"], ("Payments", "#payments")),
        (["other", "billing-2"], [], [], ("Billing without a name", None)),
        (["Billing-1"], [], ["10.4.255.9"], ("Warehouse", None)),
        ([], [], ["10.5.0.1"], (None, None)),
        ([], [], ["::ffff:10.4.0.1"], ("Warehouse", None)),
        ([], [], ["[2001:db8::1]"], ("Six", None)),
        ([], [], ["broker-1.example"], (None, None)),
        ([], [], [], (None, None)),
    ],
)
def test_the_first_rule_that_fits_says_who(
    tmp_path: Path, client_ids: list[str], principals: list[str], addresses: list[str], expected: tuple[str | None, str | None]
) -> None:
    assert owners_of(tmp_path, TOML).of(client_ids, principals, addresses) == expected


def test_csv_says_the_same_and_the_last_line_may_be_for_all(tmp_path: Path) -> None:
    lines = ("owner,client_id,cidr,contact", "Warehouse,,10.4.0.0/16,ops@example.com", "Platform, ,,", "")
    owners = owners_of(tmp_path, "\n".join(lines), "OWNERS.CSV")
    assert owners.of(["a"], [], ["10.4.0.1"]) == ("Warehouse", "ops@example.com")
    assert owners.of(["a"], [], ["10.5.0.1"]) == ("Platform", None)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.toml", "owner = 3", "[[owner]]"),
        ("a.toml", "owner = [3]", "[[owner]]"),
        ("a.toml", "title = 'a'\n[[owner]]\nteam = 'a'", "[[owner]]"),
        ("a.toml", "[[owner]]\nclient_id = 'a'", "owner 1 of .*names no team"),
        ("a.toml", "[[owner]]\nteam = 'a'\naddress = '10.0.0/99'", "not a CIDR network"),
        ("a.toml", "[[owner]]\nteam = 'a'\nadress = '10.0.0.0/8'", "'adress'"),
        ("a.toml", "[[owner]]\nteam = 5", "must be a string"),
        ("a.toml", "[[owner", "not valid TOML"),
        ("a.csv", "client_id\nbilling", "line 2 of .*names no team"),
    ],
)
def test_a_file_that_makes_no_sense_is_one_sentence(tmp_path: Path, name: str, content: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("[[", r"\[\[").replace("]]", r"\]\]")):
        owners_of(tmp_path, content, name)


def test_a_file_that_is_not_there_or_no_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_owners(str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b"[[owner]]\nteam = '\xe9quipe'")
    with pytest.raises(InputError, match="not UTF-8 text, at byte 18"):
        read_owners(str(tmp_path / "latin.toml"))


def test_both_tables_are_filled_and_a_folded_id_takes_its_clients_owner(tmp_path: Path) -> None:
    clients = pa.Table.from_pylist(
        [
            {"client_key": "a", "client_ids": ["billing-1", "billing-2"], "principals": [], "addresses": ["10.9.0.1"]},
            {"client_key": "b", "client_ids": ["else"], "principals": None, "addresses": ["10.9.0.2"]},
        ],
        schema=CLIENTS,
    )
    impact = pa.Table.from_pylist(
        [{"client_key": "a", "client_id": "b#"}, {"client_key": "a", "client_id": "billing-1"}, {"client_key": "b", "client_id": None}],
        schema=UPGRADE_IMPACT,
    )
    tables = {"clients": clients, "upgrade_impact": impact, "other": clients}
    filled = owners_of(tmp_path, TOML).fill(tables)
    assert filled["clients"]["owner"].to_pylist() == ["Billing without a name", None]
    assert filled["upgrade_impact"]["owner"].to_pylist() == ["Billing without a name", "Billing without a name", None]
    assert filled["upgrade_impact"].schema == UPGRADE_IMPACT
    assert filled["other"] is clients
    assert all(NO_OWNERS.fill(tables)[name] is table for name, table in tables.items())
