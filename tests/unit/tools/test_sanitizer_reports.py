"""Which reports of `make asan` fail it: errors, and leaks of memory that kwire's own modules asked for."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from script_modules import module_of

ROOT = Path(__file__).resolve().parents[3]
RULE = "=" * 65
OF_PYTHON = """\
Direct leak of 264 byte(s) in 1 object(s) allocated from:
    #0 0x7f8ddfeb89cf in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x7f8ddf6bcd74 in gc_alloc Modules/gcmodule.c:2283
    #2 0x7f8ddf6bcd74 in _PyObject_GC_NewVar Modules/gcmodule.c:2318"""
OF_CRYPTOGRAPHY = """\
Direct leak of 320 byte(s) in 1 object(s) allocated from:
    #0 0x7ff224cb78d5 in __interceptor_realloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:85
    #1 0x7ff2123fa24e in finish_grow (/venv/lib/python3.11/site-packages/cryptography/hazmat/bindings/_rust.abi3.so+0x5fa24e)"""
OF_KWIRE = """\
Indirect leak of 48 byte(s) in 1 object(s) allocated from:
    #0 0x7f99e40b89cf in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x7f2cd1b84f31 in held_new /build/asan/temp.linux-x86_64-cpython-311/pyx/protocol/tracker.c:30888
    #2 0x7ff224cb78d5 in cfunction_call Objects/methodobject.c:542"""
OVERFLOW = """\
==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011
READ of size 1 at 0x602000000011 thread T0
    #0 0x55e47309b080 in _PyBytes_Repeat Objects/bytesobject.c:1

0x602000000011 is located 0 bytes to the right of 1-byte region"""

GAVE_UP = """\
==9145==LeakSanitizer has encountered a fatal error.
==9145==HINT: For debugging, try setting environment variable LSAN_OPTIONS=verbosity=1:log_threads=1
==9145==HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)"""


@pytest.fixture(scope="module")
def reports() -> ModuleType:
    return module_of(ROOT / "tools" / "sanitizer_reports.py")


def leaks(*blocks: str) -> str:
    head = f"\n{RULE}\n==9145==ERROR: LeakSanitizer: detected memory leaks\n"
    return "\n".join([head, *(f"{each}\n" for each in blocks), "SUMMARY: AddressSanitizer: 264 byte(s) leaked in 1 allocation(s).\n"])


def test_leaks_of_other_libraries_do_not_count(reports: ModuleType) -> None:
    assert reports.findings(leaks(OF_PYTHON, OF_CRYPTOGRAPHY)) == []


def test_leaks_of_kwire_count(reports: ModuleType) -> None:
    assert reports.findings(leaks(OF_PYTHON, OF_KWIRE, OF_CRYPTOGRAPHY)) == [OF_KWIRE]


def test_any_other_error_counts(reports: ModuleType) -> None:
    found = reports.findings(f"{RULE}\n{OVERFLOW}\n{leaks(OF_KWIRE)}")
    assert [each.splitlines()[0] for each in found] == [OVERFLOW.splitlines()[0], OF_KWIRE.splitlines()[0]]


def test_a_tool_that_gave_up_counts(reports: ModuleType) -> None:
    """LeakSanitizer reports its own failure without the word ERROR; nothing is known of leaks then."""
    failed = f"The tool itself failed: what this process leaks is not known.\n{GAVE_UP}"
    assert reports.findings(f"{GAVE_UP}\n") == [failed]
    assert reports.findings(f"{RULE}\n{OVERFLOW}\n{GAVE_UP}\n") == [OVERFLOW, failed]


def test_the_status(reports: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reports.main(str(tmp_path)) == 0
    (tmp_path / "address.9145").write_text(leaks(OF_PYTHON))
    assert reports.main(str(tmp_path)) == 0
    (tmp_path / "address.9146").write_text(leaks(OF_KWIRE))
    assert reports.main(str(tmp_path)) == 1
    assert capsys.readouterr().out == f"address.9146:\n{OF_KWIRE}\n"
