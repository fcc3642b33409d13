"""`kwire analyze` and `kwire demo` with the local engine: what they say, what they exit with, what they read."""

from __future__ import annotations

import gzip
import json
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from kwire.cli import demo, report_options, standard_input
from kwire.cli.entry import commands
from kwire.cli.exit_status import CLIENTS_BREAK, INCOMPLETE_INPUT, THIN_EVIDENCE
from kwire.report import render_report

ROOT = Path(__file__).parents[3]
SAMPLE = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
CAPTURES = ROOT / "tests" / "captures" / "data"
SEED = str(CAPTURES / "seed.pcap.gz")


def run(*arguments: str, data: bytes | None = None) -> Result:
    return CliRunner().invoke(commands, list(arguments), input=data)


@pytest.fixture(scope="module")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The sample capture, analyzed into every form."""
    out = tmp_path_factory.mktemp("analyze") / "out"
    forms = [word for form in report_options.FORMS for word in ("--format", form)]
    return out, run("analyze", SAMPLE, "--out", str(out), *forms)


def test_the_answer_comes_first_and_the_report_last(analyzed: tuple[Path, Result]) -> None:
    out, result = analyzed
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "✕ 12 of 27 applications break on Kafka 4.0 (brokers run 3.9)."
    assert lines[1].startswith("  Confidence: low (52 s captured; ")
    files = ["report.html", "report.md", "report.json", "report.csv", "report.sarif", "report.junit.xml", "report.prom"]
    assert lines[-len(files) :] == [f"Report: {out}/{name}" for name in files]
    assert all((out / name).exists() for name in files)


def test_the_engine_is_named_only_when_asked(analyzed: tuple[Path, Result], tmp_path: Path) -> None:
    assert analyzed[1].stderr == ""
    said = run("analyze", SEED, "--out", str(tmp_path / "out"), "--verbose")
    assert said.stderr == "kwire: 16.6 kB of captures: using the local engine; --engine spark uses Spark.\n"
    asked = run("analyze", SEED, "--out", str(tmp_path / "asked"), "--engine", "local", "-v")
    assert asked.stderr == ""  # who asks for it knows


def test_sarif_has_a_result_for_each_client_that_breaks(analyzed: tuple[Path, Result]) -> None:
    """SARIF 2.1.0: version, runs, tool.driver.name and message.text are what it requires (OASIS, sections 3.13 to 3.27)."""
    document = json.loads((analyzed[0] / "report.sarif").read_text())
    (only,) = document["runs"]
    rules = {rule["id"] for rule in only["tool"]["driver"]["rules"]}
    assert (document["version"], only["tool"]["driver"]["name"]) == ("2.1.0", "kwire")
    assert {result["ruleId"] for result in only["results"]} <= rules
    assert sum(result["level"] == "error" for result in only["results"]) == 12
    text = next(result["message"]["text"] for result in only["results"] if "erp-bridge" in result["message"]["text"])
    assert "breaks on Kafka 4.0. Upgrade kafka-clients to 0.11.0.2 or later" in text


def test_junit_has_a_case_for_each_application(analyzed: tuple[Path, Result]) -> None:
    suites = ElementTree.fromstring((analyzed[0] / "report.junit.xml").read_text())
    cases = suites.findall("testsuite/testcase")
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("27", "12", "0")
    assert (len(cases), len(suites.findall("testsuite/testcase/failure"))) == (27, 12)
    (erp,) = [case for case in cases if case.get("name") == "erp-bridge"]
    failure = erp.find("failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("breaks on Kafka 4.0: Upgrade kafka-clients to 0.11.0.2 or later")


@pytest.mark.parametrize(("fail_on", "status"), [(None, 0), ("breaks", CLIENTS_BREAK), ("unknown", CLIENTS_BREAK)])
def test_a_pipeline_fails_on_what_it_names(analyzed: tuple[Path, Result], fail_on: str | None, status: int) -> None:
    options = [] if fail_on is None else ["--fail-on", fail_on]
    assert run("report", str(analyzed[0]), "--json", *options).exit_code == status


def test_nothing_breaks_on_the_version_that_runs(tmp_path: Path) -> None:
    result = run("analyze", SAMPLE, "--out", str(tmp_path / "out"), "--to", "3.9.2", "--fail-on", "breaks")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == "✓ None of 27 applications break up to Kafka 3.9 (brokers run 3.9)."


def test_a_patch_that_is_not_the_newest_is_written_in_full(tmp_path: Path) -> None:
    """4.0.0 lacks JoinGroup v0-1, which 4.0.2 has: 4.0 would not say which is meant."""
    result = run("analyze", SAMPLE, "--out", str(tmp_path / "out"), "--to", "4.0.0")
    assert result.stdout.startswith("✕ 12 of 27 applications break on Kafka 4.0.0")


def test_standard_input_is_a_capture(tmp_path: Path) -> None:
    data = gzip.decompress(Path(SEED).read_bytes())
    result = run("analyze", "-", "--out", str(tmp_path / "piped"), "--json", data=data)
    assert result.exit_code == 0, result.stderr
    named = run("analyze", SEED, "--out", str(tmp_path / "named"), "--json")
    assert json.loads(result.stdout)["libraries"] == json.loads(named.stdout)["libraries"]


def test_standard_input_without_a_byte(tmp_path: Path) -> None:
    result = run("analyze", "-", "--out", str(tmp_path / "out"), data=b"")
    assert (result.exit_code, result.stderr) == (1, "kwire: standard input is empty.\n")


def test_a_pipe_without_a_byte_gets_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """tcpdump keeps packets back unless it is run with -U, so nothing comes for a long time."""
    import io
    import time

    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            time.sleep(0.3)
            return super().read1(size)

    class Stdin:
        buffer = Slow(gzip.decompress(Path(SEED).read_bytes()))

    monkeypatch.setattr(standard_input, "HINT_SECONDS", 0.05)
    said: list[str] = []
    monkeypatch.setattr(standard_input, "warn", said.append)
    monkeypatch.setattr("sys.stdin", Stdin)
    with standard_input.waiting_input() as stream:
        assert stream.read(4) == bytes.fromhex("d4c3b2a1")
    assert said == ["waiting for packets on standard input (tcpdump sends each packet at once only with -U)"]


def test_a_wrong_port_names_the_right_one(tmp_path: Path) -> None:
    result = run("analyze", SAMPLE, "--port", "9092", "--out", str(tmp_path / "out"))
    assert result.exit_code == THIN_EVIDENCE
    assert "no Kafka on port 9092; Kafka traffic was seen on 19092 (" in result.stderr


def test_a_file_that_ends_early_is_said_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "half.pcap").write_bytes(gzip.decompress(Path(SEED).read_bytes())[:-10])
    result = run("analyze", str(tmp_path / "half.pcap"), "--out", str(tmp_path / "out"), "--json")
    assert "half.pcap" in result.stderr
    assert "Not whole" in result.stderr


@pytest.mark.parametrize(
    ("options", "clue"),
    [
        (["--append", "--overwrite"], "give one of the two"),
        (["--engine", "local", "--master", "local[2]"], "--master is Spark's"),
        (["--no-report", "--open"], "--open needs a report; drop --no-report"),
        (["-"], "- is standard input, and goes without other captures"),
        (["--fail-on", "moon"], "is not one of"),
    ],
)
def test_options_that_exclude_each_other(options: list[str], clue: str, tmp_path: Path) -> None:
    result = run("analyze", SEED, *options, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert clue in result.stderr


def test_the_page_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    run("analyze", SEED, "--out", str(tmp_path / "out"), "--open")
    assert opened == [(tmp_path / "out" / "report.html").as_uri()]


def test_without_a_browser_the_link_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _link: False)
    result = run("analyze", SEED, "--out", str(tmp_path / "out"), "--open")
    assert f"No browser was found; open {(tmp_path / 'out' / 'report.html').as_uri()}" in result.stderr.splitlines()


def test_some_inputs_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "notes.pcap").write_text("These are not packets.")
    result = run("analyze", SEED, str(tmp_path / "notes.pcap"), "--out", str(tmp_path / "out"))
    assert result.exit_code == INCOMPLETE_INPUT
    assert "left out: " in result.stderr


def test_packets_of_a_link_type_that_is_not_read(tmp_path: Path) -> None:
    """A second interface that kwire does not read (USB) is counted, named and told by the status."""
    ticks = 1_795_256_000 * 10**6
    usb = struct.pack("<IIHHII", 1, 20, 189, 0, 0, 20)
    packet = struct.pack("<IIIIIII", 6, 36, 0, ticks >> 32, ticks & 0xFFFFFFFF, 4, 4) + bytes(4) + struct.pack("<I", 36)
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    path = tmp_path / "two.pcapng"
    path.write_bytes(gzip.decompress((CAPTURES / "groups.pcapng.gz").read_bytes()) + section + usb + packet * 3)
    result = run("analyze", str(path), "--out", str(tmp_path / "out"))
    assert result.exit_code == INCOMPLETE_INPUT
    named = "USB_LINUX (189): 3"
    assert named in result.stdout, result.stdout
    (capture,) = pq.read_table(tmp_path / "out" / "captures").to_pylist()
    assert (capture["packets_unread"], capture["link_types_unread"]) == (3, named)
    assert named in (tmp_path / "out" / "report.html").read_text()


def test_the_demo_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)
    for options in ((), ("--no-open",)):  # a second one replaces the first
        result = run("demo", *options)
        assert result.exit_code == 0, result.stderr
        answer, confidence, *_ = result.stdout.splitlines()
        assert answer == "✕ 3 of 20 applications break on Kafka 4.0 (brokers run 3.9)."
        assert opened == [(tmp_path / "kwire-demo" / "report" / "report.html").as_uri()]
        assert {path.name for path in (tmp_path / "kwire-demo").iterdir()} == {demo.SAMPLE, demo.OWNERS, "report"}
    assert {task["team"] for task in json.loads(render_report("kwire-demo/report", "json"))["tasks"]} >= {"Back office", "Edge"}
    # what README shows is what the demo says
    assert f"```text\n{answer}\n{confidence}\n```" in (ROOT / "README.md").read_text("utf-8")
    assert f"```text\n{answer}\n```" in (ROOT / "docs" / "tutorials" / "first-report.md").read_text("utf-8")
    assert answer.strip("✕ .").encode() in (ROOT / "docs" / "images" / "report.png").read_bytes()  # which tools/readme_picture.py writes


def test_the_demo_leaves_other_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    result = run("demo", "--no-open", "--out", str(tmp_path))
    assert (result.exit_code, "holds other files" in result.stderr) == (1, True)


def test_the_sample_in_the_package_is_the_example() -> None:
    from importlib import resources

    for name in (demo.SAMPLE, demo.OWNERS):
        assert resources.files("kwire.samples").joinpath(name).read_bytes() == (ROOT / "examples" / name).read_bytes()


def test_kwire_alone_shows_its_help() -> None:
    for arguments in ([], ["catalog"]):
        result = run(*arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith("Usage: kwire")
    assert run("-V").stdout == run("--version").stdout


def test_options_stand_in_groups() -> None:
    for command, groups in (("analyze", ("Input:", "Verdicts:", "Output:", "Engine:", "Privacy:", "Encryption:")),
                            ("inspect", ("Output:", "Filters:", "Input:", "Privacy:")), ("report", ("Report:", "Summary:")),
                            ("trim", ("Input:", "Output:", "Privacy:", "Encryption:")), ("diff", ("Output:", "Thresholds:")),
                            ("decode", ("Frames:", "Captures:", "Encryption:")),
                            ("proxy", ("One broker without a configuration file:", "Rehearse an upgrade:"))):  # fmt: skip
        lines = run(command, "--help").stdout.splitlines()
        assert [line for line in lines if line in groups] == list(groups), command
