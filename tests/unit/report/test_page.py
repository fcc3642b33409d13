"""The page as text: whole in itself, nothing in it can run or call out but its own script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from kwire.errors import InputError
from kwire.report import render_report, write_page
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.contents import read_report
from kwire.report.markdown import markdown
from kwire.report.member_names import named_members
from kwire.report.page import ROWS_SHOWN

SECTIONS = [
    "coverage", "actions", "clients", "libraries", "topics", "versions", "traffic", "groups", "incidents", "violations", "telemetry",
    "brokers",
]  # fmt: skip


class Document(HTMLParser):
    """Every element of a page, and the text of its scripts and styles."""

    VOID = frozenset(("meta", "link", "br", "col", "input", "line", "rect"))

    def __init__(self, path: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.text = ""
        self.open: list[str] = []
        self.feed(Path(path).read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        else:
            self.text += data

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory, analysis_tables: ModuleType) -> Document:
    """The fleet, and a client for each text that a careless page would obey, everywhere where such text can stand."""
    bad = analysis_tables.HOSTILE_IDS
    clients = [analysis_tables.Used(text, text, str(n), versions=analysis_tables.JAVA_09, principal=text) for n, text in enumerate(bad)]
    tables = analysis_tables.tables_of([*analysis_tables.FLEET, *clients])
    analysis_tables.add_traffic(tables, bad)
    tables["violations"] = [analysis_tables.violation(text, text, text, 0, text) for text in bad]
    for row, text in zip(tables["upgrade_impact"][-len(bad) :], bad, strict=True):
        row.update(
            reason=text, remedy=text, cure_version=text, cure_kind=text, verdict="breaks", verdict_basis=text, target_release="4.3.1"
        )
    for row in tables["brokers"]:
        row.update(host=bad[0], rack=bad[1], cluster_id=bad[2], release_guess=bad[0])
    for row in tables["captures"]:
        row.update(capture=bad[0], source=bad[1])
    for row, text in zip(tables["connections"], bad, strict=False):
        row.update(state=text, protocol=text, client_key=None)
    return Document(write_page(analysis_tables.write_tables(tmp_path_factory.mktemp("page"), tables), command=bad[0]))


def test_sections_come_in_order(hostile_page: Document) -> None:
    assert [attributes["id"] for tag, attributes in hostile_page.elements if tag == "section"] == SECTIONS
    labels = {attributes["aria-labelledby"] for tag, attributes in hostile_page.elements if tag == "section"}
    assert labels <= set(hostile_page.attributes("id"))


def test_every_element_is_closed(hostile_page: Document) -> None:
    assert hostile_page.open == []


def test_the_page_loads_nothing(hostile_page: Document) -> None:
    assert hostile_page.attributes("src") == []
    targets = set(hostile_page.attributes("href"))
    assert {target for target in targets if not target.startswith("#")} == {"data:,"}
    sections = {target[1:] for target in targets if target.startswith("#") and not target.startswith("#client=")}
    assert sections <= set(hostile_page.attributes("id"))
    assert not re.search(r"url\(|@import|https?:", hostile_page.raw["style"][0])
    assert not re.search(r"https?:|fetch|XMLHttpRequest|import\(|innerHTML|eval", hostile_page.raw["script"][0])


def test_only_the_own_script_and_style_may_work(hostile_page: Document) -> None:
    assert len(hostile_page.raw["style"]) == 1
    assert [attributes for tag, attributes in hostile_page.elements if tag == "script" and "type" not in attributes] == [{}]
    policy = next(a["content"] for _, a in hostile_page.elements if a.get("http-equiv") == "Content-Security-Policy") or ""
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(hostile_page.raw[kind][0].encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    names = {name for _, attributes in hostile_page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name == "style"}


def test_hostile_text_stays_text(hostile_page: Document) -> None:
    tags = {tag for tag, _ in hostile_page.elements}
    assert not tags & {"img", "iframe", "object", "embed", "base", "form"}
    assert "<script>window.__hacked = 1</script>" in hostile_page.text
    assert '"><img src=x onerror="window.__hacked = 2">' in hostile_page.text
    assert "\\x1b[31mred\\x1b]0;title\\x07" in hostile_page.text
    assert "{{ 7 * 7 }} {% raw %}" in hostile_page.text
    assert "\u202e" not in hostile_page.text
    assert "right to left \\u202etxt.exe\\u202c and no\\u200bwidth" in hostile_page.text


def test_ids_are_unique_and_tables_have_captions(hostile_page: Document) -> None:
    ids = hostile_page.attributes("id")
    assert len(ids) == len(set(ids))
    tags = [tag for tag, _ in hostile_page.elements]
    assert tags.count("caption") == tags.count("table") > 5
    assert {"th", "svg"} <= set(tags)
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in hostile_page.elements if tag == "th")
    assert all(attributes.get("aria-label") or attributes.get("aria-hidden") for tag, attributes in hostile_page.elements if tag == "svg")


def test_an_empty_file_is_no_protocol_violation(tmp_path: Path, analysis_tables: ModuleType) -> None:
    tables = analysis_tables.tables_of(analysis_tables.FLEET)
    tables["violations"] = [analysis_tables.violation("capture_unreadable", "error", "b.pcap is empty")]
    folder = analysis_tables.write_tables(tmp_path, tables)
    page = Path(write_page(folder)).read_text(encoding="utf-8")
    section = page[page.index('<section id="violations"') :]
    assert re.search(r"No protocol violations\..*Problems of input files.*b\.pcap is empty", section, re.DOTALL)
    text = render_report(folder, "md")
    assert re.search(
        r"## Protocol violations\n\nNo protocol violations\.\n\n## Problems of input files\n.*b\.pcap is empty", text, re.DOTALL
    )


def test_empty_tables_have_a_sentence(tmp_path: Path, analysis_tables: ModuleType) -> None:
    page = Document(write_page(analysis_tables.write_tables(tmp_path, {"captures": [], "clients": []})))
    assert page.text.count("No protocol violations.") == 1
    assert "No capture was read" in page.text
    assert "there is no verdict on any client" in page.text
    assert "No TCP connection was seen." in page.text


def test_verdicts_have_a_word_beside_their_colour(hostile_page: Document) -> None:
    cells = [
        attributes["title"] or ""
        for tag, attributes in hostile_page.elements
        if tag == "td" and (attributes.get("title") or "").startswith("Kafka 4.3: ")
    ]
    assert len(cells) > 10
    assert {cell.split(": ")[1] for cell in cells} == {"compatible", "unknown", "breaks"}


def test_the_first_table_names_the_applications(tmp_path: Path, analysis_tables: ModuleType) -> None:
    out = analysis_tables.write_tables(tmp_path / "out", analysis_tables.tables_of(analysis_tables.FLEET))
    page = Path(write_page(out)).read_text(encoding="utf-8")
    body = page[page.index("<body>") :]
    first = body[body.index("<table") : body.index("</table>")]
    for name in ("erp-bridge", "pricing-svc", "gateway-v2", "late-reader"):
        assert name in first


def test_markdown_has_the_words_of_the_page(tmp_path: Path, analysis_tables: ModuleType) -> None:
    out = analysis_tables.write_tables(tmp_path / "out", analysis_tables.tables_of(analysis_tables.FLEET))
    page = Path(write_page(out)).read_text(encoding="utf-8")
    (answer,) = re.findall(r"<h1.*?><bdi>(.*?)</bdi></h1>", page)
    first, *rest = markdown(read_report(AnalysisFolder(out))).splitlines()
    assert first == f"# {answer}"
    titles = {re.sub("<.*?>", "", title) for title in re.findall(r"<(?:h2|h3|b)[ >].*?</(?:h2|h3|b)>", page)}
    assert {line[3:] for line in rest if line.startswith("## ")} <= titles
    (verdicts,) = (line for line in rest if "| breaks |" in line)
    assert verdicts == "| Kafka version | breaks | unknown | deprecated | compatible |"


def test_the_answer_is_red_where_brokers_reject_clients_today(tmp_path: Path, analysis_tables: ModuleType) -> None:
    tables = analysis_tables.tables_of(analysis_tables.FLEET)
    for row in tables["brokers"]:
        row["release_guess"] = "4.3.1"
    page = Path(write_page(analysis_tables.write_tables(tmp_path / "out", tables))).read_text(encoding="utf-8")
    assert re.search(r'<h1 class="breaks-text">.* rejected by your brokers today', page)


def test_long_lists_open_in_part(tmp_path: Path, analysis_tables: ModuleType) -> None:
    clients = [analysis_tables.Used(f"client-{n:04}", versions={"Fetch": 12}) for n in range(ROWS_SHOWN + 40)]
    page = Document(write_page(analysis_tables.write_tables(tmp_path, analysis_tables.tables_of(clients))))
    texts = [attributes for tag, attributes in page.elements if tag == "script" and attributes]
    assert texts == [{"type": "application/gzip", "data-rows-of": "client-table"}]
    stored = [gzip.decompress(base64.b64decode(text)).decode().splitlines() for text in page.raw["script"][1:]]
    assert [len(lines) for lines in stored] == [40]
    assert [tag for tag, _ in page.elements].count("tbody") == ROWS_SHOWN + 6  # and one in each of the other tables
    everywhere = page.text + "".join(line for lines in stored for line in lines)
    assert all(f"client-{n:04}" in everywhere for n in range(ROWS_SHOWN + 40))


def test_nothing_is_left_beside_the_page(tmp_path: Path, analysis_tables: ModuleType) -> None:
    out = analysis_tables.write_tables(tmp_path / "out", {"clients": []})
    assert write_page(out) == f"{out}/report.html"
    assert sorted(path.name for path in out.iterdir()) == ["clients", "report.html"]


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path, analysis_tables: ModuleType) -> None:
    out = analysis_tables.write_tables(tmp_path / "out", {"clients": []})
    (out / "report.html").mkdir()
    (out / "report.html" / "in the way").touch()
    with pytest.raises(InputError, match=r"report\.html cannot be written: .*\.$"):
        write_page(out)
    assert not (out / ".report.html.part").exists()


def test_members_are_named_by_client_and_host_with_their_whole_id_as_a_tooltip(tmp_path: Path, analysis_tables: ModuleType) -> None:
    """A minus before an id would read as a part of it, in Markdown too; the words beside it say what happened."""
    start = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
    ids = ("-ops--3-06add32a-1f0e-4b5c-9d3e-2a1b3c4d5e6f", "bpYzItiLSWCvU-zeh8fc7A", "T5pi+ckoRM/1WOqvhSjhtQ")
    diff = f"-{ids[0]} expired; +{ids[1]} joined; -{ids[2]} left"
    rebalance = {"group_id": "g", "event": "rebalance", "time": start, "reason": "a member joined", "diff": diff}
    rows = [
        {"group_id": "g", "event": "join", "member_id": ids[1], "client_id": "<b>ng-1", "client_address": "10.0.0.7"},
        *({**rebalance, "members_before": number, "members_after": 2} for number in (0, 1)),
    ]
    out = analysis_tables.write_tables(tmp_path / "out", {"clients": [], "group_events": rows})
    page = Document(write_page(out))
    named = "-ops--3 (06add32a…) expired; <b>ng-1 at 10.0.0.7 (bpYzItiL…) joined; T5pi+cko… left"
    assert named in page.text
    assert [title for title in page.attributes("title") if title in ids] == [*ids] * 3
    assert named in markdown(read_report(AnalysisFolder(out)))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("-a-b left; a-b wants x instead of y; +c joined", "a-b left; a-b wants x instead of y; c joined"),
        ("-a wants x instead of y; +-c joined", "-a wants x instead of y; -c joined"),
        ("9 joined; same members", "9 joined; same members"),
    ],
)
def test_signs_go_only_where_words_say_the_same(text: str, named: str) -> None:
    assert "".join(part for part, _ in named_members(text, {})) == named
