"""`--to` with a file or a broker, in each command that takes it; the brokers here are sockets with an answer by hand."""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trustme
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.report import FILES, render_report
from kwire.schema import releases

EXAMPLE = Path(__file__).parents[3] / "examples" / "three-brokers.pcap.gz"
# Produce 3 to 8, Fetch 4 to 11, Metadata 0 to 7, ApiVersions 0 to 2, behind correlation id and error
ANSWER = bytes.fromhex("0000 00000004 0000 0003 0008 0001 0004 000b 0003 0000 0007 0012 0000 0002")


@pytest.fixture
def broker() -> Iterator[str]:
    """A broker that knows ApiVersions up to v2, and answers later versions with error 35, in v0 (KIP-511)."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    peer, _ = listening.accept()
                except OSError:
                    return
                with peer:
                    while request := peer.recv(4096):
                        version, correlation = request[6:8], request[8:12]
                        throttle = bytes(4) if version in (b"\0\1", b"\0\2") else b""
                        body = correlation + (ANSWER if version <= b"\0\2" else b"\0\x23" + ANSWER[2:]) + throttle
                        peer.sendall(len(body).to_bytes(4, "big") + body)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_analyze_to_a_broker(broker: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(commands, ["analyze", str(EXAMPLE), "--out", str(out), "--to", broker])
    assert done.exit_code == 0, done.output
    assert f"{broker} answers as no Kafka release: the verdicts say what {broker} advertises, and it may accept less" in done.stderr
    assert f"Kafka {broker}" not in done.output
    page = render_report(str(out), "md")
    assert f"(from {broker}, 2" in page
    assert "from captured traffic and the answer of the target." in page
    assert "no broker was asked" not in (out / "report.html").read_text()
    assert "it is judged by the versions that it advertises, and may accept fewer" in page
    manifest = json.loads((out / "_manifest.json").read_text())
    assert manifest["target_releases"] == [broker]
    assert [each["name"] for each in manifest["targets"]] == [broker]


def test_no_targets_in_the_manifest_of_others(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(commands, ["analyze", str(EXAMPLE), "--out", str(out), "--to", "4.1", "--no-report"])
    assert done.exit_code == 0, done.output
    manifest = json.loads((out / "_manifest.json").read_text())
    assert manifest["target_releases"] == ["4.1"]
    assert not {"targets", "answered"} & manifest.keys()
    assert "from captured traffic alone." in render_report(str(out), "md")


def test_a_file_that_answers_as_a_release(tmp_path: Path) -> None:
    out, answer = tmp_path / "out", tmp_path / "answer.json"
    advertised = releases()["4.1.2"].advertised().items()
    answer.write_text(json.dumps({"apiKeys": [{"apiKey": key, "minVersion": v.lowest, "maxVersion": v.highest} for key, v in advertised]}))
    done = CliRunner().invoke(commands, ["analyze", str(EXAMPLE), "--out", str(out), "--to", str(answer), "--no-report"])
    assert done.exit_code == 0, done.output
    assert json.loads((out / "_manifest.json").read_text())["answered"] == ["4.1.2"]
    page = render_report(str(out), "md")
    assert "from captured traffic and the answer of the target." in page
    assert "| Kafka 4.1 |" in page


def test_a_broker_that_does_not_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    done = CliRunner().invoke(commands, ["analyze", str(EXAMPLE), "--out", str(tmp_path / "out"), "--to", address])
    assert (done.exit_code, done.stderr) == (1, f"kwire: cannot connect to {address}: Connection refused.\n")


NOT_PLAIN = "does not answer as a Kafka broker without TLS does; for TLS, give client properties with security.protocol=SSL"


@pytest.mark.parametrize(
    ("speaks_tls", "protocol", "sentence"),
    [
        (None, "PLAINTEXT", "{} did not answer ApiVersions v5 in 1 s"),
        (None, "SSL", "{} did not answer within 1 s as a port with TLS does"),
        (True, "PLAINTEXT", f"{{}} {NOT_PLAIN}"),
        (False, "SSL", "{} and kwire do not agree on TLS: [SSL: WRONG_VERSION_NUMBER] wrong version number"),
    ],
)
def test_a_port_that_is_silent_or_speaks_another_protocol(
    speaks_tls: bool | None, protocol: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.cli.target_option._SECONDS", 1.0)
    authority, config = trustme.CA(), tmp_path / "client.properties"
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    config.write_text(f"security.protocol={protocol}\nssl.truststore.type=PEM\nssl.truststore.location={tmp_path / 'ca.pem'}\n")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(server)

    def serve() -> None:
        peer, _ = listening.accept()
        with peer, suppress(OSError):
            if speaks_tls:
                server.wrap_socket(peer, server_side=True)
            elif speaks_tls is False:
                peer.sendall(bytes(20))
            peer.recv(4096)
            ended.wait(30)

    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=serve)
        thread.start()
        command = ["watch", "--to", address, "--command-config", str(config)]
        done = CliRunner().invoke(commands, command)
        ended.set()
        thread.join()
    assert (done.exit_code, done.stderr) == (1, f"kwire: {sentence.format(address)}.\n")


def test_what_is_no_target(tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["analyze", str(EXAMPLE), "--out", str(tmp_path / "out"), "--to", "warp"])
    assert done.exit_code == 1
    assert (
        "warp is not a Kafka release such as 4.1, a target of `kwire catalog targets`, a file with the answer of a broker, or HOST:PORT"
        in done.stderr
    )


def test_watch_a_broker(broker: str) -> None:
    done = CliRunner().invoke(commands, ["watch", "--to", broker], input=EXAMPLE.read_bytes())
    assert done.exit_code == 0, done.output
    assert f"clients break on {broker} so far" in done.stdout
    assert "InitProducerId v" in done.stdout
    assert "Metadata v" not in done.stdout  # who negotiates steps down to v7


def test_a_redacted_analysis_names_no_broker(broker: str, tmp_path: Path) -> None:
    target, out, key = tmp_path / "other.txt", tmp_path / "out", tmp_path / "secret.key"
    target.write_text((b"\0\0\0\1" + ANSWER).hex())
    key.write_bytes(b"0" * 32)
    command = ["analyze", str(EXAMPLE), "--out", str(out), "--redact", "--redact-key", str(key)]
    refused = CliRunner().invoke(commands, [*command, "--to", broker])
    assert (refused.exit_code, "--to HOST:PORT names one in each verdict" in refused.stderr) == (2, True)
    done = CliRunner().invoke(commands, [*command, "--to", str(target)])
    assert done.exit_code == 0, done.output
    assert [each["source"] for each in json.loads((out / "_manifest.json").read_text())["targets"]] == ["a file"]


FORMS = ("json", "csv", "md", "junit", "sarif", "prometheus", "html")
MADE = re.compile(r"1\.\d+e\+09|20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.\d]*|kwire report \S+/out\d( --to [\d.:]+)*")


def test_report_for_other_targets(broker: str, tmp_path: Path) -> None:
    """The report reads as that of an analysis for these targets, and the tables and history stay."""
    out, judged = tmp_path / "out1", tmp_path / "out2"
    targets = ["--to", broker, "--to", "4.0.0"]
    forms, capture = [f"--format={form}" for form in FORMS], str(EXAMPLE.with_name("upgrade-fleet.pcap.gz"))

    def run(*command: str) -> None:
        done = CliRunner().invoke(commands, command)
        assert done.exit_code == 0, done.output

    run("analyze", capture, "--out", str(out), "--to", "4.1")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file() and path.name != "report.html"}
    run("report", str(out), *targets, *forms)
    run("analyze", capture, "--out", str(judged), *targets, "--no-report")
    run("report", str(judged), *forms)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for form in FORMS:
        found, wanted = (MADE.sub("", (each / FILES[form]).read_text()) for each in (out, judged))
        assert found == wanted, form
    assert f"kwire report {out} --to {broker} --to 4.0.0" in (out / "report.json").read_text()


def test_diff_for_other_targets(broker: str, tmp_path: Path) -> None:
    """The verdicts are those of analyses for these targets; the two that are compared have no target in common."""
    targets = ["--to", broker, "--to", "4.0.0"]

    def run(*command: str) -> str:
        done = CliRunner().invoke(commands, command)
        assert done.exit_code == 0, done.output
        return done.stdout

    folders: dict[str, list[str]] = {"own": [], "asked": []}
    for name, own in (("three-brokers", "3.9.2"), ("upgrade-fleet", "4.1")):
        for kind, options in (("own", ["--to", own]), ("asked", targets)):
            folders[kind].append(str(tmp_path / f"{name}-{kind}"))
            run("analyze", str(EXAMPLE.with_name(f"{name}.pcap.gz")), "--out", folders[kind][-1], "--no-report", *options)
    wanted = json.loads(run("diff", *folders["asked"], "--json"))
    assert {each["target_release"] for each in wanted["verdicts"]} == {broker, "4.0.0"}
    assert json.loads(run("diff", *folders["own"], "--json", *targets)) == wanted
    assert json.loads(run("diff", *folders["own"], "--json"))["targets"] == ["3.9.2", "4.1.2"]
    refused = CliRunner().invoke(commands, ["diff", *folders["own"], "--to", "warp"])
    assert (refused.exit_code, "--to warp is not a Kafka release such as 4.1" in refused.stderr) == (1, True)


def test_report_of_a_redacted_analysis(tmp_path: Path) -> None:
    """Verdicts that it has need no sums; for others there are none."""
    out, key = tmp_path / "out", tmp_path / "secret.key"
    key.write_bytes(b"0" * 32)
    CliRunner().invoke(commands, ["analyze", str(EXAMPLE), "--out", str(out), "--redact", "--redact-key", str(key), "--no-report"])
    done = CliRunner().invoke(commands, ["report", str(out), "--to", "4.1", "--out", "-", "--format", "json"])
    assert (done.exit_code, json.loads(done.stdout)["upgrade"]["releases"]) == (0, ["4.1.2"])
    done = CliRunner().invoke(commands, ["report", str(out), "--to", "4.1.0"])
    assert (done.exit_code, done.stderr) == (
        1, f"kwire: {out} has no sums, because it is redacted; analyze its captures without --redact.\n"
    )  # fmt: skip


def test_report_from_a_release(tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["report", str(tmp_path), "--from", "3.9"])
    assert (done.exit_code, "--from goes with --to" in done.stderr) == (2, True)
