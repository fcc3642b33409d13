"""A plugin of pytest under AddressSanitizer: each process that ran tests reports at its end what is allocated and nothing points to.

The check runs while the interpreter lives, so that all it still has is reachable and nothing of CPython has to be suppressed. The
sanitizer writes the report, to where `log_path` of ASAN_OPTIONS says; tools/sanitizer_reports.py finds what is kwire's in it.
"""

from __future__ import annotations

import ctypes
import gc


def pytest_sessionfinish() -> None:
    gc.collect()
    ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
