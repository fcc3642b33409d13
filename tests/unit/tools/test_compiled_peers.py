"""Decoders in other languages beside kwire: what their processes are given and answer, and what is said of one that cannot be built."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
# a decoder that counts the first byte of each message
PROGRAM = """
import sys
work, file, repeats = sys.argv[1:]
data, firsts = open(file, "rb").read(), []
while data:
    size = int.from_bytes(data[:4], "big")
    firsts.append(data[4])
    data = data[4 + size :]
print("ready", sum(firsts), flush=True)
for line in sys.stdin:
    print(len(firsts) * int(repeats), 12.5, flush=True)
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    for folder in (BENCHMARKS, BENCHMARKS / "compiled"):
        monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module


def test_a_process_is_given_messages_and_answers_rounds(module: Any, tmp_path: Path) -> None:
    process = module("decoder_process").DecoderProcess([sys.executable, "-c", PROGRAM], "headers", [b"\x03abc", b"\x04"], tmp_path, 5)
    assert (tmp_path / "headers.bin").read_bytes() == b"\0\0\0\4\x03abc\0\0\0\1\x04"
    assert (process.first, process.run(), process.nanoseconds()) == (7, 10, 12.5)
    process.close()
    assert process.process.returncode == 0


def test_a_process_that_ends_is_an_error_with_its_words(module: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no such work: headers"):
        module("decoder_process").DecoderProcess(
            [sys.executable, "-c", "raise SystemExit('no such work: headers')"], "headers", [], tmp_path, 1
        )


@pytest.mark.parametrize(("peer", "missing"), [("Java", "java"), ("Go", "go"), ("Rust", "cargo")])
def test_a_peer_whose_language_is_not_here_is_named(
    module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, peer: str, missing: str
) -> None:
    programs = module("programs")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(programs.Unbuilt, match=f"^{missing} is not on this machine$"):
        programs.BUILDS[peer]()


def test_a_build_that_fails_says_why(module: Any) -> None:
    programs = module("programs")
    with pytest.raises(programs.Unbuilt, match="failed: no network"):
        programs.said([sys.executable, "-c", "raise SystemExit('no network')"])
