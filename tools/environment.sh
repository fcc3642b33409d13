#!/bin/sh
# Prepares .venv for one of: demo, test, bench, fuzz. Says what it does where it takes long; one clear sentence where something is missing.
set -eu
what=$1
venv=${VENV:-.venv}
say() { printf 'kwire: %s\n' "$*"; }
stop() { printf 'kwire: %s\n' "$*" >&2; exit 1; }

python=${PYTHON:-}
if [ -z "$python" ]; then
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then python=$candidate; break; fi
    done
fi
[ -n "$python" ] || stop "Python 3.10 or newer is needed and none was found on the PATH."
if [ ! -x "$venv/bin/python" ]; then
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        stop "$python has no venv module; install it (on Debian and Ubuntu: apt-get install python3-venv) and run make again."
    say "making a virtual environment in $venv with $("$python" -V)"
    "$python" -m venv "$venv"
fi
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }
# --group came with pip 25.1
"$venv/bin/python" -c 'import pip,sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (25, 1))' || pip install -q --upgrade 'pip>=25.1'

# The demo and the fuzzer run in processes of this machine, without Spark; the tests want all of it.
case $what in
demo) extras=cli ;;
fuzz) extras=cli,proxy,tls ;;
*) extras=all ;;
esac

if [ "$extras" = all ] && ! "$venv/bin/python" -c 'import pyspark' 2>/dev/null; then
    say "installing PySpark: 456 MB to download, then pip builds it; a few minutes, once"
    # in the foreground and by itself, so that a terminal shows how far it is
    pip install "$("$venv/bin/python" -c 'try: import tomllib
except ImportError: from pip._vendor import tomli as tomllib
extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
print(next(line for line in extras["spark"] if line.startswith("pyspark")))')"
fi
case $what in
demo) set -- ;;
test) set -- --group dev ;;
bench) set -- --group bench ;;
fuzz) set -- --group fuzz ;;
*) stop "tools/environment.sh takes demo, test, bench or fuzz, not $what." ;;
esac
# What tests drive beside Python: the page is opened in a real browser (Debian's packages carry browser and driver of one version), and a part
# of the catalog is rebuilt from Kafka's published jars, which Maven fetches. Clients in Go and JavaScript go through the proxy. `kwire capture`
# runs dumpcap. Benchmarks run against Wireshark's decoder and other proxies too.
missing=
quicker=
case $what in
test)
    command -v chromedriver >/dev/null 2>&1 || missing="chromium chromium-driver"
    { command -v mvn && command -v java; } >/dev/null 2>&1 || missing="$missing maven default-jre-headless"
    { command -v go && command -v npm; } >/dev/null 2>&1 || missing="$missing golang-go npm"
    command -v dumpcap >/dev/null 2>&1 || missing="$missing wireshark-common"
    command -v ccache >/dev/null 2>&1 || quicker=ccache
    ;;
bench)
    command -v chromedriver >/dev/null 2>&1 || missing="chromium chromium-driver"
    { command -v mvn && command -v javac; } >/dev/null 2>&1 || missing="$missing maven default-jdk-headless"
    command -v tshark >/dev/null 2>&1 || missing="$missing tshark"
    { command -v nginx && command -v haproxy; } >/dev/null 2>&1 || missing="$missing nginx libnginx-mod-stream haproxy"
    [ -e /usr/include/openssl/ssl.h ] || missing="$missing libssl-dev"
    ;;
esac
if [ -n "$missing$quicker" ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    say "installing beside Python: $missing $quicker"
    # shellcheck disable=SC2086 - one word a package
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing $quicker; } \
        >"$venv/apt.log" 2>&1 || say "this did not work (see $venv/apt.log); what needs them will say so"
elif [ -n "$missing" ]; then
    say "not on this machine: $missing; what needs them will say so"
fi

# test_build.py builds the same sources again, and takes from these folders what Cython and the compiler made of them; Debian's names of
# compilers that are ccache lie in a folder of their own. The environment's Cython makes both: its cache knows a source by the paths of all
# that it includes, and pip's isolated build would have Cython's own .pxd files elsewhere each time.
if [ "$what" = test ]; then
    export CYTHON_CACHE_DIR="$PWD/.cache/cython" CCACHE_DIR="$PWD/.cache/ccache"
    [ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH
    say "installing what the tests use"
    pip install -q "$@"
    set -- --no-build-isolation "$@"
fi
say "building and installing kwire"
log=$venv/install.log
if ! pip install -e ".[$extras]" "$@" >"$log" 2>&1; then
    reason=$(grep -o 'kwire: .*' "$log" | head -n 1 | sed 's/^kwire: //')
    [ -n "$reason" ] || { tail -n 20 "$log" >&2; stop "the installation failed; its whole output is in $log."; }
    [ "$what" = demo ] || stop "$reason"
    say "$reason"
    say "falling back to the pure-Python build: the same results, slower"
    KWIRE_PURE=1 pip install -q -e ".[$extras]" "$@"
fi

# Tests are found once here, for their byte code: each process of pytest would make its own.
if [ "$what" = test ]; then
    PYTHONDONTWRITEBYTECODE='' "$venv/bin/python" -m pytest --collect-only -qq tests >/dev/null || say "not all tests were found"
fi
say "ready: kwire runs its $("$venv/bin/python" -c 'import kwire; print(kwire.backend)') twin"
