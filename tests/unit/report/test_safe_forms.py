"""Markdown, JSON and CSV of hostile clients: nothing of what they call themselves is taken for anything but text.

Markdown is read by markdown-it, CSV as spreadsheets of both locales read it: with commas and with semicolons.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kwire.report import render_report
from kwire.report.csv_rows import cell_text
from kwire.report.markdown_text import code, table, words

FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "a;=HYPERLINK(0)", "\t=1", "x\r\n=1", " =1", "\uff1d1", '";=1', "a,'=1")
MARKS = (
    "`",
    "``x`",
    "[a](http://b.example)",
    "![i](http://b.example/i)",
    "@everyone #1 http://c.example www.d.example",
    "a|b\\",
    "***",
    "#",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, analysis_tables: ModuleType) -> Path:
    """A fleet in which every name is one that something would obey, everywhere where names can stand."""
    bad = (*analysis_tables.HOSTILE_IDS, *FORMULAS, *MARKS)
    tables = analysis_tables.tables_of([analysis_tables.Used(text, text, text, versions=analysis_tables.JAVA_09) for text in bad])
    for row in tables["upgrade_impact"]:
        text = row["software_name"]
        row.update(reason=text, remedy=text, cure_version=text, cure_kind=text, evidence_connection_id=text)
    analysis_tables.add_traffic(tables, bad)
    tables["violations"] = [analysis_tables.violation(text or "rule", text, text, 0, text) for text in bad]
    folder: Path = analysis_tables.write_tables(tmp_path_factory.mktemp("hostile") / "out", tables)
    return folder


def tokens(text: str) -> list[tuple[str, str]]:
    """Kinds and texts of all that a Markdown reader finds, tables too."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found += [(token.type, token.content), *((child.type, child.content) for child in token.children or ())]
    return found


def test_markdown_holds_hostile_text_in_code_spans_only(hostile: Path) -> None:
    found = tokens(render_report(hostile, "md"))
    assert {kind for kind, _ in found} & {"html_block", "html_inline", "link_open", "image", "fence", "code_block", "em_open"} == set()
    plain = " ".join(text for kind, text in found if kind == "text")
    assert not re.search(r"hacked|example|everyone|SUM|calc|\x1b|\u202e", plain)
    spans = " ".join(text for kind, text in found if kind == "code_inline")
    for text in ("<script>window.__hacked = 1</script>", "[a](http://b.example)", "``x`", "\\x1b[31mred\\x1b]0;title\\x07", "=cmd"):
        assert text in spans


def test_every_row_of_a_markdown_table_has_its_cells(hostile: Path) -> None:
    text = render_report(hostile, "md")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [line.split(" | ") for line in block.splitlines() if not line.startswith("|---")]
        assert len({len(row) for row in rows}) == 1


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_is_one_code_span(text: str) -> None:
    kinds = [kind for kind, _ in tokens(f"x {code(text)} y")]
    assert kinds in (
        ["paragraph_open", "inline", "text", "code_inline", "text", "paragraph_close"],
        ["paragraph_open", "inline", "text", "paragraph_close"],
    )
    assert len(tokens("\n".join(table(["a", "b"], [[code(text), "c"]])))) == len(tokens("\n".join(table(["a", "b"], [["`a`", "c"]]))))


@pytest.mark.parametrize("sentence", ["Set Version to V2_1_0_0 or later, 100 % (see KIP-896).", "It's 1/2: fine; a+b=c"])
def test_our_own_sentences_stay_as_they_are(sentence: str) -> None:
    assert words(sentence) == sentence
    assert [text for kind, text in tokens(sentence) if kind == "text"] == [sentence]


@pytest.mark.parametrize("sentence", ["see http://a.example", "WWW.a.example", "a@b", "<b>", "_it_", "*x*", "`x`", "a\nb", "[x]"])
def test_other_sentences_become_code(sentence: str) -> None:
    assert words(sentence).startswith("`")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_of_the_csv_is_a_formula(hostile: Path, delimiter: str) -> None:
    text = render_report(hostile, "csv")
    assert all(character.isprintable() or character in "\r\n" for character in text)
    cells = [cell for row in csv.reader(io.StringIO(text), delimiter=delimiter) for cell in row]
    assert len(cells) > 100
    # a spreadsheet may drop blanks and quotes before it looks for a sign
    assert [cell for cell in cells if cell.lstrip(' "')[:1] in tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")] == []


@given(st.text(st.sampled_from("=+-@;,|'\" \ta1\n\uff1d"), max_size=12))
def test_no_text_becomes_a_formula_wherever_it_is_cut(text: str) -> None:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC).writerow(["a", cell_text(text)])
    for delimiter in ",;":
        for cell in next(csv.reader([line.getvalue()], delimiter=delimiter)):
            assert cell.lstrip(' "')[:1] not in tuple("=+-@\uff1d")


def test_a_plain_name_is_left_alone() -> None:
    assert cell_text("team-0.service_12 (a=b)") == "team-0.service_12 (a=b)"


def test_the_csv_has_a_row_for_each_finding_and_each_client_without(tmp_path: Path, analysis_tables: ModuleType) -> None:
    folder = analysis_tables.write_tables(tmp_path / "out", analysis_tables.tables_of(analysis_tables.FLEET))
    rows = list(csv.DictReader(io.StringIO(render_report(folder, "csv"))))
    bridge = [row for row in rows if row["client_ids"] == "erp-bridge"]
    assert {(row["api"], row["api_version"], row["from_release"]) for row in bridge if row["verdict"] == "breaks"} == {
        ("Produce", "1", "4.0.2"), ("Fetch", "1", "4.0.2"), ("ListOffsets", "0", "4.0.2"),
    }  # fmt: skip
    assert {row["on 4.3.1"] for row in bridge} == {"breaks"}
    (scorer,) = [row for row in rows if row["client_ids"] == "fraud-scorer"]
    assert (scorer["verdict"], scorer["api"], scorer["principals"]) == ("compatible", "", "User:fraud")
    assert {row["client_ids"] for row in rows} == {client.client_id for client in analysis_tables.FLEET}


def test_json_is_ascii_and_holds_what_was_sent(hostile: Path, analysis_tables: ModuleType) -> None:
    text = render_report(hostile, "json")
    assert text.isascii()
    document = json.loads(text)
    ids = {name for client in document["clients"] for name in client["client_ids"]}
    assert ids == {*analysis_tables.HOSTILE_IDS, *FORMULAS, *MARKS}


def test_every_key_of_the_json_is_on_its_page(hostile: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "report.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \|", page[page.index("## As JSON") :], re.MULTILINE)
    assert documented == list(json.loads(render_report(hostile, "json")))


def test_json_has_the_numbers_of_the_tables(tmp_path: Path, analysis_tables: ModuleType) -> None:
    tables = analysis_tables.tables_of(analysis_tables.FLEET)
    document = json.loads(render_report(analysis_tables.write_tables(tmp_path / "out", tables), "json"))
    by_id = {client["client_ids"][0]: client for client in document["clients"]}
    for row in tables["clients"]:
        found = by_id[row["client_ids"][0]]
        assert (found["requests"], found["connections"]) == (row["requests"], row["connections"])
        assert found["first_seen"] == row["first_seen"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    bridge = next(one for one in document["upgrade"]["clients"] if one["client_key"] == "key-erp-bridge-None")
    assert bridge["by_release"] == {"3.9.2": "deprecated", **dict.fromkeys(("4.0.2", "4.1.2", "4.2.1", "4.3.1"), "breaks")}
    assert document["upgrade"]["counts"]["4.3.1"]["breaks"] == 3
    assert document["tasks"][0]["ticket"].splitlines()[0] == "**Kafka client `erp-bridge` breaks on Kafka 4.0**"
