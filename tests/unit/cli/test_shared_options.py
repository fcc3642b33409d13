"""Options that every command has: `-q`, `-v`, `--color`, `--config`, `--help-all`; and completion."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from kwire.cli.entry import commands
from kwire.cli.shared_options import RARE

SEED = str(Path(__file__).parents[2] / "captures" / "data" / "seed.pcap.gz")


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(commands, list(arguments), env=environment)


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        yield path
        return
    for name, each in command.commands.items():
        yield from leaves(each, (*path, name))


@pytest.mark.parametrize("path", list(leaves(commands)), ids=" ".join)
def test_help_of_every_command(path: tuple[str, ...]) -> None:
    """`--help` has no rare option, `--help-all` has all, and a later `--help` is short again."""
    for option, shows_rare in (("--help", False), ("--help-all", True), ("-h", False)):
        shown = run(*path, option)
        assert shown.exit_code == 0
        assert "--quiet" in shown.stdout
        if path == ("analyze",):
            assert {name for name in RARE if name in shown.stdout} == ({*RARE} if shows_rare else set())
            assert ("Object stores:" in shown.stdout) is shows_rare


def test_commands_are_grouped_by_task() -> None:
    """Each command is in one group, under the task that a reader has."""
    shown = run("--help").stdout
    groups = {
        head: re.findall(r"^  (\w+)  ", lines, re.MULTILINE) for head, lines in re.findall(r"^(\w+):\n((?:  .*\n?)+)", shown, re.MULTILINE)
    }
    assert groups.pop("Options") == []
    assert sorted(name for names in groups.values() for name in names) == sorted(commands.commands)
    assert "analyze" in groups["Report"]
    assert "trim" in groups["Capture"]
    assert "catalog" in groups["Protocol"]
    assert "proxy" in groups["Brokers"]


def test_options_from_a_file(tmp_path: Path) -> None:
    """A table for each command; the command line goes before it."""
    file = tmp_path / "kwire.toml"
    file.write_text('[inspect]\ntable = "connections"\nport = [20192]\njson = true\n\n[catalog.list]\nrelease = "4.1"\n')
    by_option, by_variable = run("inspect", SEED, "--config", str(file)), run("inspect", SEED, KWIRE_CONFIG=str(file))
    assert by_option.exit_code == 0, by_option.stderr
    assert '"client_software' not in by_option.stdout
    assert by_option.stdout.startswith('{"')
    assert '"request_frames"' in by_option.stdout
    assert by_variable.stdout == by_option.stdout
    assert run("--config", str(file), "inspect", SEED).stdout == by_option.stdout
    assert '"request_frames"' not in run("inspect", SEED, "--config", str(file), "--table", "requests").stdout
    assert "accepted by 4.1" in run("catalog", "list", "--config", str(file)).stdout


@pytest.mark.parametrize(
    ("text", "clue"),
    [
        ("[inspekt]", "there is no command 'inspekt'; choose from analyze, "),
        ("[inspect]\nprot = 1", "[inspect] has no option 'prot'; choose from address, "),
        ("[trim]\ntls-key = 'x'", "[trim] has no option 'tls-key'"),  # the command that runs is another
        ("[inspect]\ntable = ['a', 'b']", "table of [inspect] takes one value, not a list"),
        ("[inspect]\njson = 'yes'", "json of [inspect] is true or false, not 'yes'"),
        ("[inspect]\ntable = 'moon'", "'moon' is not one of"),
        ("[inspect", "is not valid TOML"),
    ],
)
def test_a_file_with_mistakes(text: str, clue: str, tmp_path: Path) -> None:
    (tmp_path / "kwire.toml").write_text(text)
    done = run("inspect", SEED, "--config", str(tmp_path / "kwire.toml"))
    assert done.exit_code == 2
    assert clue in " ".join(done.stderr.split())


def test_no_file_is_read_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Captures of other people may lie in the current folder."""
    (tmp_path / "kwire.toml").write_text("[inspect]\nprot = 1")
    monkeypatch.chdir(tmp_path)
    assert run("inspect", SEED).exit_code == 0


def test_quiet_and_verbose(tmp_path: Path) -> None:
    (tmp_path / "notes.pcap").write_text("These are not packets.")
    usual = run("analyze", SEED, str(tmp_path / "notes.pcap"), "--out", str(tmp_path / "a"))
    quiet = run("analyze", SEED, str(tmp_path / "notes.pcap"), "--out", str(tmp_path / "b"), "-q")
    verbose = run("analyze", "-v", SEED, "--out", str(tmp_path / "c"))
    assert "left out: " in usual.stderr
    assert "engine" not in usual.stderr
    assert (quiet.stderr, quiet.exit_code) == ("", usual.exit_code)
    assert "using the local engine" in verbose.stderr


@pytest.mark.parametrize(
    ("options", "environment", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        ((), {"FORCE_COLOR": "1", "TERM": "xterm"}, True),
    ],
)
def test_color(options: tuple[str, ...], environment: dict[str, str], colored: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kwire", "catalog", "show", "ApiVersions", *options],
        env={**os.environ, **environment}, capture_output=True, check=True, text=True,
    )  # fmt: skip
    assert ("\x1b[" in done.stdout) is colored


def test_a_warning_does_not_tear_the_progress_bar(tmp_path: Path) -> None:
    """On a real terminal the sentence has a line of its own."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "kwire", "analyze", "-v", SEED, "--out", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    ):  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 4096):
                shown += more
        except OSError:  # Linux: the other end is closed
            pass
    os.close(ours)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()))
    assert any("Looking for captures" in line for line in lines)
    assert any(re.fullmatch(r"kwire: 16\.6 kB of captures: using the local engine; --engine spark uses Spark\.", line) for line in lines)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script(shell: str) -> None:
    assert "_KWIRE_COMPLETE" in run("completion", shell).stdout


@pytest.mark.parametrize(
    ("before", "text", "found"),
    [
        (["analyze", "--to"], "4.1", "4.1.0"),
        (["inspect", "--table"], "conn", "connections"),
        (["inspect", "--table", "connections", "--columns"], "client_id,requ", "client_id,request_frames"),
        (["catalog", "show"], "meta", "Metadata"),
        (["catalog", "diff", "3.9"], "4.", "4.0"),
        (["decode", "--dialect"], "kip-13", "kip-1313"),
        (["proxy", "--rehearse"], "4.", "4.3"),
    ],
)
def test_values_are_completed(before: list[str], text: str, found: str) -> None:
    names = [each.value for each in ShellComplete(commands, {}, "kwire", "_KWIRE_COMPLETE").get_completions(before, text)]
    assert found in names
    assert all(name.lower().startswith(text) for name in names)
