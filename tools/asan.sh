#!/bin/sh
# Builds the compiled modules with AddressSanitizer and UBSan beside the normal ones, in build/asan, and runs the tests that feed them bytes.
# usage: tools/asan.sh [pytest arguments instead of the whole set]
set -eu
python=${VENV:-.venv}/bin/python
gcc=${CC:-gcc}
at=$PWD/build/asan
reports=$at/reports
runtime=$($gcc -print-file-name=libasan.so)
# pyarrow throws C++ exceptions; the sanitizer finds the thrower only when the C++ library is there before it is
cpp=$($gcc -print-file-name=libstdc++.so.6)
case $runtime$cpp in
/*/*) ;;
*) echo "kwire: $gcc has no AddressSanitizer runtime (libasan, libstdc++); install it, or set CC to a compiler that has it" >&2; exit 1 ;;
esac

cores=$(getconf _NPROCESSORS_ONLN)
compiler=$gcc
[ -n "${CC:-}" ] || ! command -v ccache >/dev/null || compiler="ccache $gcc"
# Python's files are copied again, so that none stays that the sources no longer have; modules are compiled again where a source has changed.
[ ! -d "$at/lib" ] || find "$at/lib" -type f ! -name '*.so' -delete
CC=$compiler CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
    LDFLAGS="-fsanitize=address,undefined" \
    "$python" setup.py -q build --build-base "$at" --build-lib "$at/lib" build_ext --parallel "$cores"

sockets() { for name; do printf 'tests/integration/test_proxy_%s.py\n' "$name"; done; }
[ $# -gt 0 ] || set -- tests/parity tests/vectors tests/unit/codec tests/unit/protocol tests/unit/proxy tests/unit/capture/tls \
    tests/unit/capture/request_logs tests/unit/capture/test_packets.py tests/unit/tables/test_text_columns.py \
    tests/unit/tables/test_fetch_columns.py tests/unit/spark/test_frame_structs.py tests/unit/spark/test_frame_rows.py \
    tests/unit/spark/test_frame_sums.py tests/unit/spark/test_record_functions.py \
    tests/captures/test_tls_captures.py tests/captures/test_trim_decrypt.py \
    $(sockets sockets tls tls_records key_updates faults sni every_message hostile_bytes taps)
rm -rf "$reports"
mkdir -p "$reports"
# Not the tests of how far the whole process grows: the sanitizer's own memory, red zones and what it keeps of freed blocks, would be weighed.
# PYTHONMALLOC: each object is an allocation of its own, so that a read behind one is seen. Leaks: tests/leak_check.py looks for them while
# Python lives, for at its end it does not free all it has. Reports of AddressSanitizer go to files, so that those of child processes are not
# lost; UBSan, which ends the process, writes to standard error alone, so pytest must not take that.
# AddressSanitizer ends a process that loads a library with RTLD_DEEPBIND, as pycryptodomex does unless it is told not to.
# The modules were built for $at/lib, which PYTHONPATH puts before the editable installation.
status=0
LD_PRELOAD="$runtime $cpp" PYTHONMALLOC=malloc PYTHONPATH="$at/lib:$PWD/tests" KWIRE_REQUIRE_NATIVE=1 \
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:log_path="$reports/address" LSAN_OPTIONS=leak_check_at_exit=0 \
    UBSAN_OPTIONS=print_stacktrace=1 PYCRYPTODOME_DISABLE_DEEPBIND=1 \
    "$python" -c '
import sys, kwire.codec.impl, kwire.codec._native.objects as built
assert "asan" in built.__file__, f"{built.__file__} is not the module with the sanitizers"
import pytest
sys.exit(pytest.main(["-q", "--whole", "-n", "'"$cores"'", "--dist", "loadgroup", "--capture=sys", "-p", "no:cacheprovider", "-p", "leak_check",
    "-m", "not weighs_process", "-k", "not real_client", *sys.argv[1:]]))' "$@" || status=$?
"$python" tools/sanitizer_reports.py "$reports" || status=1
exit $status
