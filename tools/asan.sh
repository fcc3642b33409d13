#!/bin/sh
# Builds the compiled modules with AddressSanitizer and UBSan beside the normal ones, in build/asan, and runs the tests that feed them bytes.
# usage: tools/asan.sh [pytest arguments instead of the whole set]
set -eu
python=${VENV:-.venv}/bin/python
compiler=${CC:-gcc}
at=$PWD/build/asan
runtime=$("$compiler" -print-file-name=libasan.so)
# pyarrow throws C++ exceptions; the sanitizer finds the thrower only when the C++ library is there before it is
cpp=$("$compiler" -print-file-name=libstdc++.so.6)
case $runtime$cpp in
/*/*) ;;
*) echo "kwire: $compiler has no AddressSanitizer runtime (libasan, libstdc++); install it, or set CC to a compiler that has it" >&2; exit 1 ;;
esac

CC=$compiler CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
    LDFLAGS="-fsanitize=address,undefined" \
    "$python" setup.py -q build --build-base "$at" --build-lib "$at/lib"

[ $# -gt 0 ] || set -- tests/parity tests/vectors $(ls tests/unit/test_codec_*.py tests/unit/test_records_*.py tests/unit/test_columns_*.py tests/unit/test_encode_*.py \
    tests/unit/test_splices.py tests/unit/test_topic_renaming.py tests/unit/test_broker_addresses.py \
    tests/unit/test_native_memory.py tests/unit/test_capture_packets.py tests/unit/test_tls_*.py tests/captures/test_tls_captures.py \
    tests/captures/test_trim_decrypt.py 2>/dev/null)
# Not the tests of how far the whole process grows: the sanitizer's own memory, red zones and what it keeps of freed blocks, would be weighed.
# PYTHONMALLOC: each object is an allocation of its own, so that a read behind one is seen. Leaks: Python itself never frees all it has.
# The modules were built for $at/lib, which PYTHONPATH puts before the editable installation.
LD_PRELOAD="$runtime $cpp" PYTHONMALLOC=malloc PYTHONPATH="$at/lib" KWIRE_REQUIRE_NATIVE=1 \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    "$python" -c '
import sys, kwire.codec.impl, kwire.codec._native.objects as built
assert "asan" in built.__file__, f"{built.__file__} is not the module with the sanitizers"
import pytest
sys.exit(pytest.main(["-q", "--whole", "-p", "no:cacheprovider", "-k", "not process_grows", *sys.argv[1:]]))' "$@"
