"""Earlier names of options and commands work as the present ones, and help shows the present ones only."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kwire.capture.files.series import is_overlap
from kwire.cli.entry import commands
from kwire.spark.source.options import source_options

SEED = str(Path(__file__).parents[2] / "captures" / "data" / "seed.pcap.gz")


def run(text: str, folder: Path, **environment: str) -> Result:
    return CliRunner().invoke(commands, [word.replace("SEED", SEED).replace("DIR", str(folder)) for word in text.split()], env=environment)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("analyze SEED --out DIR/out --series wrong", "analyze SEED --out DIR/out --group-files wrong"),
        ("analyze SEED --out DIR/out --target-release 9.9", "analyze SEED --out DIR/out --to 9.9"),
        ("analyze SEED --out DIR/out --broker-release 9.9", "analyze SEED --out DIR/out --from 9.9"),
        ("watch --target-release 9.9", "watch --to 9.9"),
        ("trim SEED DIR/x.pcap --series points", "trim SEED DIR/x.pcap --group-files overlap"),
        ("trim SEED DIR/x.pcap --redact --key DIR/none", "trim SEED DIR/x.pcap --redact --redact-key DIR/none"),
        ("inspect SEED --redact --key DIR/none", "inspect SEED --redact --redact-key DIR/none"),
        ("telemetry show DIR/none", "broker telemetry show DIR/none"),
        ("telemetry --list", "broker telemetry --list"),
    ],
)
def test_old_names_of_commands_and_options(old: str, new: str, tmp_path: Path) -> None:
    """Both fail for the same value with the same sentence, so both reach the same parameter."""
    before, after = run(old, tmp_path), run(new, tmp_path)
    assert before.exit_code == after.exit_code != 0
    assert before.stderr == after.stderr
    assert "No such option" not in after.stderr
    assert not [name for name in ("--series", "--target-release", "--broker-release", "--key ") if name in after.stderr]


@pytest.mark.parametrize("command", ["analyze", "trim", "inspect", "watch", ""])
def test_help_has_present_names_only(command: str, tmp_path: Path) -> None:
    shown = run(f"{command} --help-all" if command else "--help", tmp_path)
    assert shown.exit_code == 0
    for old in ("--series", "--target-release", "--broker-release", "--key ", "\n  telemetry ", "capture point"):
        assert old not in shown.stdout


def test_old_names_in_a_file_of_defaults(tmp_path: Path) -> None:
    (tmp_path / "kwire.toml").write_text('[analyze]\nseries = "wrong"\n')
    found = run("analyze SEED --out DIR/out", tmp_path, KWIRE_CONFIG=str(tmp_path / "kwire.toml"))
    assert "invalid rule wrong for file groups" in found.stderr


def test_old_names_of_rules_and_options_in_spark() -> None:
    assert all(map(is_overlap, ("overlap", "points", "overlap:(.)", "points:(.)")))
    assert not any(map(is_overlap, ("name", "match:points")))
    old, new = {"series": "folder", "seriesEndsAfter": "5s"}, {"groupFiles": "folder", "groupEndsAfter": "5s"}
    assert source_options({"path": "a", **old}) == source_options({"path": "a", **new}) != source_options({"path": "a"})
