"""What a user can get wrong ends in one clear sentence and a status, never in a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from kwire.cli.entry import Commands, commands
from kwire.errors import InputError

CAPTURES = Path(__file__).parents[2] / "captures" / "data"
SEED = str(CAPTURES / "seed.pcap.gz")


def run(*arguments: str, data: bytes | None = None) -> Result:
    return CliRunner().invoke(commands, list(arguments), input=data)


def said(result: Result) -> str:
    """The one line that a fault may print."""
    assert isinstance(result.exception, SystemExit | None)
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("kwire: ")
    assert lines[0].endswith((".", "?"))
    return lines[0]


def test_a_closed_pipe_ends_as_the_signal_would() -> None:
    """128 + SIGPIPE (13), as a shell reports it of `cat FILE | head -1`."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "kwire", "inspect", SEED, "--json"]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("arguments", "clue"),
    [
        ("inspect notes.txt", "notes.txt is not a capture file"),
        ("analyze notes.txt --out out", "notes.txt is not a capture file"),
        ("inspect empty.pcap", "empty.pcap is empty"),
        ("analyze empty.pcap --out out", "empty.pcap is empty"),
        ("inspect gone.pcap", "gone.pcap does not exist"),
        ("analyze gone.pcap --out out", "gone.pcap does not exist"),
        ("decode gone.pcap", "gone.pcap does not exist"),
        ("analyze none*.pcap --out out", "no file matches"),
        ("analyze SEED --out folder", "folder exists already"),
        ("analyze SEED --out notes.txt", "is a file, not a folder"),
        ("analyze SEED --out foreign --overwrite", "does not hold an analysis"),
        # below a file there can be no folder, whoever asks: root may write everywhere else
        ("analyze SEED --out notes.txt/out", "cannot be written: Not a directory"),
        ("analyze SEED --out out --to 9.9", "unknown Kafka release 9.9"),
        ("analyze SEED --out out --group-files moon", "invalid rule moon for file groups; choose"),
        ("analyze SEED --out out --endpoint ftp://host", "the endpoint ftp://host is invalid; expected a URL"),
        ("trim SEED s3://bucket/x.pcap", "trimmed captures are written to disks only"),
        ("trim SEED out --group-files overlap", "overlapping captures are trimmed one by one"),
        ("report folder", "holds no tables of an analysis"),
    ],
)
def test_faults_of_the_input(arguments: str, clue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("These are not the packets you are looking for, whatever their name says.")
    Path("empty.pcap").touch()
    Path("folder").mkdir()
    Path("foreign").mkdir()
    Path("foreign/notes.txt").touch()
    result = run(*arguments.replace("SEED", SEED).split())
    assert result.exit_code == 1
    assert clue in said(result)
    assert sorted(str(path) for path in Path().rglob("*")) == ["empty.pcap", "folder", "foreign", "foreign/notes.txt", "notes.txt"]


@pytest.mark.parametrize("source", ["notes.txt", "-"])
def test_a_text_that_is_no_log(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("time,client\n1,2\n")
    result = run("inspect", source, data=b"time,client\n1,2\n")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("command", [("inspect", "{}"), ("decode", "{}"), ("diff", "{}", "{}"), ("report", "{}"), ("trim", "{}", "x.pcap")])
def test_a_uri_with_a_password_is_refused_and_not_said_again(command: tuple[str, ...]) -> None:
    result = run(*(part.format("s3://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI@bucket/x") for part in command), "--region", "us-east-1")
    assert result.exit_code == 1
    assert "a s3:// URI holds a password" in said(result)
    assert "wJalr" not in result.stderr


def test_options_that_make_no_sense() -> None:
    for arguments, clue in (
        (["inspect", SEED, "--since", "yesterday"], "is not a time"),
        (["inspect", SEED, "--table", "captures", "--client-id", "x"], "have no column client_id"),
        (["inspect", SEED, "--table", "moons"], "'moons' is not one of"),
        (["decode", "--response", "-"], "give --api-key and --api-version"),
        (["decode", "--api-key", "3", "-"], "go with --response"),
        (["analyze", SEED], "Missing option '--out'"),
        (["inspect", SEED, "--port", "0"], "1<=x<=65535"),
        (["orbit"], "No such command"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert clue in result.stderr


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    result = run("analyze", SEED, "--out", str(tmp_path / "out"), "--engine", "spark")
    assert result.exit_code == 1
    assert "pip install 'kwire[spark]'" in said(result)
    assert not (tmp_path / "out").exists()


def test_a_missing_page_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith("kwire.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("report", str(tmp_path))
    assert result.exit_code == 1
    assert "pip install 'kwire[report]'" in said(result)


@pytest.mark.parametrize(
    ("fault", "status", "clue"),
    [
        (KeyboardInterrupt(), 130, ""),
        (InputError("one\x1b[31m thing\nis wrong"), 1, "kwire: one\\x1b[31m thing is wrong.\n"),
        (OSError(28, "No space left on device", "/x/y"), 1, "kwire: /x/y: No space left on device.\n"),
        (MemoryError(), 1, "kwire: There is not enough memory.\n"),
    ],
)
def test_faults_of_a_command(fault: BaseException, status: int, clue: str) -> None:
    group = Commands("kwire")

    @group.command("go")
    def go() -> None:
        raise fault

    assert isinstance(go, click.Command)
    result = CliRunner().invoke(group, ["go"])
    assert result.exit_code == status
    assert result.stderr.strip("\n") == clue.strip("\n")


def test_a_reader_that_goes_away_is_no_fault() -> None:
    command = f"{sys.executable} -m kwire catalog tags --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_every_command_has_help_with_an_example() -> None:
    def walk(command: click.Command, path: list[str]) -> None:
        result = run(*path, "--help")
        assert result.exit_code == 0
        assert "Example" in result.stdout, path
        assert "kwire " in result.stdout.partition("Example")[2]
        if isinstance(command, click.Group):
            for name, below in command.commands.items():
                walk(below, [*path, name])

    walk(commands, [])


def test_help_costs_no_heavy_imports() -> None:
    code = (
        "import sys; from kwire.cli import main; sys.argv = ['kwire', '--help']; status = main(); "
        "heavy = {'numpy', 'pyarrow', 'pyspark', 'rich', 'jinja2', 'kwire.codec'} & set(sys.modules); sys.exit(f'{status} {heavy}')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == "0 set()\n"
