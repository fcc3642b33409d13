"""A plugin of pytest under AddressSanitizer: each process that ran tests reports at its end what is allocated and nothing points to.

The check runs while the interpreter lives, so that all it still has is reachable and nothing of CPython has to be suppressed. The
sanitizer writes the report, to where `log_path` of ASAN_OPTIONS says.
"""

from __future__ import annotations

import ctypes
import gc

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    gc.collect()
    if ctypes.CDLL(None).__lsan_do_recoverable_leak_check():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
